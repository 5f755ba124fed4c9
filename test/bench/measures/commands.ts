import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startFakes } from '../fakes.ts';
import { inTurns, type Measure, type Target } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { endedChildrenCpu, processUse } from '../machine.ts';
import { program, source, startProduct, startRedis } from '../product.ts';

const rounds = { full: 9, short: 1 };

interface Run {
  ms: number;
  cpuMs: number;
  /** The most memory it was seen with. Megabytes. */
  peakMb: number;
}

/** One process of Node, from its start to its end. @throws Error unless it ends well */
export const node = (...args: string[]): Promise<Run> => nodeEnding([0], args);

/** … with one of these codes. */
export async function nodeEnding(codes: readonly number[], args: readonly string[]): Promise<Run> {
  const [cpu, begun] = [endedChildrenCpu(), performance.now()];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  let peakMb = 0;
  const look = setInterval(() => {
    peakMb = Math.max(peakMb, processUse(child.pid ?? 0).peak / 1_000_000);
  }, 50);
  child.once('exit', () => clearInterval(look));
  const [code] = await once(child, 'close');
  if (!codes.includes(code)) throw new Error(`node ${args.join(' ')} ended with ${code}: ${errors}`);
  return { ms: performance.now() - begun, cpuMs: (endedChildrenCpu() - cpu) * 1_000, peakMb };
}

/** How long commands take that only look, and `start` until it takes deliveries, on a Redis that is there. */
export const commands: Measure = {
  name: 'commands',
  async run(size) {
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const options = { url: fakes.url, redis };
    const product = await startProduct(options);
    const [ticket = 0] = freshTickets()(1);
    const created = fakes.created(1);
    await sendAll(product.hooks, deliveriesOf([ticket]), 1);
    await created;
    const command = (...words: string[]) => node(program, ...words, '--config', product.config);
    const [bare = [], status = [], show = [], start = []] = await inTurns(rounds[size], [
      () => node('--eval', '0'),
      () => command('status'),
      () => command('journeys', 'show', `${source}/${ticket}.1`),
      async () => {
        const another = await startProduct(options);
        await another.stop();
        return { ms: another.startedInMs, cpuMs: 0, peakMb: 0 };
      },
    ]);
    await product.stop();
    await Promise.all([fakes.close(), redis.stop()]);
    const baseline = (of: keyof Run) => ({ name: "node's own", rounds: bare.map((run) => run[of]) });
    const row = (measure: string, runs: readonly Run[], of: keyof Run, figure?: number) => ({
      measure,
      unit: 'ms',
      closeloop: runs.map((run) => run[of]),
      baseline: baseline(of),
      ...(figure !== undefined && { target: { of: 'value', is: 'at most', figure } satisfies Target }),
    });
    return [
      row('"status", start to exit', status, 'ms', 250),
      row('"journeys show", start to exit', show, 'ms', 250),
      row('CPU of "status"', status, 'cpuMs'),
      row('"start" until ready', start, 'ms', 700),
    ];
  },
};
