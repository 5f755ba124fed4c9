import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { send } from '../../core/connector/send.ts';
import { signStandardWebhook } from '../../core/connector/standard-webhook.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log, Ports } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { RedisClient } from '../redis/client.ts';
import { releaseLock, takeLock } from '../redis/lock.ts';

/** What a person has to know of: a source stopped, work was given up, webhooks were missed, a journey needs a decision. */
export interface Alert {
  kind: 'paused' | 'given-up' | 'missed' | 'parked' | 'to-do';
  source: string;
  /** No personal data. Alerts with the same reason and remedy are one, whatever ids and numbers are in it. */
  why: string;
  /** What to do about it. */
  remedy: string;
}

interface AlertSettings {
  url: string;
  secrets: readonly string[];
}

const Stored = z.object({
  kind: z.string(),
  source: z.string(),
  why: z.string(),
  remedy: z.string(),
  first: z.string(),
});
const Outbox = z.object({ id: z.string(), body: z.string(), counts: z.record(z.string(), z.number()) });

/** All in one slot of a cluster. */
const keys = {
  what: '{cl}:alerts:what',
  count: '{cl}:alerts:count',
  first: '{cl}:alerts:first',
  told: '{cl}:alerts:told',
  outbox: '{cl}:alerts:outbox',
};
/** The same again is told once a day, with how often it happened. */
const againMs = 86_400_000;
/** As many groups as a message holds; the others come with the next. */
const mostGroups = 100;
const timeoutMs = 20_000;
const lockMs = 60_000;

/**
 * Alerts over all processes: noted at once, sent together, each group once a day. What is being sent is frozen first, under
 * an id of its own, so that a receiver who got it twice can tell (Standard Webhooks).
 */
export class Alerts {
  readonly #redis: RedisClient;
  readonly #settings: AlertSettings | undefined;
  readonly #ports: Pick<Ports, 'fetch' | 'now'>;
  readonly #log: Log;

  constructor(redis: RedisClient, settings: AlertSettings | undefined, ports: Pick<Ports, 'fetch' | 'now'>, log: Log) {
    this.#redis = redis;
    this.#settings = settings;
    this.#ports = ports;
    this.#log = log;
  }

  async raise(alert: Alert): Promise<void> {
    if (!this.#settings) return;
    const { kind, source, remedy } = alert;
    const why = redacted(alert.why);
    const reason = why.replace(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word));
    const group = createHash('sha256').update(`${kind}|${source}|${reason}|${remedy}`).digest('base64url').slice(0, 22);
    const first = this.#ports.now().toISOString();
    await this.#redis.hsetnx(keys.first, group, first);
    await this.#redis.hset(keys.what, group, JSON.stringify({ ...alert, why, first }));
    await this.#redis.hincrby(keys.count, group, 1);
  }

  /** Sends what has come together. One process at a time; what can't be delivered is tried again at the next call. */
  async send(): Promise<void> {
    if (!this.#settings) return;
    const token = randomUUID();
    const lock = '{cl}:alerts:lock';
    if (!(await takeLock(this.#redis, lock, token, lockMs))) return;
    try {
      const message = (await this.#frozen()) ?? (await this.#freeze());
      if (message && (await this.#deliver(message, this.#settings))) await this.#settle(message);
    } finally {
      await releaseLock(this.#redis, lock, token);
    }
  }

  async #frozen(): Promise<z.output<typeof Outbox> | undefined> {
    const stored = await this.#redis.get(keys.outbox);
    return stored === null ? undefined : Outbox.parse(JSON.parse(stored));
  }

  async #freeze(): Promise<z.output<typeof Outbox> | undefined> {
    const [what, count, first, told] = await Promise.all([
      this.#redis.hgetall(keys.what),
      this.#redis.hgetall(keys.count),
      this.#redis.hgetall(keys.first),
      this.#redis.hgetall(keys.told),
    ]);
    const now = this.#ports.now();
    // Told in the future: the clock was set back since.
    const isToTell = (group: string) =>
      Number(count[group] ?? 0) > 0 && Math.abs(now.getTime() - Number(told[group] ?? 0)) >= againMs;
    const due = Object.entries(what)
      .filter(([group]) => isToTell(group))
      .slice(0, mostGroups);
    if (due.length === 0) return undefined;
    const alerts = due.map(([group, text]) => {
      const alert = Stored.parse(JSON.parse(text));
      return { ...alert, first: first[group] ?? alert.first, count: Number(count[group]) };
    });
    const message = {
      id: `alert_${randomUUID()}`,
      body: JSON.stringify({ type: 'closeloop.alert', timestamp: now.toISOString(), data: { alerts } }),
      counts: Object.fromEntries(due.map(([group]) => [group, Number(count[group])])),
    };
    await this.#redis.set(keys.outbox, JSON.stringify(message));
    return message;
  }

  async #deliver({ id, body }: z.output<typeof Outbox>, { url, secrets }: AlertSettings): Promise<boolean> {
    try {
      const headers = {
        'content-type': 'application/json',
        ...signStandardWebhook({ id, at: this.#ports.now(), body }, secrets),
      };
      const response = await send(this.#ports.fetch, url, { method: 'POST', headers, body }, { timeoutMs, head: 1 });
      if (response.ok) return true;
      this.#log.warn({ status: response.status }, 'an alert was not taken; it is sent again. Check alerts.url');
    } catch (error) {
      this.#log.warn({ why: messageOf(error) }, 'an alert could not be sent; it is sent again. Check alerts.url');
    }
    return false;
  }

  async #settle({ counts }: z.output<typeof Outbox>): Promise<void> {
    const now = this.#ports.now().getTime();
    const batch = this.#redis.multi();
    for (const [group, n] of Object.entries(counts)) {
      batch.hincrby(keys.count, group, -n);
      batch.hset(keys.told, group, now);
      batch.hdel(keys.first, group);
    }
    batch.del(keys.outbox);
    await batch.exec();
    // What has been quiet since is forgotten a day later, so that these hashes don't grow.
    const [told, waiting] = await Promise.all([this.#redis.hgetall(keys.told), this.#redis.hgetall(keys.count)]);
    const isQuiet = ([group, at]: [string, string]) =>
      Number(at) + 2 * againMs < now && Number(waiting[group] ?? 0) === 0;
    const old = Object.entries(told)
      .filter(isQuiet)
      .map(([group]) => group);
    if (old.length > 0)
      for (const key of [keys.what, keys.count, keys.first, keys.told]) await this.#redis.hdel(key, ...old);
  }
}
