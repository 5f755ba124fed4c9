import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { type BenchRedis, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
const sizes = {
  full: { closings: 3_000, slow: 1_600, rounds: 3, many: 8 },
  short: { closings: 60, slow: 60, rounds: 1, many: 2 },
};
/** As far away as services are. */
const latencyMs = 50;
/** So few conversations at once that the latency holds a process up, not the machine. */
const callsAtOnce = 2;

interface Round {
  perSecond: number;
  creates: number;
}

/** Closings a second of so many workers on one Redis; deliveries come in through a process of its own. */
async function round(
  workers: number,
  closings: readonly number[],
  options: { fakes: Fakes; redis: BenchRedis; latencyMs?: number; callsAtOnce?: number },
): Promise<Round> {
  const { fakes, redis } = options;
  await fakes.reset({ latencyMs: options.latencyMs ?? 0 });
  const common = { url: fakes.url, redis, callsAtOnce: options.callsAtOnce ?? 100 };
  const intake = await startProduct({ ...common, role: 'intake' });
  await sendAll(intake.hooks, deliveriesOf(closings), inFlight);
  const created = fakes.created(closings.length);
  const all = await Promise.all(Array.from({ length: workers }, () => startProduct({ ...common, role: 'worker' })));
  const { creates, firstCreateAt, lastCreateAt } = await created;
  await Promise.all([intake, ...all].map((product) => product.stop()));
  return { perSecond: creates / ((lastCreateAt - firstCreateAt) / 1_000), creates };
}

/** What further processes add: where the machine is the limit, and where the latency of others is. */
export const processes: Measure = {
  name: 'processes',
  async run(size) {
    const { closings, slow, rounds, many } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const tickets = freshTickets();
    const far = { fakes, redis, latencyMs, callsAtOnce };
    const [two = [], one = [], eightFar = [], oneFar = []] = await inTurns(rounds, [
      () => round(2, tickets(closings), { fakes, redis }),
      () => round(1, tickets(closings), { fakes, redis }),
      () => round(many, tickets(slow), far),
      () => round(1, tickets(slow / many), far),
    ]);
    await Promise.all([fakes.close(), redis.stop()]);
    const perSecond = (rows: readonly Round[], workers = 1) => rows.map((row) => row.perSecond / workers);
    return [
      {
        measure: 'closings of two workers on this machine',
        unit: '1/s',
        closeloop: perSecond(two),
        counted: two.at(-1)?.creates ?? 0,
        baseline: { name: 'one worker', rounds: perSecond(one) },
        target: { of: 'ratio', is: 'at least', figure: 1.7 },
      },
      {
        measure: `closings per worker of ${many}, ${latencyMs} ms from the vendors, ${callsAtOnce} calls at once`,
        unit: '1/s',
        closeloop: perSecond(eightFar, many),
        counted: eightFar.at(-1)?.creates ?? 0,
        baseline: { name: 'one worker', rounds: perSecond(oneFar) },
        target: { of: 'ratio', is: 'at least', figure: 0.85 },
      },
    ];
  },
};
