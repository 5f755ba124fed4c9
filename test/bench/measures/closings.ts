import { type Fakes, startFakes } from '../fakes.ts';
import { inTurns, type Measure, type Row, type Size } from '../harness.ts';
import { deliveriesOf, freshTickets, sendAll } from '../load.ts';
import { processUse } from '../machine.ts';
import { startNodeRed } from '../node-red.ts';
import { type BenchRedis, startProduct, startRedis } from '../product.ts';

const inFlight = 200;
/** Tickets of a round. V8 has optimized the program after some 12,000 closings, which a process in use has long behind it. */
const sizes = {
  full: { closings: 3_000, rounds: 7, warmUps: 4 },
  short: { closings: 60, rounds: 1, warmUps: 1 },
};

interface Round {
  creates: number;
  perSecond: number;
  cpuMs: number;
  redisCpuMs: number;
  commands: number;
  bytes: number;
  vendorCalls: number;
}

interface Target {
  pid: number;
  hooks: string;
  redis?: BenchRedis;
}

/** From the first delivery to the last request created, by the service's word. */
async function round(closings: readonly number[], target: Target, fakes: Fakes): Promise<Round> {
  const { redis } = target;
  const deliveries = deliveriesOf(closings);
  await fakes.reset();
  const before = {
    own: processUse(target.pid).cpu,
    redis: redis ? processUse(redis.pid).cpu : 0,
    work: await redis?.work(),
  };
  const created = fakes.created(closings.length);
  const { from } = await sendAll(target.hooks, deliveries, inFlight);
  const counts = await created;
  const work = await redis?.work();
  const count = closings.length;
  return {
    creates: counts.creates,
    perSecond: count / ((counts.lastCreateAt - from) / 1_000),
    cpuMs: ((processUse(target.pid).cpu - before.own) * 1_000) / count,
    redisCpuMs: redis ? ((processUse(redis.pid).cpu - before.redis) * 1_000) / count : 0,
    commands: work && before.work ? (work.commands - before.work.commands) / count : 0,
    bytes: work && before.work ? (work.bytes - before.work.bytes) / count : 0,
    vendorCalls: (counts.vendor * 1_000) / count,
  };
}

/** What the product is compared with. */
interface Other {
  target: Target;
  stop(): Promise<void>;
}

/** The product's rounds and, in turns with them, those of the other; no other: the product's alone. */
async function compared(
  size: Size,
  name: string,
  startOther: (fakes: Fakes) => Promise<Other | undefined>,
): Promise<Row[]> {
  const { closings: count, rounds, warmUps } = sizes[size];
  const [fakes, redis] = await Promise.all([startFakes(), startRedis()]);
  const product = await startProduct({ url: fakes.url, redis });
  const other = await startOther(fakes);
  const tickets = freshTickets();
  const ways = [{ ...product, redis }, ...(other ? [other.target] : [])].map(
    (target) => () => round(tickets(count), target, fakes),
  );
  const [ours = [], theirs = []] = await inTurns(rounds, ways, warmUps);
  await Promise.all([product.stop(), other?.stop()]);
  await Promise.all([fakes.close(), redis.stop()]);
  return rowsOf(ours, { name, rounds: theirs });
}

export const closings: Measure = {
  name: 'closings',
  run: async (size) =>
    await compared(size, 'Node-RED flow', async ({ url }) => {
      if (size === 'short') return undefined;
      const flow = await startNodeRed(url);
      return { target: flow, stop: () => flow.stop() };
    }),
};

/** Compares with another version, which has a Redis of its own. @param program the launcher of the other version */
export const closingsAgainst = (name: string, program: string): Measure => ({
  name: 'closings',
  run: async (size) =>
    await compared(size, name, async ({ url }) => {
      const redis = await startRedis();
      const version = await startProduct({ url, redis, program });
      const stop = async () => {
        await version.stop();
        await redis.stop();
      };
      return { target: { ...version, redis }, stop };
    }),
});

function rowsOf(ours: readonly Round[], baseline: { name: string; rounds: readonly Round[] }): Row[] {
  const row = (measure: string, unit: string, of: keyof Round, more: Partial<Row> = {}): Row => ({
    measure,
    unit,
    closeloop: ours.map((one) => one[of]),
    counted: ours.at(-1)?.creates ?? 0,
    ...more,
  });
  const beside = (of: keyof Round): Partial<Row> =>
    baseline.rounds.length === 0
      ? {}
      : { baseline: { name: baseline.name, rounds: baseline.rounds.map((one) => one[of]) } };
  return [
    row('closings, delivery to request created', '1/s', 'perSecond', {
      ...beside('perSecond'),
      target: { of: 'ratio', is: 'at least', figure: 1.5 },
    }),
    row('CPU of the process per closing', 'ms', 'cpuMs', {
      ...beside('cpuMs'),
      target: { of: 'ratio', is: 'at most', figure: 0.9 },
    }),
    row('CPU of Redis per closing', 'ms', 'redisCpuMs', beside('redisCpuMs')),
    row('Redis commands per closing', '', 'commands', beside('commands')),
    row('bytes sent to Redis per closing', 'B', 'bytes', beside('bytes')),
    row('calls to the vendor per 1,000 closings, before write-back', '', 'vendorCalls', beside('vendorCalls')),
  ];
}
