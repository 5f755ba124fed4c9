import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connector } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { createIntake } from '../intake/intake.ts';
import { createLog } from '../operations/log.ts';
import { type Clock, liveClock } from '../pipeline/clock.ts';
import type { Engine, EngineOptions } from '../pipeline/engine.ts';
import { createQuarantine } from '../pipeline/quarantine.ts';
import { checkRedis } from '../redis/connection.ts';
import { keyAdvice } from '../redis/data-key.ts';
import { tagOf } from '../redis/keys.ts';
import { checkAccount, engineOf } from './engine-of.ts';
import { openRuntime, type Runtime, readText } from './runtime.ts';

export interface StartOptions {
  config?: string;
  role: 'intake' | 'worker' | 'all';
  once: boolean;
  /** Redis may belong to another account of the service: this one takes it over. */
  adoptAccount?: boolean;
  data: string;
  connectors: readonly Connector[];
}

/** A running job gets this long to end before it is handed back. */
const graceMs = 25_000;

export async function start(options: StartOptions): Promise<number> {
  if (options.config === undefined) {
    const { demo } = await import('../demo/demo.ts');
    return await demo({ once: options.once, connectors: options.connectors });
  }
  const log = createLog({ pretty: process.stdout.isTTY ?? false, level: 'info' });
  const configText = readText(options.config);
  const runtime = await openRuntime({ ...options, config: options.config, configText });
  const alone = ['quarantine', '--config', options.config, '--data', options.data];
  const quarantine = createQuarantine([process.execPath, process.argv[1] ?? '', ...alone], configText);
  try {
    await refuseUnsafeRedis(runtime, log);
    await checkAccount(runtime, { adopt: options.adoptAccount ?? false });
    if (keyAdvice(runtime.config) !== undefined) log.warn({ why: keyAdvice(runtime.config) }, 'secretsKey');
    const app = await run(runtime, { role: options.role, clock: liveClock, log, quarantine });
    log.info(
      { role: options.role, ...(app.url === undefined ? {} : { hooks: `${app.url}/hooks/<source>` }) },
      'started',
    );
    const code = options.once ? await drain(app.engine, log) : 0;
    if (!options.once) log.info({ signal: await untilSignal() }, 'stopping');
    await app.close();
    log.info({}, 'stopped');
    return code;
  } finally {
    quarantine.close();
    await runtime.close();
  }
}

/** An eviction policy other than noeviction throws journeys away when memory is full: nothing is started on it. */
async function refuseUnsafeRedis(runtime: Runtime, log: Log): Promise<void> {
  const { refuse, warnings } = await checkRedis(runtime.redis);
  if (refuse !== undefined) throw new CloseloopError(refuse, { kind: 'config' });
  for (const why of warnings) log.warn({ why }, 'Redis');
}

export interface App {
  engine: Engine;
  /** Where deliveries come in; `undefined` for a worker. */
  url: string | undefined;
  close(): Promise<void>;
}

/** The loop in this process: the intake, the worker, or both. */
export async function run(
  runtime: Runtime,
  options: { role: StartOptions['role']; clock: Clock; log: Log } & Pick<
    EngineOptions,
    'batchWindowMs' | 'sweepEveryMs' | 'quarantine' | 'vendorTime'
  >,
): Promise<App> {
  const { role, ...rest } = options;
  const { log } = rest;
  const { config, handle } = runtime;
  const engine = await engineOf(runtime, rest);
  let app: FastifyInstance | undefined;
  let url: string | undefined;
  if (role !== 'worker') {
    const { host, port, publicUrl, trustProxy } = config.http;
    await engine.openInlets();
    app = createIntake({
      lanes: engine.doors,
      store: (source, events, receivedAt) => engine.store(source, events, receivedAt),
      publicUrl,
      trustProxy,
      tryToStore: () => [...engine.lanes.keys()].map((name) => handle.tryToWrite(tagOf(name))),
      countRefused: (source, why, count) => void engine.countRefused(source, why, count),
      paused: () => engine.paused(),
      now: () => new Date(),
      log,
    });
    url = await listen(app, host, port);
  }
  if (role !== 'intake') await engine.work();
  return {
    engine,
    url,
    close: async () => {
      await app?.close();
      await engine.close(graceMs);
    },
  };
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string') throw cause;
    const why = code === 'EADDRINUSE' ? 'another process has it' : code;
    throw new CloseloopError(
      `Port ${port} of ${host} can't be listened on (${why}). Set http.port or http.host, or end the other process`,
      { kind: 'config' },
      { cause },
    );
  }
}

/** Everything that is due, the grades that have come, and their write-backs. 1 when a stage had to stop. */
async function drain(engine: Engine, log: Log): Promise<number> {
  for (const round of ['what is due', 'grades']) {
    if (round === 'grades') await engine.collectNow();
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

async function untilSignal(): Promise<string> {
  return await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });
}
