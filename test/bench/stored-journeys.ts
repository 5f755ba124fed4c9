import { Redis } from 'ioredis';
import { Erasures, noWrittenAnswers } from '../../worker/journey/erasures.ts';
import { FollowUpLists } from '../../worker/journey/follow-up-lists.ts';
import type { FollowUp, Journey, JourneyState } from '../../worker/journey/journey.ts';
import { addressDigest } from '../../worker/journey/journey-keys.ts';
import type { SkipReason } from '../../worker/journey/reasons.ts';
import { JourneyStore } from '../../worker/journey/store.ts';
import { ifStill, type Step } from '../../worker/journey/transitions.ts';
import { openQueues } from '../../worker/pipeline/queues.ts';
import type { Seal } from '../../worker/redis/seal.ts';
import type { BenchRedis } from './product.ts';

// Many journeys, stored by the product's own scripts, so that keys and indexes are what closeloop makes. Only what asks and
// answers is left out: each step is said to have been taken at its time.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const atOnce = 4_000;
/** Closings of neighbouring records, which are stored one after the other. */
const inARow = 8;
/** Proofs that lists and pages may show. */
const erasures = 500;
/** Closings of one customer, a shared mailbox. */
export const ofSharedMailbox = 1_000;
export const sharedMailbox = 'orders@example.com';

/** The states of a thousand. */
const mix = [
  ['skipped', 320],
  ['written', 220],
  ['expired', 300],
  ['cancelled', 30],
  ['asked', 60],
  ['waiting', 60],
  ['failed', 9],
  ['parked', 1],
] as const;
type Kind = (typeof mix)[number][0];
const kinds = mix.flatMap(([kind, count]) => Array.from({ length: count }, () => kind));

/** Reasons of skipped ones, as often as they stand here. */
const skips: { reason: SkipReason; why: string }[] = [
  { reason: 'no-rule', why: 'no rule\'s condition is true ("phone team", "all")' },
  { reason: 'no-rule', why: 'no rule\'s condition is true ("phone team", "all")' },
  { reason: 'sample', why: 'outside the sample of 50 %' },
  { reason: 'throttled', why: 'asked on 2026-10-02, and the throttle of rule "all" is 30d' },
  { reason: 'asked-already', why: 'the customer of this record was asked already' },
  { reason: 'no-contact', why: 'no contact that campaign 12 reaches: requester.email is empty' },
];
const rules = ['all', 'phone team', 'chat'];
const stores = ['Tallinn', 'Tartu', 'Pärnu', 'Narva', 'Viljandi'];

/** Journeys by their state, each with all that is stored of it. */
export type Stored = ReadonlyMap<JourneyState, { source: string; journey: Journey }>;

/** One closing: who and which record, and the steps to where it stands. */
interface Life {
  recordId: string;
  closing: string;
  closedAt: Date;
  steps: Step[];
}

/** The same for each number: who reads two runs compares like with like. */
function lifeOf(n: number, count: number, { now, seal }: { now: Date; seal: Seal }): Life {
  const pick = <T>(list: readonly T[], salt: number): T => {
    const one = list[hashed(n, salt) % list.length];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  };
  const kind = pick(kinds, 1);
  const person = n < Math.min(ofSharedMailbox, count / 10) ? 0 : 1 + (hashed(n, 2) % Math.ceil(count / 3));
  const email = person === 0 ? sharedMailbox : `customer-${person}@example.com`;
  const closedAt = new Date(now.getTime() - ageOf(kind, hashed(n, 3)));
  const later = (ms: number) => new Date(closedAt.getTime() + ms);
  const rule = pick(rules, 4);
  const campaign = 12 + (hashed(n, 5) % 2);
  const values = { Store: pick(stores, 6), Agent: `Agent ${hashed(n, 7) % 200}` };
  const contact = { kind: 'email' as const, value: email };
  const alsoKnownAs = hashed(n, 8) % 2 === 0 ? { alsoKnownAs: [addressDigest(seal, `phone:+3725${person}`)] } : {};
  const dueAt = kind === 'waiting' ? nextNine(now, hashed(n, 9) % 2) : later(2 * hourMs);
  const planned: Step = {
    to: 'waiting',
    at: later(2_000),
    change: {
      ...{ rule, campaign, campaignName: 'After support', maxGrade: 5, contact, personId: `7${person}`, values, dueAt },
      ...alsoKnownAs,
      place: { timeZone: 'Europe/Tallinn' },
    },
    trace: [
      `rule "${rule}", campaign ${campaign}`,
      'custom fields: Store from ticket.fields.store, Agent from assignee.name',
      'contact: email',
      `to be asked at ${dueAt.toISOString()}`,
    ],
  };
  const requestId = String(50_000_000 + n);
  const asked: Step = {
    to: 'asked',
    at: later(2 * hourMs),
    change: { requestId, askedAt: later(2 * hourMs), attempts: 1 },
    trace: ['creating the feedback request', `asked: feedback request ${requestId} (the service took it)`],
  };
  const grade = 1 + (hashed(n, 10) % 5);
  const answer = { grade, comment: 'Quick and friendly.', seenAt: later(9 * hourMs), version: 1 };
  const answered: Step = {
    to: 'answered',
    at: later(9 * hourMs),
    change: { answer },
    trace: [`answered: grade ${grade}`],
  };
  const skip = pick(skips, 11);
  const stepsTo: Record<Kind, Step[]> = {
    skipped: [{ to: 'skipped', at: later(2_000), ...skip, change: alsoKnownAs }],
    waiting: [planned],
    cancelled: [planned, { to: 'cancelled', at: later(hourMs), why: 'the record is open again' }],
    asked: [planned, asked],
    expired: [planned, asked, { to: 'expired', at: later(14 * dayMs), trace: ['expired: no answer came'] }],
    written: [
      ...[planned, asked, answered],
      {
        to: 'written',
        at: later(10 * hourMs),
        change: { writtenVersion: 1, ...followUpOf(n, grade, later(9 * hourMs), now) },
        trace: ['written on the record (answer 1)'],
      },
    ],
    failed: [planned, { to: 'failed', at: later(3 * hourMs), why: 'the service refuses the request: 400' }],
    parked: [planned, asked, answered, { to: 'parked', at: later(10 * hourMs), why: 'the ticket is closed for good' }],
  };
  // Every eighth closing is a second one of its record.
  const record = n % 8 === 7 ? n - 1 : n;
  return { recordId: String(100_000 + record), closing: `r${n}`, closedAt, steps: stepsTo[kind] };
}

/** Nothing that the sweep would take up: what has asked waits for its answer yet, and nobody has waited too long. */
function ageOf(kind: Kind, random: number): number {
  const [from, until] =
    kind === 'waiting' ? [0, 1] : kind === 'asked' ? [1, 13] : kind === 'expired' ? [15, 390] : [1, 390];
  // A remainder would not reach beyond 50 days, as there are more milliseconds in a year than numbers of 32 bits.
  return Math.floor((from + (random / 2 ** 32) * (until - from)) * dayMs);
}

/** Of every tenth unhappy customer; a fifth of them is not done. */
function followUpOf(n: number, grade: number, answeredAt: Date, now: Date): { followUp?: FollowUp } {
  if (grade > 2 || hashed(n, 12) % 10 !== 0) return {};
  const opened = { rule: 'unhappy', to: 'agent', openedAt: answeredAt };
  const isOpen = hashed(n, 13) % 5 === 0;
  const dueAt = isOpen ? new Date(now.getTime() + ((hashed(n, 14) % 48) - 24) * hourMs) : answeredAt;
  if (isOpen) return { followUp: { ...opened, dueAt, state: 'open' } };
  return { followUp: { ...opened, dueAt, state: 'done', doneBy: 'anna', doneAt: answeredAt, outcome: 'Called.' } };
}

/** Windows open at nine: what waits is due in the same millisecond as thousands of others. */
function nextNine(now: Date, day: number): Date {
  return new Date(Math.ceil(now.getTime() / dayMs + 1 + day) * dayMs + 9 * hourMs);
}

function hashed(n: number, salt: number): number {
  let x = Math.imul(n + 1, 2_654_435_761) ^ Math.imul(salt, 40_503);
  x = Math.imul(x ^ (x >>> 16), 2_246_822_507);
  x = Math.imul(x ^ (x >>> 13), 3_266_489_909);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Stores so many journeys over these sources, and the jobs of those that wait. @returns the last of each state */
export async function storeJourneys(
  count: number,
  sources: readonly string[],
  { redis: { socket }, seal }: { redis: BenchRedis; seal: Seal },
): Promise<Stored> {
  const redis = new Redis({ path: socket, enableAutoPipelining: true });
  const now = new Date();
  const stored = new Map<JourneyState, { source: string; journey: Journey }>();
  const opened = sources.map((source) => openSource(source, redis, { socket, seal }));
  const live = async (n: number): Promise<void> => {
    const source = opened[Math.floor(n / inARow) % opened.length];
    const journey = await source?.live(lifeOf(n, count, { now, seal }), n);
    if (source && journey) stored.set(journey.state, { source: source.name, journey });
  };
  for (let from = 0; from < count; from += atOnce) {
    const until = Math.min(from + atOnce, count);
    const rows = Array.from({ length: Math.ceil((until - from) / inARow) }, (_, i) => from + inARow * i);
    await Promise.all(
      rows.map(async (first) => {
        for (let n = first; n < Math.min(first + inARow, until); n++) await live(n);
      }),
    );
    for (const source of opened) await source.addJobs(now);
  }
  await noteErasures(new Erasures(redis, sources[0] ?? '', seal), now);
  for (const source of opened) await source.close();
  redis.disconnect();
  return stored;
}

function openSource(name: string, redis: Redis, { socket, seal }: { socket: string; seal: Seal }) {
  // A step's time is set before it, and read by the store before that awaits anything.
  let clock = new Date();
  const store = new JourneyStore(redis, name, { now: () => clock, seal });
  const queues = openQueues(name, { redis, connection: { path: socket }, seal, onLost: () => undefined });
  const followUps = new FollowUpLists(redis, name);
  const waiting: Journey[] = [];
  return {
    name,
    live: async ({ recordId, closing, closedAt, steps }: Life, n: number): Promise<Journey> => {
      clock = new Date(closedAt.getTime() + 1_000);
      const closed = { recordId, closing, closedAt, eventKey: `zendesk:${n}`, receivedAt: clock };
      const line = `received ${clock.toISOString()}: status SOLVED, was OPEN, at ${closedAt.toISOString()}`;
      let { journey } = await store.getOrCreate(closed, [line]);
      for (const step of steps) {
        clock = step.at;
        journey = (await store.update(journey, ifStill(journey.state, step))) ?? journey;
      }
      if (journey.state !== steps.at(-1)?.to)
        throw new Error(`journey ${journey.id} came no further than ${journey.state}`);
      if (journey.state === 'waiting') waiting.push(journey);
      if (journey.followUp) await followUps.relist(journey.id, store);
      return journey;
    },
    addJobs: async (now: Date): Promise<void> =>
      await queues.ask.add(
        waiting.splice(0).map(({ id, dueAt = now }) => {
          return { id: `ask-${id}`, data: { journeyId: id }, delayMs: dueAt.getTime() - now.getTime() };
        }),
      ),
    close: async (): Promise<void> => {
      for (const { queue } of Object.values(queues)) await queue.close();
    },
  };
}

async function noteErasures(of: Erasures, at: Date): Promise<void> {
  const counts = { journeys: 2, contacts: 1, requestsMasked: 2, mentions: 0 };
  for (let i = 0; i < erasures; i++) {
    await of.end({
      ...counts,
      id: `erasure-${i}`,
      at,
      what: 'asked for by the vendor',
      writtenAnswers: noWrittenAnswers,
      kept: [],
    });
  }
}
