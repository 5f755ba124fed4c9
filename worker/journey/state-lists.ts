import { z } from 'zod';
import { slices } from '../../core/spread.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { type JourneyState, journeyStates } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import { passing, pieces } from './list-scripts.ts';

/**
 * A page of a list: what comes next after a place, or, backwards, what comes before it. The place need not be an entry any more,
 * and as many entries as may be can have its instant: it is searched for among them by halves. Lua's own comparison goes by the
 * server's language, and Redis's order by bytes.
 * KEYS list · ARGV instant and id of the place, 'next' or 'previous', page size
 */
const pageScript = `${pieces}
local function isBefore(one, other)
  for i = 1, math.min(#one, #other) do
    if one:byte(i) ~= other:byte(i) then return one:byte(i) < other:byte(i) end
  end
  return #one < #other
end
local at, id, isNext, size, found = ARGV[1], ARGV[2], ARGV[3] == 'next', tonumber(ARGV[4]), {}
local function take(piece, from)
  local read = isNext and 'ZRANGE' or 'ZREVRANGE'
  for _, one in ipairs(redis.call(read, piece, from, from + size - #found / 2 - 1, 'WITHSCORES')) do found[#found + 1] = one end
end
local piece, begin = pieceAt(KEYS[1], at)
if piece then
  local from = redis.call('ZCOUNT', piece, '-inf', '(' .. at)
  local to = redis.call('ZCOUNT', piece, '-inf', at)
  while from < to do
    local middle = math.floor((from + to) / 2)
    local one = redis.call('ZRANGE', piece, middle, middle)[1]
    if isBefore(one, id) or (isNext and one == id) then from = middle + 1 else to = middle end
  end
  take(piece, isNext and from or redis.call('ZCARD', piece) - from)
end
while #found < 2 * size and not isPlain(KEYS[1]) do
  if isNext then
    begin = nearest('ZRANGEBYSCORE', KEYS[1], begin and '(' .. begin or '-inf', '+inf')
  else
    begin = begin and nearest('ZREVRANGEBYSCORE', KEYS[1], '(' .. begin, '-inf')
  end
  if not begin then break end
  take(KEYS[1] .. ':' .. begin, 0)
end
return found`;

/** KEYS list · ARGV first instant, instant behind the last */
const countScript = `${pieces}
if isPlain(KEYS[1]) then return redis.call('ZCOUNT', KEYS[1], ARGV[1], '(' .. ARGV[2]) end
local _, first = pieceAt(KEYS[1], ARGV[1])
local count = 0
for _, begin in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], first or '-inf', '(' .. ARGV[2])) do
  count = count + redis.call('ZCOUNT', KEYS[1] .. ':' .. begin, ARGV[1], '(' .. ARGV[2])
end
return count`;

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
