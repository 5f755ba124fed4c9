import { z } from 'zod';
import { type RedisClient, runScript } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import type { Act, Journey } from './journey.ts';
import { recordOf } from './refs.ts';

/* What others are told of journeys: webhooks, and the receivers of `alerts` that an answer rule names. */

/** The events that a webhook may ask to be told of. */
export const eventTypes = [
  'answer.received',
  'answer.changed',
  'request.created',
  'closing.skipped',
  'follow-up.overdue',
] as const;
/** `answer.matched`: an answer rule sends the event, by `send` or `notify`. */
export type EventType = (typeof eventTypes)[number] | 'answer.matched';

/** A receiver of events. Each receiver has a queue of its own. */
export interface Target {
  /** Names its keys and its queue. */
  key: string;
  events: readonly EventType[];
  /** The action of an answer rule that tells it, and its name there. */
  by: { action: 'send' | 'notify'; name: string };
}

/** A reference to a journey: the message is made of the journey when it is sent, so that no queue holds an erased person. */
export interface OutgoingEvent {
  type: EventType;
  journeyId: string;
  at: Date;
  /** The version of the answer; 0 where there is none. */
  version: number;
  /** The answer rule of `answer.matched`; '' otherwise. */
  rule: string;
}

type Happened = Omit<OutgoingEvent, 'journeyId' | 'at'> & { to?: Pick<Act, 'name' | 'to'> };

/** The events of a change of a journey, each with its receivers. Pure. No receiver gets an event about a test or an erased person. */
export function outgoingOf(
  before: Journey,
  after: Journey,
  { targets, at }: { targets: readonly Target[]; at: Date },
): { target: Target; event: OutgoingEvent }[] {
  if (after.erasedAt || after.test) return [];
  return happened(before, after).flatMap(({ to, ...event }) =>
    targets
      .filter((target) => (to ? isNamed(target, to) : target.events.includes(event.type)))
      .map((target) => ({ target, event: { ...event, journeyId: after.id, at } })),
  );
}

const isNamed = ({ by }: Target, { name, to = [] }: Pick<Act, 'name' | 'to'>): boolean =>
  by.action === name && to.includes(by.name);

function happened(before: Journey, after: Journey): Happened[] {
  const version = after.answer?.version ?? 0;
  const is = (type: EventType, hasHappened: boolean): Happened[] => (hasHappened ? [{ type, version, rule: '' }] : []);
  const isNewer = after.answer !== undefined && after.answer.version !== before.answer?.version;
  return [
    ...is('closing.skipped', after.state === 'skipped' && before.state !== 'skipped'),
    ...is('request.created', after.requestId !== undefined && before.requestId === undefined),
    ...is(before.answer ? 'answer.changed' : 'answer.received', isNewer),
    ...is('follow-up.overdue', after.followUp?.alertedAt !== undefined && before.followUp?.alertedAt === undefined),
    ...told(before, after),
  ];
}

/** The actions `send` and `notify` that this change has ended. */
function told(before: Journey, after: Journey): Happened[] {
  if (before.acting === after.acting) return [];
  const isDone = ({ state }: Act) => state === 'done';
  const ended = new Set(before.acting?.acts.filter(isDone).map(({ marker }) => marker));
  const news = (after.acting?.acts ?? []).filter((act) => act.to && isDone(act) && !ended.has(act.marker));
  return news.map((act) => ({ type: 'answer.matched', version: act.version, rule: act.rule, to: act }));
}

/** Events that a target has not taken within this time are forgotten, and so are events that were given up so long ago. */
export const keptEventsMs = 30 * 86_400_000;

/** The event is sent, or nothing is left to tell. KEYS list, due · ARGV event */
const endScript = `
redis.call('LREM', KEYS[1], 1, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])`;

/**
 * All that is due to the target about the record. What was given up for so long that its own list is gone leaves the list of all, a few at a time.
 * KEYS list, due, list of what was given up, given up · ARGV ms to keep, instant up to which events are forgotten
 */
const giveUpScript = `
for _, event in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  redis.call('RPUSH', KEYS[3], event)
  redis.call('ZADD', KEYS[4], cjson.decode(event)[3], event)
  redis.call('ZREM', KEYS[2], event)
end
redis.call('DEL', KEYS[1])
local forgotten = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[2], 'LIMIT', 0, 100)
if #forgotten > 0 then redis.call('ZREM', KEYS[4], unpack(forgotten)) end
for i = 3, 4 do redis.call('PEXPIRE', KEYS[i], ARGV[1]) end`;

/**
 * Puts the events that were given up since an instant before those that are due by now, in their order. Returns how many.
 * KEYS list, due, list of what was given up, given up · ARGV the instant, ms to keep
 */
const replayScript = `
local events, count = redis.call('LRANGE', KEYS[3], 0, -1), 0
for i = #events, 1, -1 do
  local at = tonumber(cjson.decode(events[i])[3])
  if at >= tonumber(ARGV[1]) then
    redis.call('LREM', KEYS[3], -1, events[i])
    redis.call('ZREM', KEYS[4], events[i])
    redis.call('LPUSH', KEYS[1], events[i])
    redis.call('ZADD', KEYS[2], at, events[i])
    count = count + 1
  end
end
for i = 1, 2 do redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
return count`;

const Written = z.tuple([z.enum([...eventTypes, 'answer.matched']), z.string(), z.coerce.date(), z.int(), z.string()]);

const written = ({ type, journeyId, at, version, rule }: OutgoingEvent): string =>
  JSON.stringify([type, journeyId, at.getTime(), version, rule]);

function read(text: string): OutgoingEvent {
  const [type, journeyId, at, version, rule] = Written.parse(JSON.parse(text));
  return { type, journeyId, at, version, rule };
}

/** The record of a stored event, also of an event that a later version of closeloop has stored, with a type that is not known here. */
const recordOfEvent = (text: string): string =>
  recordOf(z.tuple([z.string(), z.string()], z.unknown()).parse(JSON.parse(text))[1]);

/** The receivers of changes. */
export interface TellsOthers {
  targets: readonly Target[];
  /** Something is due to the target about the record: it is stored, and is lost by nobody who is killed now. */
  onStored(target: string, recordId: string): Promise<void>;
}

const pageSize = 500;

/**
 * The events of one source's journeys that others are still to be told of. Each is stored by the script that changes its journey, so that none
 * is lost. For each target and record there is a list in the order in which they happened.
 */
export class OutgoingEvents {
  readonly #redis: RedisClient;
  readonly #tag: string;
  readonly #now: () => Date;

  constructor(redis: RedisClient, source: string, now: () => Date) {
    this.#redis = redis;
    this.#tag = tagOf(source);
    this.#now = now;
  }

  /** The arguments that store the events of a change together with it (`tellOthers`), and the work that is left once it is stored. */
  of(before: Journey, after: Journey, tells: TellsOthers): { args: (string | number)[]; onStored(): Promise<void> } {
    const events = outgoingOf(before, after, { targets: tells.targets, at: this.#now() });
    const { recordId } = after;
    const args = events.flatMap(({ target: { key }, event }) => {
      const { list, due } = this.#keys(key, recordId);
      return [list, due, written(event), event.at.getTime()];
    });
    const keys = new Set(events.map(({ target }) => target.key));
    const onStored = async () => void (await Promise.all([...keys].map((key) => tells.onStored(key, recordId))));
    return { args, onStored };
  }

  /** The first that is due to the target about this record. */
  async first(target: string, recordId: string): Promise<OutgoingEvent | undefined> {
    const text = await this.#redis.lindex(this.#keys(target, recordId).list, 0);
    return text === null ? undefined : read(text);
  }

  /** Takes the event off its list: it was sent, or there is nothing left to tell. */
  async end(target: string, recordId: string, event: OutgoingEvent): Promise<void> {
    const { list, due } = this.#keys(target, recordId);
    await runScript(this.#redis, endScript, [list, due], written(event));
  }

  /** Sets aside all that is due to the target about this record. */
  async giveUp(target: string, recordId: string): Promise<void> {
    // An event is given up some days after it happened, and kept for `keptEventsMs` from then on.
    const forgottenMs = this.#now().getTime() - 2 * keptEventsMs;
    await runScript(this.#redis, giveUpScript, this.#all(target, recordId), keptEventsMs, forgottenMs);
  }

  /** Has what was given up since then sent after all, also where more about the record has come since. @returns how many events */
  async replay(target: string, since: Date): Promise<number> {
    let count = 0;
    for await (const records of this.records(target, 'given-up', since))
      for (const recordId of records) {
        const keys = this.#all(target, recordId);
        count += Number(await runScript(this.#redis, replayScript, keys, since.getTime(), keptEventsMs));
      }
    return count;
  }

  /** The records that something is due about, or was given up; page by page, some of them more than once. */
  async *records(target: string, list: 'due' | 'given-up', since = new Date(0)): AsyncGenerator<string[]> {
    const key = this.#ofTarget(target, list);
    let cursor = '0';
    do {
      const [next, flat] = await this.#redis.zscan(key, cursor, 'COUNT', String(pageSize));
      cursor = next;
      const events = flat.filter((_, i) => i % 2 === 0 && Number(flat[i + 1]) >= since.getTime());
      yield [...new Set(events.map(recordOfEvent))];
    } while (cursor !== '0');
  }

  /** Forgets what is too old: the lists of records end by themselves. */
  async forgetOld(target: string): Promise<void> {
    const before = this.#now().getTime() - keptEventsMs;
    await this.#redis.zremrangebyscore(this.#ofTarget(target, 'due'), '-inf', before);
    await this.#redis.zremrangebyscore(this.#ofTarget(target, 'given-up'), '-inf', before);
  }

  /** How many events are due, since when, and how many were given up. */
  async counts(target: string): Promise<{ due: number; oldestAt: Date | undefined; givenUp: number }> {
    const [due, oldest, givenUp] = await Promise.all([
      this.#redis.zcard(this.#ofTarget(target, 'due')),
      this.#redis.zrangebyscore(this.#ofTarget(target, 'due'), '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1),
      this.#redis.zcard(this.#ofTarget(target, 'given-up')),
    ]);
    return { due, oldestAt: oldest[1] === undefined ? undefined : new Date(Number(oldest[1])), givenUp };
  }

  #ofTarget(target: string, what: string): string {
    return `${this.#tag}:outgoing:${target}:${what}`;
  }

  #keys(target: string, recordId: string) {
    return { list: this.#ofTarget(target, `of:${recordId}`), due: this.#ofTarget(target, 'due') };
  }

  #all(target: string, recordId: string): string[] {
    const { list, due } = this.#keys(target, recordId);
    return [list, due, this.#ofTarget(target, `given-up-of:${recordId}`), this.#ofTarget(target, 'given-up')];
  }
}
