import { z } from 'zod';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { type JourneyState, journeyStates } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { countScript, pageScript, passing } from './list-scripts.ts';

export type ListName = JourneyState | 'answers';

/** A journey in the list of its state, or of answers. */
export interface ListEntry {
  id: string;
  /** When it was last changed (waiting: is due; of answers: answered), in milliseconds. */
  at: number;
}

export const endOfTime = new Date(8.64e15);
const Rows = z.array(z.string());
const Counts = z.record(z.enum(journeyStates), z.number());

export type StateLists = ReturnType<typeof stateLists>;

/** Reads the lists of one source's journeys, one for each state and one of answers. */
export function stateLists(redis: RedisClient, keys: JourneyKeys) {
  const keyOf = (list: ListName) => (list === 'answers' ? keys.answers : keys.state(list));
  const countOf = async (state: JourneyState): Promise<number> =>
    passing.includes(state)
      ? await redis.zcard(keys.state(state))
      : Number((await redis.get(keys.countOf(keys.state(state)))) ?? 0);

  /** Entries behind a place, earliest first, or before that place, latest first. */
  async function page(list: ListName, which: 'next' | 'previous', { id, at }: ListEntry, size: number) {
    const flat = Rows.parse(await runScript(redis, pageScript, [keyOf(list)], at, id, which, size));
    return [...slices(flat, 2)].map(([entry = '', score]): ListEntry => ({ id: entry, at: Number(score) }));
  }

  return {
    page,

    /** Ids in one state, by last change (waiting: by when they are due), earliest first. */
    async idsIn(state: JourneyState, options: { since?: Date; before?: Date; limit?: number } = {}): Promise<string[]> {
      const { since, before = endOfTime, limit = 1000 } = options;
      const found = await page(state, 'next', { id: '', at: since?.getTime() ?? 0 }, limit);
      return found.filter(({ at }) => at <= before.getTime()).map(({ id }) => id);
    },

    /** When the first journey in this state was last changed (waiting: when it is due); undefined: no journey is in this state. */
    async firstIn(state: JourneyState): Promise<Date | undefined> {
      const [first] = await page(state, 'next', { id: '', at: 0 }, 1);
      return first && new Date(first.at);
    },

    /** How many journeys came into this state in this half-open time and are in it still (waiting: are due in this time). */
    async countIn(list: ListName, { from, until }: { from: Date; until: Date }): Promise<number> {
      const count = await runScript(redis, countScript, [keyOf(list)], from.getTime(), until.getTime());
      return z.number().parse(count);
    },

    async counts(): Promise<Record<JourneyState, number>> {
      const counts = journeyStates.map(async (state) => [state, await countOf(state)]);
      return Counts.parse(Object.fromEntries(await Promise.all(counts)));
    },
  };
}
