import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { DataVersion, type KnownData } from '../redis/data-version.ts';
import { type Watch, watch } from './watch.ts';

/** How long a process that ends tries to tell the others so. Real time. */
const leaveMs = 1_000;

export interface HeldData extends Pick<Watch, 'lost'> {
  release(): Promise<void>;
}

/**
 * Announces that this process works on the data. Migrates older data first, after waiting for the processes that work on them.
 * @throws CloseloopError config for newer data
 */
export async function holdData(redis: RedisClient, known: KnownData, log: Log): Promise<HeldData> {
  const data = new DataVersion(redis, known);
  const watching = watch(
    () => data.announce(),
    (error) => log.debug({ why: messageOf(error) }, 'the version of the data could not be looked at'),
  );
  const release = async (): Promise<void> => {
    await watching.stop();
    // Redis may be away: a process that waits for this one counts it as ended within seconds.
    const left = data.leave().catch((error: unknown) => log.debug({ why: messageOf(error) }, 'left without a word'));
    await Promise.race([left, sleep(leaveMs, undefined, { ref: false })]);
  };
  try {
    await data.takeUp(
      (ms) => sleep(ms),
      (fields, message) => log.info(fields, message),
    );
    return { lost: watching.lost, release };
  } catch (error) {
    await release();
    throw error;
  }
}
