import { setTimeout as sleep } from 'node:timers/promises';
import { type CloseloopError, messageOf, refusal } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { Rounds } from '../pipeline/rounds.ts';
import type { RedisClient } from '../redis/client.ts';
import type { DataKey } from '../redis/data-key.ts';
import { DataVersion, type KnownData } from '../redis/data-version.ts';
import { alertsOf } from './alerts-of.ts';
import type { Runtime } from './runtime.ts';

/** Time between two checks. data-version.ts relies on it; a process with another key can store data with it for this long. Real time. */
const everyMs = 1_000;

export interface Watch {
  /** Resolves with the reason why this process must end; never otherwise. */
  lost: Promise<CloseloopError>;
  stop(): Promise<void>;
}

/** Checks once a second whether this process may go on. @param check returns the reason why it may not */
function watch(check: () => Promise<CloseloopError | undefined>, onError: (error: unknown) => void): Watch {
  const { promise: lost, resolve } = Promise.withResolvers<CloseloopError>();
  const rounds = new Rounds(async () => {
    const why = await check();
    if (why) resolve(why);
  }, onError);
  rounds.start(everyMs);
  return { lost, stop: () => rounds.stop(everyMs) };
}

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

const emptied = 'Redis was emptied, or replaced by an empty one, while closeloop ran: the journeys in it are gone';
const emptiedRemedy =
  'stop closeloop and restore the backup of Redis; without one go on: what is stored from now on stays readable, closings that waited are found by "closeloop backfill", and whoever was asked is looked for at the service first';

/**
 * Watches the installation's key: two processes with different keys would not find each other's journeys, and ask twice. After Redis
 * was emptied under a running process the key is stored again at once, and with it what the data of the sources is stored under: a process
 * that starts next would look for it elsewhere. Where another process has begun with another key, this process ends.
 */
export function watchKey(key: DataKey, noteSources: () => Promise<void>, runtime: Runtime, log: Log): Watch {
  return watch(
    async () => {
      const found = await key.check();
      if (found === 'same') return undefined;
      if (found === 'another') return another();
      log.error({ remedy: emptiedRemedy }, emptied);
      await alertsOf(runtime, log).raise({ kind: 'to-do', source: 'closeloop', why: emptied, remedy: emptiedRemedy });
      await noteSources();
      return undefined;
    },
    (error) => log.debug({ why: messageOf(error) }, "the installation's key could not be looked at"),
  );
}

function another(): CloseloopError {
  return refusal(
    'Redis was emptied or replaced while this process ran, and holds the key of an installation that began anew: start this ' +
      'process again, and see that "redis" (or REDIS_URL) names the Redis that is meant. What it has stored meanwhile stays readable there',
  );
}
