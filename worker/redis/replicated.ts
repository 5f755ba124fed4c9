import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloseloopError } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';
import { shared } from './shared.ts';

/** How long a write waits for a replica before it counts as not replicated. Real time. */
const waitMs = 1_000;
/** How long closeloop assumes that a server without replicas still has none. Real time. */
const retryMs = 1_000;
/** A replica that has been silent for this long counts as gone: Redis' own default of min-replicas-max-lag. */
const goneAfterSeconds = 10;
const keepMs = 60_000;

/**
 * Resolves when every earlier, acknowledged write to keys of this tag is also on a replica, where the server has one: Redis replicates
 * after it replies (redis.io/docs/latest/commands/wait), so that a failover loses the last writes. Undefined where no replica works:
 * there is no failover then, and nothing to wait for.
 * @throws CloseloopError transient, when a replica is connected and doesn't keep up; or the error of the connection
 */
export type Replicated = (tag: string) => Promise<void> | undefined;

/** @param redis a separate connection for WAIT, opened when needed: WAIT blocks the commands after it */
export function createReplicated(redis: () => RedisClient): Replicated {
  const name = randomUUID();
  const rounds = new Map<string, ReturnType<typeof roundsOf>>();
  return (tag) => {
    const known = rounds.get(tag) ?? roundsOf(redis, `${tag}:replicated:${name}`);
    rounds.set(tag, known);
    return known();
  };
}

/**
 * Waits for a replica that is behind, as long as it takes: for work that can't be put off.
 * @param onWait called once, with the reason for the wait
 */
export async function untilReplicated(
  replicated: Replicated,
  tag: string,
  onWait: (why: CloseloopError) => void,
): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await replicated(tag);
    } catch (error) {
      if (!(error instanceof CloseloopError)) throw error;
      if (!isTold) onWait(error);
      await sleep(waitMs);
    }
  }
}

/**
 * A replica receives writes in order: a marker that is written now arrives after all earlier writes. The marker is read back, because
 * after a lost connection the client may have sent WAIT to another server, which has not received the writes.
 */
function roundsOf(open: () => RedisClient, key: string): () => Promise<void> | undefined {
  let aloneUntil = 0;
  const isAlone = () => Date.now() < aloneUntil;
  const round = shared(async () => {
    if (isAlone()) return;
    const redis = open();
    // This command is sent alone: a command with a key follows a slot that has moved to another node of a cluster, and updates the slots. A
    // pipeline that also holds commands without a key would be sent to the old node for ever, and fail.
    await redis.exists(key);
    // In a cluster, commands without a key are sent to the node of their pipeline's key.
    const [info] = await results(redis.pipeline().call('INFO', 'replication').exists(key));
    if (!hasReplica(String(info))) {
      aloneUntil = Date.now() + retryMs;
      return;
    }
    const token = randomUUID();
    const written = redis.pipeline().set(key, token, 'PX', keepMs).call('WAIT', 1, waitMs).get(key);
    const [, replicas, found] = await results(written);
    if (Number(replicas) >= 1 && found === token) return;
    throw new CloseloopError(
      `No replica of Redis took a write within ${waitMs} ms: a failover now would lose it`,
      { kind: 'transient', retryAfterMs: waitMs, throttled: true },
      { outcome: 'never-sent' },
    );
  });
  return () => (isAlone() ? undefined : round());
}

async function results(pipeline: ReturnType<RedisClient['pipeline']>): Promise<unknown[]> {
  return ((await pipeline.exec()) ?? []).map(([error, result]) => {
    if (error) throw error;
    return result;
  });
}

/** INFO's lines `slave0:ip=…,port=…,state=online,offset=…,lag=<seconds since it last spoke>`. */
export function hasReplica(info: string): boolean {
  return [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(-?\d+)/gm)].some(
    ([, lag]) => Number(lag) >= 0 && Number(lag) <= goneAfterSeconds,
  );
}

/** After a failover this server is no longer the master: the client reconnects to the new master, and with `2` sends the command again there. */
export function isReplicaNow(error: Error): 2 | false {
  return error.message.startsWith('READONLY') ? 2 : false;
}
