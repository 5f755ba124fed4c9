import { createHash, randomUUID } from 'node:crypto';
import type { Log, Ports } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import type { DigestTime } from './alerts/digest.ts';
import type { Alert, Message, SourceFigures } from './alerts/message.ts';
import { AlertOutbox, journeysKey, whatKey } from './alerts/outbox.ts';
import { type ReceiverSettings, receiversOf } from './alerts/receivers.ts';
import { beginMark, keepMs, queueOnce } from './outbox.ts';

export interface AlertSettings extends ReceiverSettings {
  /** The shortest time between two messages to a receiver about the same alert. */
  again: number;
  digest: DigestTime | false;
  /** Receivers of messages about answers only, by name. */
  receivers?: Readonly<Record<string, ReceiverSettings>> | undefined;
}

/** The settings of alerts. Alerts link to the page if the page has a public address. */
export function alertSettings({
  alerts,
  dashboard,
}: {
  alerts?: Omit<AlertSettings, 'page'> | undefined;
  dashboard: false | { publicUrl?: string | undefined };
}): AlertSettings | undefined {
  return alerts && { ...alerts, ...(dashboard && { page: dashboard.publicUrl }) };
}

/** The most journeys that an alert stores: the latest ones that it is about. */
const keptJourneys = 20;

/**
 * Deletes the alerts that every receiver got and that have not been raised for two periods since, so that the hashes don't grow.
 * KEYS alerts, then count, first and sent of each receiver · ARGV the time before which an alert must have been sent
 */
const forgetScript = `
for _, group in ipairs(redis.call('HKEYS', KEYS[1])) do
  local quiet = true
  for i = 2, #KEYS, 3 do
    local count = tonumber(redis.call('HGET', KEYS[i], group) or '0')
    local sent = tonumber(redis.call('HGET', KEYS[i + 2], group) or '0')
    if count > 0 or sent >= tonumber(ARGV[1]) then quiet = false end
  end
  if quiet then
    for i = 1, #KEYS do redis.call('HDEL', KEYS[i], group) end
  end
end`;

const digestKey = `${globalTag}:alerts:digest`;
const dayMs = 86_400_000;

/** Alerts a person of something in one source. */
export type AlertOfSource = ReturnType<Alerts['of']>;

/**
 * The alerts of all processes. An alert is stored at once and sent with others to every receiver, equal alerts at most once in
 * `again`; once a week each receiver gets a digest of what became of the closings.
 */
export class Alerts {
  readonly #redis: RedisClient;
  readonly #settings: AlertSettings | undefined;
  readonly #ports: Pick<Ports, 'fetch' | 'now'>;
  readonly #outboxes: readonly AlertOutbox[];

  constructor(redis: RedisClient, settings: AlertSettings | undefined, ports: Pick<Ports, 'fetch' | 'now'>, log: Log) {
    this.#redis = redis;
    this.#settings = settings;
    this.#ports = ports;
    const options = { redis, now: ports.now, log, againMs: settings?.again ?? 0 };
    const receivers = settings ? receiversOf(settings, ports, log) : [];
    this.#outboxes = receivers.map((receiver) => new AlertOutbox(receiver, options));
  }

  /** The alerts about one source. `journeys`: those that an alert is about, as `source/id`. */
  of(source: string) {
    return (kind: Alert['kind'], why: string, remedy: string, journeys?: Alert['journeys']): Promise<void> =>
      this.raise({ kind, source, why, remedy, journeys });
  }

  async raise({ kind, source, remedy, journeys = [], ...alert }: Alert): Promise<void> {
    if (this.#outboxes.length === 0) return;
    const why = redacted(alert.why);
    const reason = why.replace(/[\w-]+/g, (word) => (/\d/.test(word) ? '#' : word));
    const group = createHash('sha256').update(`${kind}|${source}|${reason}|${remedy}`).digest('base64url').slice(0, 22);
    const at = this.#ports.now();
    const batch = this.#redis.multi().hset(whatKey, group, JSON.stringify({ kind, source, why, remedy }));
    for (const journey of journeys.slice(-keptJourneys)) batch.zadd(journeysKey(group), at.getTime(), journey);
    batch.zremrangebyrank(journeysKey(group), 0, -1 - keptJourneys).pexpire(journeysKey(group), keepMs);
    for (const outbox of this.#outboxes) outbox.count(batch, group, at.toISOString());
    await batch.exec();
  }

  /** Sends the stored alerts. A message that can't be delivered is sent again at a later call. */
  async send(): Promise<void> {
    const sent = await Promise.all(this.#outboxes.map((outbox) => outbox.send()));
    if (!sent.includes(true) || !this.#settings) return;
    const counted = this.#outboxes.flatMap(({ counted: { count, first, sent } }) => [count, first, sent]);
    const before = this.#ports.now().getTime() - 2 * this.#settings.again;
    await runScript(this.#redis, forgetScript, [whatKey, ...counted], before);
  }

  /**
   * Queues the weekly digest for every receiver, in one process. A digest that was due while no process ran is sent late; one that
   * was due before the first start is not sent.
   */
  async digest(
    timeZone: string,
    figures: (week: { from: Date; until: Date }) => Promise<SourceFigures[]>,
  ): Promise<void> {
    if (!this.#settings?.digest || this.#outboxes.length === 0) return;
    const now = this.#ports.now();
    // Loaded here: commands that only read raise alerts too, and need no calendar.
    const { lastWeek } = await import('./alerts/digest.ts');
    const { from, until } = lastWeek(this.#settings.digest, timeZone, now);
    const last = (await this.#redis.get(digestKey)) ?? '';
    const due = String(until.getTime());
    // The last digest was of a week that is still to come: the clock was set back since then, or the day of the digest was changed.
    if (last !== '' && Number(last) >= until.getTime() && Number(last) <= now.getTime() + 7 * dayMs) return;
    if (last === '') return await beginMark(this.#redis, digestKey, due);
    const week = { from: from.toISOString(), until: until.toISOString(), timeZone };
    const message: Message = {
      type: 'digest',
      id: `digest_${randomUUID()}`,
      at: now.toISOString(),
      ...week,
      sources: await figures({ from, until }),
    };
    const lists = this.#outboxes.map(({ messages }) => messages);
    await queueOnce(this.#redis, { mark: digestKey, lists }, { last, period: due, text: JSON.stringify(message) });
  }
}
