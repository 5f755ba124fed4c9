import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import type { HealthOptions } from '../intake/health.ts';
import { createMetrics } from '../operations/prometheus.ts';
import type { Clock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { measure } from '../pipeline/measure.ts';
import { sharedAccounts } from '../preflight/shared-accounts.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { answersWithin, probe, within } from '../redis/unavailable.ts';
import { startMails } from './mail-rounds.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';
import { openAdmin, openDashboard, openIntake } from './servers.ts';
import { version } from './version.ts';
import { type Watch, watchKey } from './watch.ts';
import { engineOf } from './with-engine.ts';

/** The work of a process: it takes deliveries, works on them, or does both. */
export type Role = 'intake' | 'worker' | 'all';

/** All running jobs together get this long to end, then they go back to the queue: service managers wait 35 s for the process. */
const graceMs = 25_000;
/** The same time while Redis is away, as then no job can end well. */
const awayGraceMs = 3_000;
/** How long a shutdown waits for Redis' answer. */
const answerMs = 1_000;

/** How long a shutdown waits for what is under way. */
export async function graceOf(redis: RedisClient): Promise<number> {
  return await answersWithin(redis, answerMs).then(
    () => graceMs,
    () => awayGraceMs,
  );
}
/** A scrape waits this long for Redis: Prometheus scrapes again, and must not be kept waiting. */
const measureMs = 1_500;

export interface App {
  /** The engine at work: another one after `reload`. */
  readonly engine: Engine;
  /** The address that takes deliveries, and answers /healthz and /readyz. In a worker it is `adminUrl`. */
  url: string;
  /** The address that answers /healthz, /readyz and /metrics. */
  adminUrl: string;
  /** The address of the page; undefined: `dashboard` is false. */
  dashboardUrl: string | undefined;
  /** Resolves when this process must end (watch.ts). */
  lost: Watch['lost'];
  /**
   * Takes up the runtime's configuration, which has changed. Jobs that are running end by the earlier one. Of `redis`, `http`, `admin`,
   * `dashboard` and `secretsKey` the process keeps what it started with.
   */
  reload(): Promise<void>;
  /** @param graceMs for what runs: `graceOf` */
  close(graceMs?: number): Promise<void>;
}

type RunOptions = { role: Role; clock: Clock; log: Log } & Pick<
  EngineOptions,
  'batchWindowMs' | 'sweepEveryMs' | 'jobsAtOnce' | 'vendorTime' | 'tracing'
>;

/** The loop in this process: the intake, the worker, or both. */
export async function run(runtime: Runtime, options: RunOptions): Promise<App> {
  const { role, ...rest } = options;
  const { log } = rest;
  const { config, handle } = runtime;
  for (const { problem, remedy } of sharedAccounts(config.sources)) log.warn({ why: problem, remedy }, 'sources');
  const key = await dataKeyOf(runtime);
  const namesOf = ({ sources }: Config) => sources.map(({ name }) => name);
  const metrics = createMetrics({
    version,
    role,
    sources: namesOf(config),
    measure: () => within(measureMs, measure(current.engine, handle.client)),
  });
  const watched = { ...rest, observer: metrics.observer };
  // A reload puts another engine here.
  const current = { engine: await engineOf(runtime, watched, { key, begins: true }) };
  for (const { problem, remedy } of await current.engine.absences()) log.warn({ why: problem, remedy }, 'sources');
  const health = healthOf(current, handle, role);
  const admin = await openAdmin(config, health, metrics);
  const page = {
    engine: () => current.engine,
    config: () => runtime.config,
    redis: handle.client,
    seal: key.seal,
    now: rest.clock.now,
    log,
  };
  const dashboard = await openDashboard(config.dashboard, page);
  const { tracing } = rest;
  const intake = role === 'worker' ? undefined : await openIntake(config, current, { health, metrics, log, tracing });
  if (role !== 'intake') await current.engine.work();
  const mails = role === 'intake' ? undefined : startMails(runtime, () => current.engine, { seal: key.seal, ...rest });
  const watch = watchKey(key, () => current.engine.noteSources(), runtime, log);
  return {
    get engine() {
      return current.engine;
    },
    url: intake?.url ?? admin.url,
    adminUrl: admin.url,
    dashboardUrl: dashboard ? dashboard.url : undefined,
    lost: watch.lost,
    reload: async () => {
      const next = await engineOf(runtime, watched, { key, begins: true });
      metrics.begin(namesOf(runtime.config));
      await begin(next, role);
      // Both engines work for a moment, as two processes would: no queue is without a worker, and nobody is asked twice.
      const before = current.engine;
      current.engine = next;
      await before.close(graceMs);
      if (role !== 'intake') await goOn(next, log);
    },
    close: async (forMs = graceMs) => {
      await watch.stop();
      await intake?.app.close();
      if (dashboard) await dashboard.app.close();
      await Promise.all([mails?.stop(forMs), current.engine.close(forMs)]);
      await admin.app.close();
    },
  };
}

function healthOf(current: { readonly engine: Engine }, handle: Runtime['handle'], role: Role): HealthOptions {
  // A worker has no connection for deliveries.
  const tryToWrite = role === 'worker' ? (tag: string) => probe(handle.client, tag) : handle.tryToWrite;
  return {
    tryToStore: () => [...current.engine.pipelines.values()].map(({ context }) => tryToWrite(tagOf(context.storedAs))),
    paused: () => current.engine.paused(),
    now: () => new Date(),
  };
}

/** Starts an engine while another engine may still work. */
async function begin(engine: Engine, role: Role): Promise<void> {
  try {
    if (role !== 'worker') await engine.openIngestion();
    if (role !== 'intake') await engine.work({ goesOn: false });
  } catch (error) {
    await engine.close(0);
    throw error;
  }
}

/** Called when the engine before has ended: until then its jobs stop for mistakes that are mended. */
async function goOn(engine: Engine, log: Log): Promise<void> {
  await engine
    .goOn()
    .catch((error: unknown) => log.warn({ why: messageOf(error) }, 'what is stopped is tried by the next sweep'));
}
