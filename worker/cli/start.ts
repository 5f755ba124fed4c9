import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { messageOf, refusal } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { fingerprintOf } from '../config/changes.ts';
import { testLines } from '../config/test-mode.ts';
import { knownData } from '../journey/migrations.ts';
import { createLog } from '../operations/log.ts';
import { openTracing } from '../operations/open-tracing.ts';
import { Heartbeat } from '../operations/processes.ts';
import { liveClock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import { Rounds } from '../pipeline/rounds.ts';
import { refuseUnsafeRedis } from '../redis/check-redis.ts';
import { keyAdvice } from '../redis/data-key.ts';
import { graceOf, type Role, run } from './app.ts';
import { Reloading } from './reloading.ts';
import { checkAccount, dataKeyOf, makeDataKey, openRuntime, type Runtime } from './runtime.ts';
import { dryRunSummary, sentenceOf } from './summary.ts';
import { version } from './version.ts';
import { type HeldData, holdData } from './watch.ts';

/** Real time. */
const heartbeatMs = 1_000;
/** How long a dry run that ends sums up what it did. Real time. */
const summaryMs = 5_000;

const dryRunMeans =
  'all is decided and remembered as in earnest, and nothing is sent or written, neither at the service nor at a vendor';

interface StartOptions {
  config?: string;
  /** The demo, also where there is a configuration. */
  demo?: boolean;
  role: Role;
  once: boolean;
  /** Takes over a Redis that belongs to another account of the service. */
  adoptAccount?: boolean;
  data: string;
  connectors: readonly BuiltIn[];
  /** Decides and remembers as in earnest, and sends nothing. */
  dryRun?: boolean;
}

export async function start(options: StartOptions): Promise<number> {
  if (options.config === undefined || options.demo) {
    if (options.dryRun) throw refusal('A dry run needs a configuration: --config.');
    const { demo } = await import('./demo.ts');
    return await demo({ once: options.once, connectors: options.connectors });
  }
  // First: a SIGHUP while the process starts must not end it.
  const onReload = options.once ? undefined : listenToReloads();
  const log = createLog({ pretty: process.stdout.isTTY ?? false, level: 'info' });
  const file = { ...options, config: options.config };
  const tracing = await openTracing(process.env, version);
  const runtime = await openRuntime(file, log);
  const reloading = new Reloading({ file, runtime, log });
  onReload?.(() => reloading.ask());
  for (const why of testLines(runtime.config)) log.warn({ why }, 'TEST');
  if (options.dryRun) log.warn({ why: dryRunMeans }, 'DRY RUN');
  let data: HeldData | undefined;
  try {
    await refuseUnsafeRedis(runtime.redis, (why) => log.warn({ why }, 'Redis'));
    const openSeal = async () => (await dataKeyOf(runtime)).seal;
    data = await holdData(runtime.redis, knownData(version, openSeal), log);
    await makeDataKey(runtime, log);
    await checkAccount(runtime, { adopt: options.adoptAccount ?? false });
    if (keyAdvice(runtime.config) !== undefined) log.warn({ why: keyAdvice(runtime.config) }, 'secretsKey');
    const app = await run(runtime, { role: options.role, clock: liveClock, log, tracing });
    log.info(
      {
        role: options.role,
        ...(app.dashboardUrl !== undefined && { dashboard: app.dashboardUrl }),
        ...(options.role !== 'worker' && { hooks: `${app.url}/hooks/<source>` }),
        health: `${app.adminUrl}/healthz`,
        metrics: `${app.adminUrl}/metrics`,
      },
      'started',
    );
    const code = options.once ? await drain(app.engine, log) : 0;
    const shown = showProcess(runtime, options.role, log);
    reloading.begin(app);
    const end = options.once ? undefined : await Promise.race([untilSignal(), app.lost, data.lost]);
    if (end instanceof Error) log.error({ why: end.message }, 'stopping');
    else if (end !== undefined) log.info({ signal: end }, 'stopping');
    const graceMs = await graceOf(runtime.redis);
    await reloading.stop(graceMs);
    await app.close(graceMs);
    if (options.dryRun) await endDryRun(app.engine, runtime, log);
    await shown.stop();
    log.info({}, 'stopped');
    if (end instanceof Error) throw end;
    return code;
  } finally {
    await reloading.stop(0);
    await data?.release();
    await runtime.close();
    await tracing?.close();
  }
}

/** Stores until when the dry run ran, and logs its summary. It gives the summary up if Redis is away, or if counting takes too long. */
async function endDryRun(engine: Engine, { redis }: Runtime, log: Log): Promise<void> {
  const printSummary = async () => {
    await engine.noteSources();
    const sources = [...engine.pipelines.values()].map(({ context, holds }) => ({ ...context, holds }));
    const summary = await dryRunSummary(sources, redis);
    log.info({ found: sentenceOf(summary), remedy: '"closeloop dry-run" tells more' }, 'DRY RUN');
  };
  const onError = (error: unknown) => log.warn({ why: messageOf(error) }, 'the dry run could not be summed up');
  await Promise.race([printSummary().catch(onError), sleep(summaryMs, undefined, { ref: false })]);
}

/** Does everything that is due, collects grades and writes them back. Returns 1 when a stage had to stop. */
async function drain(engine: Engine, log: Log): Promise<number> {
  for (const round of ['what is due', 'grades']) {
    if (round === 'grades') await engine.collecting.now();
    while ((await engine.busy()) > 0) {
      const paused = await engine.paused();
      if (Object.keys(paused).length > 0) {
        log.error({ paused }, 'not everything could be done');
        return 1;
      }
      await sleep(100);
    }
  }
  return 0;
}

/** Stores heartbeats, so that `status` shows this process on any machine. */
function showProcess(runtime: Runtime, role: Role, log: Log): { stop(): Promise<void> } {
  const heartbeat = new Heartbeat(runtime.redis, () => {
    const { written, dryRun } = runtime.config;
    return { role, version, configuration: fingerprintOf(written), dryRun };
  });
  const onError = (error: unknown): void => log.debug({ why: messageOf(error) }, 'the heartbeat could not be told');
  const rounds = new Rounds(() => heartbeat.report(), onError);
  rounds.start(heartbeatMs);
  return {
    stop: async () => {
      await rounds.stop(heartbeatMs);
      // Redis may be away: then the entry expires.
      await Promise.race([heartbeat.end().catch(onError), sleep(heartbeatMs, undefined, { ref: false })]);
    },
  };
}

/** Reloads the configuration at SIGHUP, also at one that came during the start. */
function listenToReloads() {
  let reload: (() => void) | undefined;
  let isAsked = false;
  process.on('SIGHUP', () => {
    isAsked = true;
    reload?.();
  });
  return (work: () => void): void => {
    reload = work;
    if (isAsked) work();
  };
}

/** Installed once everything has started: until then a signal ends the process at once. */
async function untilSignal(): Promise<string> {
  return await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}
