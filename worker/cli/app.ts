import type { FastifyInstance } from 'fastify';
import type { Log } from '../../core/ports.ts';
import type { Config } from '../config/config.ts';
import { createDashboard } from '../dashboard/dashboard.ts';
import type { DashboardOptions } from '../dashboard/options.ts';
import { createAdmin } from '../intake/admin.ts';
import type { HealthOptions } from '../intake/health.ts';
import { createIntake } from '../intake/intake.ts';
import { within } from '../intake/store-in-time.ts';
import { createMetrics, type Metrics } from '../operations/prometheus.ts';
import type { Clock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { measure } from '../pipeline/measure.ts';
import { sharedAccounts } from '../preflight/shared-accounts.ts';
import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { answersWithin, probe } from '../redis/unavailable.ts';
import { notListening } from './finish.ts';
import { startMails } from './mail-rounds.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';
import { version } from './version.ts';
import { type Watch, watchKey } from './watch.ts';
import { engineOf } from './with-engine.ts';

/** The work of a process: it takes deliveries, works on them, or does both. */
export type Role = 'intake' | 'worker' | 'all';

/** The ports of `admin` and of the page, if the configuration names none. */
const usualPorts = { admin: 8081, dashboard: 8082 };

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
   * Takes up the runtime's configuration, which has changed. Jobs that are running end by the earlier one. Of `redis`, `http`, `admin`, `dashboard`
   * and `secretsKey` the process keeps what it started with.
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
    measure: () => within(measureMs, measure(engine, handle.client)),
  });
  const watched = { ...rest, observer: metrics.observer };
  let engine = await engineOf(runtime, watched, { key, begins: true });
  for (const { problem, remedy } of await engine.absences()) log.warn({ why: problem, remedy }, 'sources');
  const health = healthOf(() => engine, handle, role);
  const admin = await openAdmin(config, health, metrics);
  const page = {
    engine: () => engine,
    config: () => runtime.config,
    redis: handle.client,
    seal: key.seal,
    now: rest.clock.now,
    log,
  };
  const dashboard = await openDashboard(config.dashboard, page);
  const { tracing } = rest;
  const intake =
    role === 'worker' ? undefined : await openIntake(config, () => engine, { health, metrics, log, tracing });
  if (role !== 'intake') await engine.work();
  const mails = role === 'intake' ? undefined : startMails(runtime, () => engine, { seal: key.seal, ...rest });
  const watch = watchKey(key, runtime, log);
  return {
    get engine() {
      return engine;
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
      const before = engine;
      engine = next;
      await before.close(graceMs);
    },
    close: async (forMs = graceMs) => {
      await watch.stop();
      await intake?.app.close();
      if (dashboard) await dashboard.app.close();
      await Promise.all([mails?.stop(forMs), engine.close(forMs)]);
      await admin.app.close();
    },
  };
}

function healthOf(engine: () => Engine, handle: Runtime['handle'], role: Role): HealthOptions {
  // A worker has no connection for deliveries.
  const tryToWrite = role === 'worker' ? (tag: string) => probe(handle.client, tag) : handle.tryToWrite;
  return {
    tryToStore: () => [...engine().pipelines.values()].map(({ context }) => tryToWrite(tagOf(context.storedAs))),
    paused: () => engine().paused(),
    now: () => new Date(),
  };
}

/** Starts an engine while another engine may still work. */
async function begin(engine: Engine, role: Role): Promise<void> {
  try {
    if (role !== 'worker') await engine.openIngestion();
    if (role !== 'intake') await engine.work();
  } catch (error) {
    await engine.close(0);
    throw error;
  }
}

interface Listening {
  app: FastifyInstance;
  url: string;
}

async function openIntake(
  { http }: Config,
  engine: () => Engine,
  { health, metrics, ...rest }: { health: HealthOptions; metrics: Metrics; log: Log } & Pick<EngineOptions, 'tracing'>,
): Promise<Listening> {
  const { host, port, publicUrl, trustProxy } = http;
  await engine().openIngestion();
  const app = createIntake({
    ...health,
    pipelines: { get: (source) => engine().ingestion.routes.get(source) },
    store: (source, events, receivedAt) => engine().ingestion.store(source, events, receivedAt),
    publicUrl,
    trustProxy,
    countRefused: (source, why, count) => void engine().countRefused(source, why, count),
    onAnswered: metrics.observer.delivery,
    ...rest,
  });
  return await listen(app, { host, port, setting: 'http' });
}

async function openAdmin({ admin }: Config, health: HealthOptions, { scrape }: Metrics): Promise<Listening> {
  const { host, tokens } = admin;
  return await openUsually('admin', admin, () => createAdmin({ ...health, host, tokens, scrape }));
}

async function openDashboard(
  atStart: Config['dashboard'],
  page: Omit<DashboardOptions, 'settings'>,
): Promise<Listening | false> {
  if (!atStart) return false;
  const settings = () => page.config().dashboard || atStart;
  return await openUsually('dashboard', atStart, () => createDashboard({ ...page, settings }));
}

/** Several processes may run on one machine: where the configuration chooses no port, any free port is taken. */
async function openUsually(
  setting: keyof typeof usualPorts,
  { host, port }: { host: string; port?: number | undefined },
  create: () => FastifyInstance,
): Promise<Listening> {
  if (port !== undefined) return await listen(create(), { host, port, setting });
  const app = create();
  try {
    return { app, url: await app.listen({ host, port: usualPorts[setting], backlog }) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return await listen(create(), { host, port: 0, setting });
  }
}

/**
 * How many connections the operating system holds for the process while it is busy, at most (Linux: net.core.somaxconn). A connection that
 * finds no place is tried again by its sender after a second, and then after three: a delivery would come too late.
 */
const backlog = 4_096;

async function listen(
  app: FastifyInstance,
  { host, port, setting }: { host: string; port: number; setting: 'http' | keyof typeof usualPorts },
): Promise<Listening> {
  try {
    return { app, url: await app.listen({ host, port, backlog }) };
  } catch (cause) {
    throw notListening(cause, { host, port }, `Set ${setting}.port or ${setting}.host, or end the other process`);
  }
}
