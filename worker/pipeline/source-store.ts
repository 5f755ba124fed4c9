import type { Config } from '../config/config.ts';
import { actionLimit } from '../journey/action-limit.ts';
import { capSlots } from '../journey/cap-slots.ts';
import { ContactMemory } from '../journey/contacts.ts';
import { Erasures } from '../journey/erasures.ts';
import { FollowUpLists } from '../journey/follow-up-lists.ts';
import type { TellsOthers } from '../journey/outgoing.ts';
import { createSnapshotStore } from '../journey/snapshots.ts';
import { JourneyStore } from '../journey/store.ts';
import type { RedisClient } from '../redis/client.ts';
import { isDryRun, spaceOf, tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { eraseIfForgotten } from './erasure-guard.ts';
import type { StoredSource } from './policy/known-as.ts';
import { longestThrottle, prefersLatest, throttlesOf } from './policy/throttle.ts';
import { targetsOf } from './targets.ts';

type StoreOptions = Omit<ConstructorParameters<typeof JourneyStore>[2], 'seal' | 'eraseIfForgotten' | 'tells'> & {
  config: Config;
  redis: RedisClient;
  seal: Seal;
  /** Called when an outgoing event was stored. Left out: the next sweep of a worker sends the event. */
  onOutgoing?: (target: string, source: string, recordId: string) => Promise<void>;
};

/** The stores of a source's journeys, and of the people whom the journeys are about. */
export type Journeys = ReturnType<typeof storedOf>;

/** The source's data in Redis. */
export function storedOf(
  { storedAs: source, account }: StoredSource,
  { config, redis, onOutgoing, ...store }: StoreOptions,
) {
  const { seal } = store;
  const rules = config.sources.flatMap((one) => one.rules);
  const throttles = throttlesOf(rules, config.policy);
  const people = {
    erasures: new Erasures(redis, source, seal),
    contacts: new ContactMemory(
      redis,
      seal,
      longestThrottle(throttles),
      throttles.some(prefersLatest),
      spaceOf(source),
    ),
    caps: capSlots(redis, spaceOf(source)),
  };
  const targets = isDryRun(source) ? [] : targetsOf(config);
  const onStored: TellsOthers['onStored'] = async (target, recordId) => await onOutgoing?.(target, source, recordId);
  const journeys: JourneyStore = new JourneyStore(redis, source, {
    ...store,
    tells: targets.length === 0 ? undefined : { targets, onStored },
    eraseIfForgotten: (journey) =>
      eraseIfForgotten(journey, { storedAs: source, account, store: journeys, ...people, clock: store }),
  });
  return {
    ...people,
    store: journeys,
    /** The newest snapshot of each record, as events carried it. */
    snapshots: createSnapshotStore(redis, { tag: tagOf(source), keepMs: config.retention.journeys, seal }),
    seal,
    actions: actionLimit(redis, source),
    followUps: new FollowUpLists(redis, source),
  };
}
