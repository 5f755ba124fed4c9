import { randomUUID } from 'node:crypto';
import type { ChainableCommander } from 'ioredis';
import { z } from 'zod';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import { nextStep } from '../../../core/retry.ts';
import type { RedisClient } from '../../redis/client.ts';
import { globalTag } from '../../redis/keys.ts';
import { releaseLock, takeLock } from '../../redis/lock.ts';
import { type AlertGroup, Message, type Receiver } from './message.ts';

/** Keys that all receivers share: the texts of the alerts, and their journeys. All in one slot of a cluster. */
export const whatKey = `${globalTag}:alerts:what`;
export const journeysKey = (group: string): string => `${globalTag}:alerts:journeys:${group}`;

/** How long unsent alerts are kept: a receiver that no configuration names any more leaves nothing behind. */
export const keepMs = 30 * 86_400_000;

/** How long a lock for sending holds: longer than an attempt takes. */
const lockMs = 120_000;
/** After a failed attempt the next one comes a minute later, at most an hour later after several, until the receiver takes the message. */
const patience = { firstMs: 60_000, longestMs: 3_600_000, forMs: Number.POSITIVE_INFINITY };
/** How many of an alert's journeys a message names. */
const mostJourneys = 5;

const Stored = z.object({ kind: z.string(), source: z.string(), why: z.string(), remedy: z.string() });
const Failing = z.object({ attempts: z.number(), until: z.number() });

interface OutboxOptions {
  redis: RedisClient;
  /** The shortest time between two messages to a receiver about the same alert. */
  againMs: number;
  now: () => Date;
  log: Log;
}

/**
 * The queue of messages to one receiver, shared by all processes. Equal alerts are counted until they are sent. A message is stored
 * before it is sent and stays first in the queue until the receiver takes it: a receiver that fails delays no other.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #receiver: Receiver;

  constructor(receiver: Receiver, options: OutboxOptions) {
    this.#receiver = receiver;
    this.#options = options;
  }

  /** A list of stored messages, the next one first. */
  get messages(): string {
    return this.#key('messages');
  }
  /** By group of equal alerts: how often raised since the last message, when first, and when the last message was sent. */
  get counted(): { count: string; first: string; sent: string } {
    return { count: this.#key('count'), first: this.#key('first'), sent: this.#key('sent') };
  }

  #key(part: string): string {
    return `${globalTag}:alerts:${this.#receiver.name}:${part}`;
  }

  count(batch: ChainableCommander, group: string, first: string): void {
    const keys = this.counted;
    batch.hsetnx(keys.first, group, first).hincrby(keys.count, group, 1);
    for (const key of Object.values(keys)) batch.pexpire(key, keepMs);
  }

  /** Sends the next message, if there is one and no wait is under way. One process at a time. @returns whether the receiver took a message */
  async send(): Promise<boolean> {
    const { redis } = this.#options;
    const token = randomUUID();
    if (!(await takeLock(redis, this.#key('lock'), token, lockMs))) return false;
    try {
      if (await this.#isLeftAlone()) return false;
      const text = (await redis.lindex(this.messages, 0)) ?? (await this.#freeze());
      if (text === undefined) return false;
      const message = Message.parse(JSON.parse(text));
      if (!(await this.#deliver(message))) return false;
      await this.#settle(message, text);
      return true;
    } finally {
      await releaseLock(redis, this.#key('lock'), token);
    }
  }

  async #isLeftAlone(): Promise<boolean> {
    const { until } = (await this.#failing()) ?? { until: 0 };
    const waitMs = until - this.#options.now().getTime();
    // A wait longer than the longest: the clock was set back since.
    return waitMs > 0 && waitMs <= 2 * 86_400_000;
  }

  async #failing(): Promise<z.output<typeof Failing> | undefined> {
    const text = await this.#options.redis.get(this.#key('failing'));
    return text === null ? undefined : Failing.parse(JSON.parse(text));
  }

  async #freeze(): Promise<string | undefined> {
    const { redis, againMs, now } = this.#options;
    const keys = this.counted;
    const [what, count, first, sent] = await Promise.all([
      redis.hgetall(whatKey),
      redis.hgetall(keys.count),
      redis.hgetall(keys.first),
      redis.hgetall(keys.sent),
    ]);
    const at = now();
    // Sent in the future: the clock was set back since.
    const isToTell = (group: string) =>
      Number(count[group] ?? 0) > 0 && Math.abs(at.getTime() - Number(sent[group] ?? 0)) >= againMs;
    const due = Object.entries(what)
      .filter(([group]) => isToTell(group))
      .slice(0, this.#receiver.mostAlerts);
    if (due.length === 0) return undefined;
    const alerts = due.map(async ([group, text]) => {
      // Raised while the message about it was being sent, and not since.
      const since = first[group] ?? new Date(Number(sent[group] ?? at)).toISOString();
      const journeys = await redis.zrangebyscore(journeysKey(group), Date.parse(since), '+inf');
      const about = { first: since, count: Number(count[group]), journeys: journeys.slice(-mostJourneys) };
      return { group, ...Stored.parse(JSON.parse(text)), ...about };
    });
    const all = await Promise.all(alerts);
    const text = JSON.stringify({ type: 'alert', id: `alert_${randomUUID()}`, at: at.toISOString(), alerts: all });
    await redis.multi().rpush(this.messages, text).pexpire(this.messages, keepMs).exec();
    return text;
  }

  async #deliver(message: Message): Promise<boolean> {
    const { redis, now, log } = this.#options;
    const { name, setting } = this.#receiver;
    try {
      await this.#receiver.deliver(message);
      return true;
    } catch (error) {
      const attempts = ((await this.#failing())?.attempts ?? 0) + 1;
      const retryAfter = adviceOf(error);
      const advice = retryAfter.kind === 'transient' ? retryAfter : { kind: 'transient' as const };
      const step = nextStep(advice, { attempt: attempts, elapsedMs: 0, doubts: 0 }, 1, patience);
      const waitMs = step.do === 'stop' ? patience.longestMs : step.delayMs;
      const failing = { attempts, until: now().getTime() + waitMs };
      await redis.set(this.#key('failing'), JSON.stringify(failing), 'PX', keepMs);
      const why = messageOf(error);
      log.warn({ receiver: name, why, attempts }, `an alert was not taken; it is sent again. Check ${setting}`);
      return false;
    }
  }

  async #settle(message: Message, text: string): Promise<void> {
    const { redis, now } = this.#options;
    const groups: readonly AlertGroup[] = message.type === 'alert' ? message.alerts : [];
    const keys = this.counted;
    const batch = redis.multi();
    for (const { group, count } of groups) {
      batch.hincrby(keys.count, group, -count);
      batch.hset(keys.sent, group, now().getTime());
      batch.hdel(keys.first, group);
    }
    await batch.lrem(this.messages, 1, text).del(this.#key('failing')).exec();
  }
}
