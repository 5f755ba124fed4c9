import { z } from 'zod';
import { neverSent } from '../../core/errors.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { dataVersion, type KnownData, type Migration } from '../redis/data-version.ts';
import { globalTag, knownSourcesKey, tagOf } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';
import { answeredAt, JourneyKeys } from './journey-keys.ts';
import { changingLists } from './list-scripts.ts';
import { type ListEntry, stateLists } from './state-lists.ts';
import { journeyStates } from './states.ts';
import { JourneyReader } from './stored-journey.ts';

/** @param openSeal of the installation: only data that are migrated are opened */
export function knownData(closeloop: string, openSeal: () => Promise<Seal>): KnownData {
  const migrations = new Map<number, Migration>([
    [2, onlyOfTheLastLayout],
    [3, async (redis) => await listAnswers(redis, await openSeal())],
  ]);
  return { version: dataVersion, migrations, closeloop };
}

/**
 * Version 1 was given to several layouts before the first release. Data of the last of them are data of version 2; the earlier ones kept
 * every list of a state as one sorted set, without a count beside it.
 */
const onlyOfTheLastLayout: Migration = async (redis) => {
  for (const source of await redis.hkeys(knownSourcesKey)) {
    for (const state of ['skipped', 'asked', 'answered', 'written', 'cancelled', 'expired', 'failed', 'parked']) {
      const list = `${tagOf(source)}:state:${state}`;
      if ((await redis.exists(list)) === 0 || (await redis.exists(`${list}:count`)) === 1) continue;
      throw neverSent(
        `The data in this Redis are of a closeloop from before the first release, which nothing takes up: source ${source} has lists of another layout. ` +
          'Use an empty Redis, or restore the copy from before the upgrade for that closeloop (docs/upgrade.md)',
      );
    }
  }
};

/** Behind which journey of which list `listAnswers` continues after a kill. */
const placeKey = `${globalTag}:listing-answers`;
const Place = z.object({ source: z.string(), state: z.enum(journeyStates), id: z.string(), at: z.number() });

/** The journeys that are in memory at once, and in one script. */
const pageSize = 200;

/** KEYS list of answers · ARGV instant and id of each… */
const enlistScript = `${changingLists}
for i = 1, #ARGV, 2 do enlist(KEYS[1], ARGV[i], ARGV[i + 1]) end`;

/**
 * Version 3 has each source's answers in a list by when they came. The answers of journeys that were stored before there was that list
 * are put into it; what is in it stays as it is.
 */
async function listAnswers(redis: RedisClient, seal: Seal): Promise<void> {
  const noted = await redis.get(placeKey);
  const place = noted === null ? undefined : Place.parse(JSON.parse(noted));
  const sources = (await redis.hkeys(knownSourcesKey)).sort();
  const lists = sources.flatMap((source) => journeyStates.map((state) => ({ source, state })));
  const begin = lists.findIndex(({ source, state }) => source === place?.source && state === place.state);
  for (const [n, list] of lists.slice(Math.max(0, begin)).entries()) {
    const from = place && begin >= 0 && n === 0 ? place : { id: '', at: 0 };
    for await (const { id, at } of listingAnswers(list, from, { redis, seal }))
      await redis.set(placeKey, JSON.stringify({ ...list, id, at } satisfies z.output<typeof Place>));
  }
  await redis.del(placeKey);
}

/** Yields the last journey of each page, once the answers of the page are listed. A journey that can't be read is left out, as no page could show its answer. */
async function* listingAnswers(
  { source, state }: Pick<z.output<typeof Place>, 'source' | 'state'>,
  from: ListEntry,
  { redis, seal }: { redis: RedisClient; seal: Seal },
): AsyncGenerator<ListEntry> {
  const keys = new JourneyKeys(source, seal);
  const lists = stateLists(redis, keys);
  const reader = new JourneyReader(redis, keys, { source, seal });
  for (let last: ListEntry | undefined = from; last; ) {
    const page: ListEntry[] = await lists.page(state, 'next', last, pageSize);
    const journeys = await reader.those(page.map(({ id }) => id));
    const answers = journeys.flatMap((journey) => {
      const at = answeredAt(journey);
      return at ? [at.getTime(), journey.id] : [];
    });
    if (answers.length > 0) await runScript(redis, enlistScript, [keys.answers], ...answers);
    last = page.at(-1);
    if (last) yield last;
  }
}
