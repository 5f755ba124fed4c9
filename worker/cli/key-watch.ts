import { type CloseloopError, messageOf, refusal } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { DataKey } from '../redis/data-key.ts';
import { alertsOf } from './alerts-of.ts';
import type { Runtime } from './runtime.ts';
import { type Watch, watch } from './watch.ts';

const emptied = 'Redis was emptied, or replaced by an empty one, while closeloop ran: the journeys in it are gone';
const emptiedRemedy =
  'stop closeloop and restore the backup of Redis; without one go on: what is stored from now on stays readable, closings that waited are found by "closeloop backfill", and whoever was asked is looked for at the service first';

/**
 * Watches the installation's key: two processes with different keys would not find each other's journeys, and ask twice. After Redis
 * was emptied under a running process the key is stored again at once; where another process has begun with another key, this process
 * ends.
 */
export function watchKey(key: DataKey, runtime: Runtime, log: Log): Watch {
  return watch(
    async () => {
      const found = await key.check();
      if (found === 'same') return undefined;
      if (found === 'another') return another();
      log.error({ remedy: emptiedRemedy }, emptied);
      await alertsOf(runtime, log).raise({ kind: 'to-do', source: 'closeloop', why: emptied, remedy: emptiedRemedy });
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
