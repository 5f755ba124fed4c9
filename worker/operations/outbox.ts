import { randomUUID } from 'node:crypto';
import type { ChainableCommander } from 'ioredis';
import { z } from 'zod';
import { adviceOf, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { nextStep } from '../../core/retry.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { releaseLock, takeLock } from '../redis/lock.ts';

/** How long unsent messages are kept: a receiver that no configuration names any more leaves nothing behind. */
export const keepMs = 30 * 86_400_000;
/** How long Redis remembers the last period that was sent: longer than any period. */
const keepMarkMs = 400 * 86_400_000;
/** How long a lock for sending holds, unless told otherwise: longer than an attempt takes. */
const usualLockMs = 120_000;
/** After a failed attempt the next one comes a minute later, at most an hour later after several, until the receiver takes the message. */
const patience = { firstMs: 60_000, longestMs: 3_600_000, forMs: Number.POSITIVE_INFINITY };

const Failing = z.object({ attempts: z.number(), until: z.number() });

/** A receiver of messages. */
export interface Receiver<Message> {
  /** In the log. No personal data. */
  name: string;
  /** The setting that names the receiver, for error messages. */
  setting: string;
  /** Sends one message, in one attempt. @throws CloseloopError that says what was wrong, without quoting the message */
  deliver(message: Message): Promise<void>;
}

export interface OutboxOptions<Message> {
  redis: RedisClient;
  /** Beginning of the keys. All keys of outboxes that are written together lie in one slot of a cluster. */
  prefix: string;
  /** The word for a message in the log: "an alert". */
  what: string;
  parse(text: string): Message;
  now: () => Date;
  log: Log;
  /** How long sending one message may take: no other process sends meanwhile. */
  lockMs?: number;
  /** After each attempt that failed. */
  onFailure?: (failure: { attempts: number; why: string }) => Promise<void>;
}

/**
 * The queue of messages to one receiver, shared by all processes. A message is stored before it is sent and stays first in the queue until
 * the receiver takes it: a receiver that fails delays no other.
 */
export class Outbox<Message> {
  readonly #options: OutboxOptions<Message>;
  readonly #receiver: Receiver<Message>;

  constructor(receiver: Receiver<Message>, options: OutboxOptions<Message>) {
    this.#receiver = receiver;
    this.#options = options;
  }

  /** A list of stored messages, the next one first. */
  get messages(): string {
    return this.key('messages');
  }

  protected key(part: string): string {
    return `${this.#options.prefix}:${part}`;
  }

  /** Sends the next message, if there is one and no wait is under way. One process at a time. @returns whether the receiver took a message */
  async send(): Promise<boolean> {
    const { redis, lockMs = usualLockMs, parse } = this.#options;
    const token = randomUUID();
    if (!(await takeLock(redis, this.key('lock'), token, lockMs))) return false;
    try {
      if (await this.#isLeftAlone()) return false;
      const text = (await redis.lindex(this.messages, 0)) ?? (await this.freeze());
      if (text === undefined) return false;
      const message = parse(text);
      if (!(await this.#deliver(message))) return false;
      const batch = redis.multi();
      this.settle(batch, message);
      await batch.lrem(this.messages, 1, text).del(this.key('failing')).exec();
      return true;
    } finally {
      await releaseLock(redis, this.key('lock'), token);
    }
  }

  /** Makes a message of what is to be told, and stores it; undefined: there is nothing. */
  protected async freeze(): Promise<string | undefined> {
    return undefined;
  }

  /** Adds to the batch what else changes once the receiver has taken the message. */
  protected settle(_batch: ChainableCommander, _message: Message): void {}

  async #isLeftAlone(): Promise<boolean> {
    const { until } = (await this.#failing()) ?? { until: 0 };
    const waitMs = until - this.#options.now().getTime();
    // A wait longer than the longest: the clock was set back since.
    return waitMs > 0 && waitMs <= 2 * 86_400_000;
  }

  async #failing(): Promise<z.output<typeof Failing> | undefined> {
    const text = await this.#options.redis.get(this.key('failing'));
    return text === null ? undefined : Failing.parse(JSON.parse(text));
  }

  async #deliver(message: Message): Promise<boolean> {
    const { redis, now, log, what, onFailure } = this.#options;
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
      await redis.set(this.key('failing'), JSON.stringify(failing), 'PX', keepMs);
      const why = messageOf(error);
      log.warn({ receiver: name, why, attempts }, `${what} was not taken; it is sent again. Check ${setting}`);
      await onFailure?.({ attempts, why });
      return false;
    }
  }
}

/**
 * Queues a message about a period; of several processes the first does. KEYS mark, then each receiver's messages · ARGV the period that was
 * told last, this one, the message, ms to keep it, ms to keep the mark
 */
const queueScript = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[5])
for i = 2, #KEYS do
  redis.call('RPUSH', KEYS[i], ARGV[3])
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
return 1`;

/** Queues a message about a period for all these receivers, unless the mark shows that another process has queued it. @param last the mark as it was read */
export async function queueOnce(
  redis: RedisClient,
  { mark, lists }: { mark: string; lists: readonly string[] },
  { last, period, text }: { last: string; period: string; text: string },
): Promise<void> {
  await runScript(redis, queueScript, [mark, ...lists], last, period, text, keepMs, keepMarkMs);
}

/** Begins the mark. Nobody gets the first period that a process sees: it was over before there was a receiver. */
export async function beginMark(redis: RedisClient, mark: string, period: string): Promise<void> {
  await redis.set(mark, period, 'PX', keepMarkMs, 'NX');
}
