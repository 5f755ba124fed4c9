import { setTimeout as sleep } from 'node:timers/promises';
import { type CloseloopError, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { Rounds } from '../pipeline/rounds.ts';
import type { RedisClient } from '../redis/client.ts';
import { DataVersion, type KnownData } from '../redis/data-version.ts';

/** Real time; data-version.ts counts on it. */
const everyMs = 1_000;

export interface HeldData {
  /** Resolves with the reason why this process must end, as a newer closeloop takes the data up, and never otherwise. */
  lost: Promise<CloseloopError>;
  release(): Promise<void>;
}

/**
 * Works on the data from now on: takes older ones up first, and waits for the processes that still work on those.
 * @throws CloseloopError config for newer data
 */
export async function holdData(redis: RedisClient, known: KnownData, log: Log): Promise<HeldData> {
  const data = new DataVersion(redis, known);
  const { promise: lost, resolve } = Promise.withResolvers<CloseloopError>();
  const rounds = new Rounds(
    async () => {
      const flaw = await data.tell();
      if (flaw) resolve(flaw);
    },
    (error) => log.debug({ why: messageOf(error) }, 'the version of the data could not be looked at'),
  );
  const release = async (): Promise<void> => {
    await rounds.stop(everyMs);
    // Redis may be away: whoever waits for this process gives it up within seconds.
    const left = data.leave().catch((error: unknown) => log.debug({ why: messageOf(error) }, 'left without a word'));
    await Promise.race([left, sleep(everyMs, undefined, { ref: false })]);
  };
  try {
    rounds.start(everyMs);
    await data.takeUp(
      (ms) => sleep(ms),
      (fields, message) => log.info(fields, message),
    );
    return { lost, release };
  } catch (error) {
    await release();
    throw error;
  }
}
