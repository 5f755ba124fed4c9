import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { createLog } from '../operations/log.ts';
import { liveClock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import { createQuarantine } from '../pipeline/quarantine.ts';
import { checkRedis } from '../redis/connection.ts';
import { keyAdvice } from '../redis/data-key.ts';
import { knownData } from '../redis/data-version.ts';
import { type Role, run } from './app.ts';
import { type HeldData, holdData } from './data-watch.ts';
import { checkAccount } from './engine-of.ts';
import { openRuntime, type Runtime, readText } from './runtime.ts';
import { version } from './version.ts';

export interface StartOptions {
  config?: string;
  role: Role;
  once: boolean;
  /** Redis may belong to another account of the service: this one takes it over. */
  adoptAccount?: boolean;
  data: string;
  connectors: readonly BuiltIn[];
}

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
  let data: HeldData | undefined;
  try {
    await refuseUnsafeRedis(runtime, log);
    data = await holdData(runtime.redis, knownData(version), log);
    await checkAccount(runtime, { adopt: options.adoptAccount ?? false });
    if (keyAdvice(runtime.config) !== undefined) log.warn({ why: keyAdvice(runtime.config) }, 'secretsKey');
    const app = await run(runtime, { role: options.role, clock: liveClock, log, quarantine });
    log.info(
      {
        role: options.role,
        ...(options.role !== 'worker' && { hooks: `${app.url}/hooks/<source>` }),
        health: `${app.url}/healthz`,
      },
      'started',
    );
    const code = options.once ? await drain(app.engine, log) : 0;
    const end = options.once ? undefined : await Promise.race([untilSignal(), app.lost, data.lost]);
    if (end instanceof Error) log.error({ why: end.message }, 'stopping');
    else if (end !== undefined) log.info({ signal: end }, 'stopping');
    await app.close();
    log.info({}, 'stopped');
    if (end instanceof Error) throw end;
    return code;
  } finally {
    quarantine.close();
    await data?.release();
    await runtime.close();
  }
}

/** An eviction policy other than noeviction throws journeys away when memory is full: nothing is started on it. */
async function refuseUnsafeRedis(runtime: Runtime, log: Log): Promise<void> {
  const { refuse, warnings } = await checkRedis(runtime.redis);
  if (refuse !== undefined) throw new CloseloopError(refuse, { kind: 'config' });
  for (const why of warnings) log.warn({ why }, 'Redis');
}

/** Everything that is due, the grades that have come, and their write-backs. 1 when a stage had to stop. */
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

async function untilSignal(): Promise<string> {
  return await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });
}
