import { slices } from '../../core/spread.ts';
import type { JourneyState } from '../../worker/journey/journey.ts';
import { changingLists } from '../../worker/journey/list-scripts.ts';
import { type RedisClient, runScript } from '../../worker/redis/client.ts';
import { tagOf } from '../../worker/redis/keys.ts';

/** An id with the instant that it is listed by. */
type Entry = readonly [id: string, at: number];

/** Changes the list of a state without any journey: of very many, or behind the store's back. */
export function listOf(redis: RedisClient, source: string, state: JourneyState) {
  const change = (how: 'enlist' | 'unlist') => async (entries: readonly Entry[]) => {
    const script = `${changingLists}for i = 1, #ARGV, 2 do ${how}(KEYS[1], ARGV[i + 1], ARGV[i]) end`;
    for (const some of slices(entries, 1_000)) {
      await runScript(redis, script, [`${tagOf(source)}:state:${state}`], ...some.flat());
    }
  };
  return { add: change('enlist'), remove: change('unlist') };
}
