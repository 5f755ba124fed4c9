import { createHash, randomUUID } from 'node:crypto';
import type { Log, Ports } from '../../core/ports.ts';
import { redacted } from '../../core/redaction.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import { runScript } from '../redis/script.ts';
import type { DigestTime } from './alerts/digest.ts';
import type { Alert, Message, SourceFigures } from './alerts/message.ts';
import { journeysKey, keepMs, Outbox, whatKey } from './alerts/outbox.ts';
import { type ReceiverSettings, receiversOf } from './alerts/receivers.ts';

export interface AlertSettings extends ReceiverSettings {
  /** The same again is told only after this time. */
  again: number;
  digest: DigestTime | false;
}

/** Kept of the journeys that an alert is about, the latest ones. */
const keptJourneys = 20;

/**
 * What was told to all receivers and has been quiet for two periods since is forgotten, so that the hashes don't grow.
 * KEYS what, then count, first and told of each receiver · ARGV told before when it is forgotten
 */
const forgetScript = `
for _, group in ipairs(redis.call('HKEYS', KEYS[1])) do
  local quiet = true
  for i = 2, #KEYS, 3 do
    local count = tonumber(redis.call('HGET', KEYS[i], group) or '0')
    local told = tonumber(redis.call('HGET', KEYS[i + 2], group) or '0')
    if count > 0 or told >= tonumber(ARGV[1]) then quiet = false end
  end
  if quiet then
    for i = 1, #KEYS do redis.call('HDEL', KEYS[i], group) end
  end
end`;

/** KEYS digest, then each receiver's messages · ARGV what was due last, what is due, the message, ms to keep. One process is first. */
const digestScript = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
for i = 2, #KEYS do
  redis.call('RPUSH', KEYS[i], ARGV[3])
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
return 1`;

const digestKey = `${globalTag}:alerts:digest`;
const dayMs = 86_400_000;

/**
 * Alerts over all processes: noted at once, sent together to every receiver, each group once in a while (`again`); and once a
 * week what became of the closings.
 */
export class Alerts {
  readonly #redis: RedisClient;
  readonly #settings: AlertSettings | undefined;
  readonly #ports: Pick<Ports, 'fetch' | 'now'>;
  readonly #outboxes: readonly Outbox[];

  constructor(redis: RedisClient, settings: AlertSettings | undefined, ports: Pick<Ports, 'fetch' | 'now'>, log: Log) {
    this.#redis = redis;
    this.#settings = settings;
    this.#ports = ports;
    const options = { redis, now: ports.now, log, againMs: settings?.again ?? 0 };
    const receivers = settings ? receiversOf(settings, ports, log) : [];
    this.#outboxes = receivers.map((receiver) => new Outbox(receiver, options));
  }

  /** For all that is raised about one source. */
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

  /** Sends what has come together. What can't be delivered is tried again at a later call. */
  async send(): Promise<void> {
    const sent = await Promise.all(this.#outboxes.map((outbox) => outbox.send()));
    if (!sent.includes(true) || !this.#settings) return;
    const counted = this.#outboxes.flatMap(({ counted: { count, first, told } }) => [count, first, told]);
    const before = this.#ports.now().getTime() - 2 * this.#settings.again;
    await runScript(this.#redis, forgetScript, [whatKey, ...counted], before);
  }

  /**
   * Once a week: the digest is put in line for every receiver, by one process. What was due before the first start is not
   * made up for, what was due while nothing ran is.
   */
  async digest(
    timeZone: string,
    figures: (week: { from: Date; until: Date }) => Promise<SourceFigures[]>,
  ): Promise<void> {
    if (!this.#settings?.digest || this.#outboxes.length === 0) return;
    const now = this.#ports.now();
    // Loaded here: commands that only look raise alerts too, and need no calendar.
    const { lastWeek } = await import('./alerts/digest.ts');
    const { from, until } = lastWeek(this.#settings.digest, timeZone, now);
    const last = (await this.#redis.get(digestKey)) ?? '';
    const due = String(until.getTime());
    // Done for a week that is still to come: the clock was set back since, or the day was changed.
    if (last !== '' && Number(last) >= until.getTime() && Number(last) <= now.getTime() + 7 * dayMs) return;
    if (last === '') return void (await this.#redis.set(digestKey, due, 'NX'));
    const week = { from: from.toISOString(), until: until.toISOString(), timeZone };
    const message: Message = {
      type: 'digest',
      id: `digest_${randomUUID()}`,
      at: now.toISOString(),
      ...week,
      sources: await figures({ from, until }),
    };
    const lists = this.#outboxes.map(({ messages }) => messages);
    await runScript(this.#redis, digestScript, [digestKey, ...lists], last, due, JSON.stringify(message), keepMs);
  }
}
