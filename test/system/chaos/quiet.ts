import type { Redis } from 'ioredis';
import { slices } from '../../../core/spread.ts';
import { isAnswer, journeysIn, type StoredJourney, saidIn } from './evidence.ts';
import { type Customers, pause } from './load.ts';
import { sources } from './planned-record.ts';
import type { World } from './world.ts';

/** Nothing to do for this long: it is over. */
const calmMs = 4_000;
/** Longer than anything that mends by itself: a person's lock (a minute), and then the sweep (another). */
const patienceMs = 240_000;
/** The window of rule `hours` opens within this time of the begin of the load. */
const farMs = 200_000;
/** Journeys tell of what waits longer to be asked about; a look at a write that may come late finds what it has found a moment before. */
const soonMs = 5_000;
/** However much still moves. */
const longestMs = 45 * 60_000;

const stages = ['plan', 'ask', 'write-back', 'erase'];

/**
 * Waits until there is nothing left to do, or nothing has changed for so long that nothing will: then the auditor says
 * what is missing.
 */
export async function quiet(options: {
  world: World;
  customers: Customers;
  redis: Redis;
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { world, customers, redis, say, signal } = options;
  const begun = Date.now();
  let [changedAt, last, calmSince, told] = [begun, '', begun, begun];
  while (Date.now() - begun < longestMs) {
    customers.act(world);
    const { open, dueAt, told: state } = await whatIsOpen(world, customers, redis);
    const now = Date.now();
    if (state !== last) changedAt = now;
    last = state;
    if (open > 0) calmSince = now;
    if (now - calmSince >= calmMs) return;
    // What has been put off isn't late before its time.
    if (now - Math.max(changedAt, dueAt ?? 0) > patienceMs) {
      say(`nothing changes any more: ${state}`);
      return;
    }
    if (now - told >= 10_000) {
      told = now;
      say(state);
    }
    await pause(500, signal);
  }
  say(`still not over: ${last}`);
}

/** A cap or a closed window has put it off: nobody waits for that. Places under a cap go on through the hour, every two minutes or so. */
const isFar = (at: number): boolean => at - Date.now() > farMs;
const isPutOff = ({ state, rule, dueAt }: StoredJourney): boolean =>
  state === 'waiting' &&
  dueAt !== undefined &&
  (rule === 'capped' ? dueAt.getTime() > Date.now() : isFar(dueAt.getTime()));

async function whatIsOpen(world: World, customers: Customers, redis: Redis) {
  let jobs = 0;
  let dueAt: number | undefined;
  for (const source of Object.values(sources)) {
    for (const stage of stages) {
      const queue = `{cl:${source}}:${stage}`;
      const [waiting, active, delayed] = await Promise.all([
        redis.llen(`${queue}:wait`),
        redis.llen(`${queue}:active`),
        redis.zrange(`${queue}:delayed`, '0', '-1', 'WITHSCORES'),
      ]);
      // BullMQ keeps the instant and a counter of 12 bits in one number.
      const dues = [...slices(delayed, 2)].map(([job = '', score]) => ({ job, at: Number(score) / 0x1000 }));
      const isPatient = (job: string): boolean => stage === 'ask' || job.startsWith('late-write-');
      const near = dues.flatMap(({ job, at }) => (at < Date.now() + (isPatient(job) ? soonMs : farMs) ? [at] : []));
      jobs += waiting + active + near.length;
      if (near[0] !== undefined) dueAt = Math.max(dueAt ?? 0, near[0]);
    }
  }
  const journeys = await journeysIn(redis);
  const states: Record<string, number> = {};
  for (const journey of journeys) {
    const state = isPutOff(journey) ? 'put off' : journey.state;
    states[state] = (states[state] ?? 0) + 1;
  }
  const byRequest = new Map(journeys.map((journey) => [journey.requestId, journey]));
  const contacts = new Map(world.taken.map(({ requestId, contact }) => [requestId, contact]));
  const uncollected = saidIn(world).filter((said) => {
    const journey = byRequest.get(String(said.requestId));
    // Masked: a person who was forgotten has no answer any more.
    if (said.contact !== contacts.get(said.requestId)) return false;
    return isAnswer(said) && (journey?.answer?.grade !== said.grade || journey.answer.comment !== said.comment);
  }).length;
  const busy = ['received', 'waiting', 'creating', 'answered'].reduce((sum, state) => sum + (states[state] ?? 0), 0);
  const told = [
    ...Object.entries(states).map(([state, n]) => `${state} ${n}`),
    `jobs ${jobs}`,
    `answers to come ${customers.waiting}, to be collected ${uncollected}`,
    `requests ${world.taken.length}`,
  ].join(', ');
  return { open: jobs + busy + uncollected + customers.waiting, dueAt, told };
}
