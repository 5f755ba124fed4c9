import { setTimeout as sleep } from 'node:timers/promises';
import { liveClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { engineOf } from './engine-of.ts';
import { openRuntime, type RuntimeOptions } from './runtime.ts';

/** Collects the grades of every campaign now and writes them back, then ends. 1 when something had to stop. */
export async function collectOnce(options: RuntimeOptions): Promise<number> {
  const runtime = await openRuntime(options);
  const log = createLog({ pretty: process.stdout.isTTY ?? false, level: 'info' });
  const engine = engineOf(runtime, { clock: liveClock, log });
  try {
    await engine.work();
    await engine.collectNow();
    while ((await engine.busy()) > 0 && Object.keys(await engine.paused()).length === 0) await sleep(100);
    return Object.keys(await engine.paused()).length > 0 ? 1 : 0;
  } finally {
    await engine.close(25_000);
    await runtime.close();
  }
}
