import { CloseloopError, isCode, messageOf } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';

/** The names of ioredis' own errors: the connection was lost, or no node of a cluster answers. */
const clientErrors = new Set(['AbortError', 'MaxRetriesPerRequestError', 'ClusterAllFailedError']);
const clientMessages = /Connection is closed|Stream isn't writeable|Too many Cluster redirections|Socket timeout/;

/** Codes with which Redis itself refuses for a while (redis.io/docs/latest/develop/reference/protocol-spec, src/server.c). */
const refusals =
  /\b(OOM|MISCONF|READONLY|LOADING|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|BUSY|UNBLOCKED)\b/;

/**
 * Whether an error is about Redis and not about the work: Redis is full, on a full disk, just started, a replica now, or does not answer.
 * Callers wait until Redis works again; the error says nothing about a job, and costs no attempt.
 */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'ReplyError') return refusals.test(replyOf(error));
  return clientErrors.has(error.name) || clientMessages.test(error.message);
}

/** An error of a call to Redis, for people: the client's own errors speak of its streams and queues. */
export function redisInWords(error: unknown): string {
  const isClients = isRedisUnavailable(error) && error instanceof Error && error.name !== 'ReplyError';
  return isClients ? 'Redis does not answer' : messageOf(error);
}

/** What Redis answered; for a transaction that it discarded, why it refused the commands in it. */
function replyOf({ message, ...more }: Error): string {
  return [
    message,
    ...('previousErrors' in more && Array.isArray(more.previousErrors) ? more.previousErrors : []),
  ].join();
}

/**
 * Whether an error says that this worker lost the job: the process stood still for longer than the job's lock lasts, and another worker has the job.
 * In BullMQ (src/classes/finished-errors.ts, lock-manager.ts) only the message identifies this error.
 */
export function isLostLock(error: unknown): boolean {
  return error instanceof Error && /^(?:could not renew lock|Missing lock|Lock mismatch) for job /.test(error.message);
}

/** Fails while Redis accepts no writes for keys of this tag. */
export async function probe(redis: RedisClient, tag: string): Promise<void> {
  await redis.set(`${tag}:probe`, 1, 'PX', 60_000);
}

/** Redis has not answered in the time that a person or a shutdown waits for it, or it refuses for a while. */
export class RedisAway extends CloseloopError {
  override readonly name = 'RedisAway';

  constructor(message = 'Redis does not answer: check "redis" in the configuration, or REDIS_URL.', cause?: unknown) {
    super(message, { kind: 'transient' }, { outcome: 'never-sent', cause });
  }
}

/** By the code with which Redis refuses: why, and what a person does about it. */
const whyRefused = [
  ['OOM', 'its memory is full: raise its maxmemory'],
  ['MISCONF', "it can't write to its disk: make room there"],
  ['NOREPLICAS', 'too few of its replicas are there: start them'],
] as const;

/** Says in a sentence that Redis is in trouble, and what to do about it; undefined for an error about anything else. */
export function redisTrouble(error: unknown): RedisAway | undefined {
  if (error instanceof CloseloopError || !isRedisUnavailable(error)) return undefined;
  // Node's own abort, not that of ioredis: a person has interrupted a question.
  if (isCode(error, 'ABORT_ERR')) return undefined;
  if (!(error instanceof Error) || error.name !== 'ReplyError') return new RedisAway(undefined, error);
  const reply = replyOf(error);
  const known = whyRefused.find(([code]) => reply.includes(code));
  const why = known?.[1] ?? `it answers "${error.message}": see to that`;
  return new RedisAway(`Redis takes no writes, as ${why}, then give the command again.`, error);
}

export class TooLate extends Error {}

/** @throws TooLate when Redis has not answered after `ms` */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new TooLate(`Redis did not answer within ${ms} ms`));
    // After a suspension of the process Redis' answer may have arrived unread, so it is read first.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** @throws RedisAway when Redis has not answered after `ms`, for a person who waits; the error of `work` */
export async function withinPatience<T>(ms: number, work: Promise<T>): Promise<T> {
  return await within(ms, work).catch((error: unknown) => {
    throw error instanceof TooLate ? new RedisAway() : error;
  });
}

/** @throws RedisAway when Redis has not answered after `ms`, or is in trouble. A refusal of Redis is an answer. */
export async function answersWithin(redis: RedisClient, ms: number): Promise<void> {
  const answered = redis.ping().catch((error: unknown) => {
    if (isRedisUnavailable(error)) throw new RedisAway();
  });
  await withinPatience(ms, answered);
}
