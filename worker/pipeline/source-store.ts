import type { Config } from '../config/config.ts';
import { RecordAliases } from '../journey/aliases.ts';
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

/** The source's data in Redis. */
export function storedOf(
  name: string,
  { config, redis, ...store }: StoreOptions,
): Pick<Journeys, 'store' | 'erasures' | 'snapshots' | 'contacts' | 'caps' | 'seal' | 'aliases'> {
  const { seal } = store;
  const kept = { keepMs: config.retention.journeys, seal };
  const rules = config.sources.flatMap((source) => source.rules);
  const throttles = throttlesOf(rules, config.policy);
  return {
    store: new JourneyStore(redis, name, store),
    erasures: new Erasures(redis, name, seal),
    snapshots: createSnapshotStore(redis, { tag: tagOf(name), ...kept }),
    contacts: new ContactMemory(redis, seal, longestThrottle(throttles), throttles.some(prefersLatest), spaceOf(name)),
    caps: new CapSlots(redis, spaceOf(name)),
    seal,
    aliases: new RecordAliases(redis, name, kept),
  };
}
