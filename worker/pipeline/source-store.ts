import type { Config } from '../config/config.ts';
import { CapSlots } from '../journey/cap-slots.ts';
import { ContactMemory } from '../journey/contacts.ts';
import { Erasures } from '../journey/erasures.ts';
import { createSnapshotStore } from '../journey/snapshots.ts';
import { JourneyStore } from '../journey/store.ts';
import type { RedisClient } from '../redis/client.ts';
import { spaceOf, tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import type { Journeys } from './context.ts';
import { longestThrottle, prefersLatest, throttlesOf } from './policy/throttle.ts';

type StoreOptions = Omit<ConstructorParameters<typeof JourneyStore>[2], 'seal'> & {
  config: Config;
  redis: RedisClient;
  seal: Seal;
};

/** The source's data in Redis. @param source the name that it is stored under */
export function storedOf(
  source: string,
  { config, redis, ...store }: StoreOptions,
): Pick<Journeys, 'store' | 'erasures' | 'snapshots' | 'contacts' | 'caps' | 'seal'> {
  const { seal } = store;
  const rules = config.sources.flatMap((one) => one.rules);
  const throttles = throttlesOf(rules, config.policy);
  return {
    store: new JourneyStore(redis, source, store),
    erasures: new Erasures(redis, source, seal),
    snapshots: createSnapshotStore(redis, { tag: tagOf(source), keepMs: config.retention.journeys, seal }),
    contacts: new ContactMemory(
      redis,
      seal,
      longestThrottle(throttles),
      throttles.some(prefersLatest),
      spaceOf(source),
    ),
    caps: new CapSlots(redis, spaceOf(source)),
    seal,
  };
}
