import { setImmediate as turn } from 'node:timers/promises';
import { connectors } from '../../../connectors/index.ts';
import type { Log } from '../../../core/ports.ts';
import { run } from '../../../worker/cli/app.ts';
import { loadConfig } from '../../../worker/config/config.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { connect } from '../../../worker/redis/connection.ts';
import { beforeStart, chanceFor, lab, Violation } from './lab.ts';
import { Order, type Report } from './protocol.ts';
import { configuration } from './sources.ts';

// The process under test: an intake with a source of each connector, on the Redis whose socket is the first argument; left
// out: a process that is only starting. It tries what needs no socket in itself, so that its memory and its loop carry
// both. Talks over IPC; ends with its parent.

const say = (report: Report): void => void process.send?.(report);
const nothing = () => undefined;
const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Takes deliveries; where. */
async function takeDeliveries(socket: string): Promise<string> {
  const config = loadConfig(configuration(), { env: {}, connectors });
  const handle = connect({ path: socket }, nothing);
  const runtime = { config, handle, redis: handle.client, close: () => handle.close() };
  const app = await run(runtime, {
    role: 'intake',
    clock: liveClock,
    // Said where the intake itself failed, which no sender may bring about.
    log: { ...log, error: (fields, message) => say({ fault: `${message} ${JSON.stringify(fields)}` }) },
  });
  return app.url ?? '';
}

const sliceMs = 5;

async function work({ name, seed, from, count }: Order): Promise<void> {
  const { attempt } = { ...lab, ...beforeStart }[name] ?? {};
  if (!attempt) throw new Error(`nothing is called ${name}`);
  const counts: Record<string, number> = {};
  const violations: Extract<Report, { name: string }>['violations'] = [];
  let slice = performance.now();
  for (let input = from; input < from + count; input++) {
    try {
      const outcome = await attempt(chanceFor(seed, name, input));
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    } catch (error) {
      const kind = error instanceof Violation ? error.kind : 'crash';
      violations.push({ input, kind, what: String(error instanceof Error ? error.stack : error).slice(0, 1_000) });
    }
    // The sockets get their turn: what is measured is how long one input holds them up.
    if (performance.now() - slice < sliceMs) continue;
    await turn();
    slice = performance.now();
  }
  // The most that the operating system ever saw, in kibibytes.
  say({ name, counts, violations, peakBytes: process.resourceUsage().maxRSS * 1024 });
}

process.on('message', (message) => void work(Order.parse(message)));
process.once('disconnect', () => process.exit(0));
const [, , socket] = process.argv;
say({ url: socket === undefined ? '' : await takeDeliveries(socket) });
