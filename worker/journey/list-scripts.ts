import type { JourneyState } from './journey.ts';

// A list holds the journeys of a state by time, and another the journeys with an answer by when the answer came. The list of a state that
// journeys only pass through is a plain sorted set, <list>, which is the least work. Other lists are in pieces that are small enough for Redis
// to pack: an entry takes some 25 bytes, and in one large sorted set some 110.
//
// <list>          the instants at which pieces begin, a sorted set by themselves; the first is 0
// <list>:<begin>  ids of journeys from this instant on, up to where the next piece begins: a sorted set by time
// <list>:count    how many there are
//
// Entries of one instant are always in one piece, however many they are: so an instant says which piece it is.

/** The most entries that Redis packs by default (zset-max-listpack-entries). */
const mostInPiece = 128;
export const passing: readonly JourneyState[] = ['received', 'waiting', 'creating'];

const pieces = `
local passing = {${passing.map((state) => `${state} = true`).join(', ')}}
local function isPlain(list) return passing[string.match(list, '%l+$')] end
-- Where the nearest piece begins. Another layout has no instants here: a loop over them would not advance, and Redis would hang.
local function nearest(read, list, from, to)
  local found = redis.call(read, list, from, to, 'WITHSCORES', 'LIMIT', 0, 1)
  if found[1] and tonumber(found[1]) ~= tonumber(found[2]) then
    error('the list ' .. list .. ' is of another version of closeloop: run one version everywhere (docs/upgrade.md)')
  end
  return found[1]
end
local function pieceAt(list, at)
  if isPlain(list) then return list end
  local begin = nearest('ZREVRANGEBYSCORE', list, at, '-inf')
  return begin and list .. ':' .. begin, begin
end
`;

/** For scripts that change journeys: `enlist` and `unlist` a journey; its entry is found by the instant that it was enlisted with. */
export const changingLists = `${pieces}
-- Entries from the middle on get a piece of their own. Returns where that begins; nil if all are of one instant.
local function split(list, piece, count)
  local middle = math.floor(count / 2)
  local begin = redis.call('ZRANGE', piece, middle, middle, 'WITHSCORES')[2]
  if redis.call('ZCOUNT', piece, '-inf', '(' .. begin) == 0 then
    begin = redis.call('ZRANGEBYSCORE', piece, '(' .. begin, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    if not begin then return nil end
  end
  redis.call('ZRANGESTORE', list .. ':' .. begin, piece, begin, '+inf', 'BYSCORE')
  redis.call('ZREMRANGEBYSCORE', piece, begin, '+inf')
  redis.call('ZADD', list, begin, begin)
  return begin
end
local function enlist(list, at, id)
  if isPlain(list) then return redis.call('ZADD', list, at, id) end
  local piece = pieceAt(list, at)
  if not piece then
    piece = list .. ':0'
    redis.call('ZADD', list, 0, '0')
  end
  local count = redis.call('ZCARD', piece)
  -- One that can't be split is not tried again with every entry.
  if count >= ${mostInPiece} and count % 64 == 0 then
    local begin = split(list, piece, count)
    if begin and tonumber(at) >= tonumber(begin) then piece = list .. ':' .. begin end
  end
  if redis.call('ZADD', piece, at, id) == 1 then redis.call('INCR', list .. ':count') end
end
local function unlist(list, at, id)
  if isPlain(list) then return redis.call('ZREM', list, id) end
  local piece, begin = pieceAt(list, at)
  if not piece or redis.call('ZREM', piece, id) == 0 then return end
  if redis.call('EXISTS', piece) == 0 then redis.call('ZREM', list, begin) end
  if redis.call('DECR', list .. ':count') == 0 then redis.call('DEL', list .. ':count') end
end
`;

/**
 * A page of a list: what comes next after a place, or, backwards, what comes before it. The place need not be an entry any more,
 * and as many entries as may be can have its instant: it is searched for among them by halves. Lua's own comparison goes by the
 * server's language, and Redis's order by bytes.
 * KEYS list · ARGV instant and id of the place, 'next' or 'previous', page size
 */
export const pageScript = `${pieces}
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
export const countScript = `${pieces}
if isPlain(KEYS[1]) then return redis.call('ZCOUNT', KEYS[1], ARGV[1], '(' .. ARGV[2]) end
local _, first = pieceAt(KEYS[1], ARGV[1])
local count = 0
for _, begin in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], first or '-inf', '(' .. ARGV[2])) do
  count = count + redis.call('ZCOUNT', KEYS[1] .. ':' .. begin, ARGV[1], '(' .. ARGV[2])
end
return count`;
