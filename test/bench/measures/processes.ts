import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure, type Row } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { allCores, runOn } from '../machine.ts';
import { type BenchRedis, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
/** `warmUp`: of the closings the first, which are not counted. Each worker is started anew, and V8 optimizes the program meanwhile. */
const sizes = {
  full: { closings: 24_000, warmUp: 16_000, slow: 3_200, rounds: 3, many: 8 },
  short: { closings: 60, warmUp: 10, slow: 60, rounds: 1, many: 2 },
};
/** As far away as services are. */
const latencyMs = 50;
/** So few conversations at once that the latency holds a process up, not the machine. */
const callsAtOnce = 2;

interface Round {
  perSecond: number;
  creates: number;
}

interface RoundOptions {
  fakes: Fakes;
  redis: BenchRedis;
  warmUp?: number;
  /** All that works has this core. Left out: every core. */
  core?: number;
  latencyMs?: number;
  callsAtOnce?: number;
}

/** Closings a second of so many workers on one Redis; deliveries come in through a process of its own, before. */
async function round(workers: number, closings: readonly number[], options: RoundOptions): Promise<Round> {
  const { fakes, redis, warmUp = 0, core = allCores, latencyMs: awayMs = 0, callsAtOnce: calls = 100 } = options;
  await fakes.reset({ latencyMs: awayMs });
  const common = { url: fakes.url, redis, callsAtOnce: calls };
  const intake = await startProduct({ ...common, role: 'intake' });
  await sendAll(intake.hooks, deliveriesOf(closings), inFlight);
  const created = fakes.created(closings.length);
  const all = await Promise.all(Array.from({ length: workers }, () => startProduct({ ...common, role: 'worker' })));
  runOn(core, [fakes.pid, redis.pid, ...all.map(({ pid }) => pid)]);
  const { creates } = await created;
  runOn(allCores, [fakes.pid, redis.pid]);
  const times = (await fakes.times()).slice(warmUp);
  await Promise.all([intake, ...all].map((product) => product.stop()));
  const [first = 0, last = 0] = [times.at(0), times.at(-1)];
  return { perSecond: times.length / ((last - first) / 1_000), creates };
}

/** What further processes add: where the machine is the limit, and where the latency of others is. */
export const processes: Measure = {
  name: 'processes',
  async run(size) {
    const { closings, warmUp, slow, rounds, many } = sizes[size];
    const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
    const tickets = freshTickets();
    const near = { fakes, redis, warmUp };
    const far = { fakes, redis, latencyMs, callsAtOnce };
    const [two = [], one = [], oneOnOne = [], eightFar = [], oneFar = []] = await inTurns(rounds, [
      () => round(2, tickets(closings), near),
      () => round(1, tickets(closings), near),
      () => round(1, tickets(closings), { ...near, core: 0 }),
      () => round(many, tickets(slow), far),
      () => round(1, tickets(slow / many), far),
    ]);
    await Promise.all([fakes.close(), redis.stop()]);
    const perSecond = (rows: readonly Round[], workers = 1) => rows.map((row) => row.perSecond / workers);
    const ofTwo = (where: string, name: string, rows: readonly Round[]): Row => ({
      measure: `closings of two workers on ${where}`,
      unit: '1/s',
      closeloop: perSecond(two),
      counted: two.at(-1)?.creates ?? 0,
      baseline: { name, rounds: perSecond(rows) },
      target: { of: 'ratio', is: 'at least', figure: 1.7 },
    });
    return [
      ofTwo('this machine', 'one worker on this machine', one),
      ofTwo('two cores', 'one worker on one core, Redis and the fakes with it', oneOnOne),
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
