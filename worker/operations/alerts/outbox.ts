import { randomUUID } from 'node:crypto';
import type { ChainableCommander } from 'ioredis';
import { z } from 'zod';
import type { Log } from '../../../core/ports.ts';
import type { RedisClient } from '../../redis/client.ts';
import { globalTag } from '../../redis/keys.ts';
import { keepMs, Outbox } from '../outbox.ts';
import { type AlertGroup, Message, type Receiver } from './message.ts';

/** Keys that all receivers share: the texts of the alerts, and their journeys. All in one slot of a cluster. */
export const whatKey = `${globalTag}:alerts:what`;
export const journeysKey = (group: string): string => `${globalTag}:alerts:journeys:${group}`;

/** How many of an alert's journeys a message names. */
const mostJourneys = 5;

const Stored = z.object({ kind: z.string(), source: z.string(), why: z.string(), remedy: z.string() });

interface AlertOutboxOptions {
  redis: RedisClient;
  /** The shortest time between two messages to a receiver about the same alert. */
  againMs: number;
  now: () => Date;
  log: Log;
}

/** The queue of messages to one receiver of alerts. Equal alerts are counted until they are sent. */
export class AlertOutbox extends Outbox<Message> {
  readonly #options: AlertOutboxOptions;
  readonly #mostAlerts: number;

  constructor(receiver: Receiver, options: AlertOutboxOptions) {
    super(receiver, {
      ...options,
      prefix: `${globalTag}:alerts:${receiver.name}`,
      what: 'an alert',
      parse: (text) => Message.parse(JSON.parse(text)),
    });
    this.#options = options;
    this.#mostAlerts = receiver.mostAlerts;
  }

  /** For each group of equal alerts: how often it was raised since the last message, when first, and when the last message was sent. */
  get counted(): { count: string; first: string; sent: string } {
    return { count: this.key('count'), first: this.key('first'), sent: this.key('sent') };
  }

  count(batch: ChainableCommander, group: string, first: string): void {
    const keys = this.counted;
    batch.hsetnx(keys.first, group, first).hincrby(keys.count, group, 1);
    for (const key of Object.values(keys)) batch.pexpire(key, keepMs);
  }

  protected override async freeze(): Promise<string | undefined> {
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
      .slice(0, this.#mostAlerts);
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

  protected override settle(batch: ChainableCommander, message: Message): void {
    const groups: readonly AlertGroup[] = message.type === 'alert' ? message.alerts : [];
    const keys = this.counted;
    for (const { group, count } of groups) {
      batch.hincrby(keys.count, group, -count);
      batch.hset(keys.sent, group, this.#options.now().getTime());
      batch.hdel(keys.first, group);
    }
  }
}
