import type { FastifyInstance } from 'fastify';
import { CloseloopError } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { createIntake } from '../intake/intake.ts';
import type { Clock } from '../pipeline/clock.ts';
import type { Engine } from '../pipeline/engine.ts';
import type { EngineOptions } from '../pipeline/engine-options.ts';
import { sharedAccounts } from '../preflight/shared-accounts.ts';
import { tagOf } from '../redis/keys.ts';
import { engineOf } from './engine-of.ts';
import { type KeyWatch, watchKey } from './key-watch.ts';
import { dataKeyOf, type Runtime } from './runtime.ts';

/** What a process does: take deliveries, work on them, or both. */
export type Role = 'intake' | 'worker' | 'all';

/** A running job gets this long to end before it is handed back. */
const graceMs = 25_000;

export interface App {
  engine: Engine;
  /** Where deliveries come in; `undefined` for a worker. */
  url: string | undefined;
  /** Resolves when this process must end (key-watch.ts). */
  lost: KeyWatch['lost'];
  close(): Promise<void>;
}

/** The loop in this process: the intake, the worker, or both. */
export async function run(
  runtime: Runtime,
  options: { role: Role; clock: Clock; log: Log } & Pick<
    EngineOptions,
    'batchWindowMs' | 'sweepEveryMs' | 'quarantine' | 'vendorTime'
  >,
): Promise<App> {
  const { role, ...rest } = options;
  const { log } = rest;
  const { config, handle } = runtime;
  for (const { problem, remedy } of sharedAccounts(config.sources)) log.warn({ why: problem, remedy }, 'sources');
  const key = await dataKeyOf(runtime);
  const engine = await engineOf(runtime, rest, key);
  let app: FastifyInstance | undefined;
  let url: string | undefined;
  if (role !== 'worker') {
    const { host, port, publicUrl, trustProxy } = config.http;
    await engine.openInlets();
    app = createIntake({
      pipelines: engine.inlets.doors,
      store: (source, events, receivedAt) => engine.inlets.store(source, events, receivedAt),
      publicUrl,
      trustProxy,
      tryToStore: () => [...engine.pipelines.keys()].map((name) => handle.tryToWrite(tagOf(name))),
      countRefused: (source, why, count) => void engine.countRefused(source, why, count),
      paused: () => engine.paused(),
      now: () => new Date(),
      log,
    });
    url = await listen(app, host, port);
  }
  if (role !== 'intake') await engine.work();
  const watch = watchKey(key, runtime, log);
  return {
    engine,
    url,
    lost: watch.lost,
    close: async () => {
      await watch.stop();
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
