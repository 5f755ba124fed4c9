import { countsKeptMs } from './hourly-counts.ts';
import { buckets } from './journey-keys.ts';
import { changingLists } from './list-scripts.ts';
import { keptEventsMs } from './outgoing.ts';

// Every change of a journey is one script, so that the journey, its trace and its indexes never disagree, wherever the process is killed. Keys that are not
// among KEYS carry the source's tag, and lie in the same slot. A journey is one string, which takes less than a hash: its revision,
// a word that is empty now (once its state), and all else sealed.
//
// <tag>:records:<bucket>  of each record with journeys: "<count> <alive> <asked>", then of each of its events and closings
//                         " <name><number of the journey>". <count>: journeys that were made of the record;
//                         <alive>: journeys that there are; <asked>: the number of the journey that asked, 0 for none.
// <tag>:merges:<record>   into: the record that it was merged into, from:<record>: those that were merged into it, asked: the
//                         journey of one of these that asked; changes: when it was found changed, see `RecordMemory.noteChanged`
// <tag>:requests:<bucket>  of each feedback request the id of its journey. Of a record's first journey, nearly all are one, it is the
//                          record's id alone unless that has a dot: Redis packs a number in half the bytes.

/** For scripts that change what is remembered of records. */
const recordMemory = `
local function recordsKey(tag, record)
  local sum = 0
  for i = 1, #record do sum = (sum * 10 + string.byte(record, i)) % ${buckets.records} end
  return tag .. ':records:' .. sum
end
local function recall(records, record)
  return string.match(redis.call('HGET', records, record) or '0 0 0', '^(%d+) (%d+) (%d+)(.*)$')
end
local function remember(records, record, count, alive, asked, names)
  redis.call('HSET', records, record, count .. ' ' .. alive .. ' ' .. asked .. names)
end
local function numberOf(names, name)
  local from = string.find(names, ' ' .. name, 1, true)
  return from and string.match(names, '^%d+', from + 1 + #name)
end
-- mark: '1', 'if none' another has asked, or '0' when it turned out not to have asked
local function markAsked(records, merges, record, id, mark)
  local count, alive, asked, names = recall(records, record)
  local number, before = string.match(id, '%d+$'), asked
  if mark == '1' or (mark == 'if none' and asked == '0' and redis.call('HEXISTS', merges, 'asked') == 0) then asked = number end
  if mark == '0' and asked == number then asked = '0' end
  if asked ~= before and count ~= '0' then remember(records, record, count, alive, asked, names) end
  if mark == '0' and redis.call('HGET', merges, 'asked') == id then redis.call('HDEL', merges, 'asked') end
end
-- Returns whether that was the last journey of the record.
local function forgetNumber(records, record, number)
  local count, alive, asked, names = recall(records, record)
  if tonumber(alive) <= 1 then
    redis.call('HDEL', records, record)
    return true
  end
  names = string.gsub(names, ' (..........)(%d+)', function(_, of) if of == number then return '' end end)
  remember(records, record, count, alive - 1, asked, names)
  return false
end
-- Merges are remembered as long as there are journeys of the records.
local function forgetMerges(tag, record)
  while record and redis.call('HEXISTS', recordsKey(tag, record), record) == 0 do
    local merges = tag .. ':merges:' .. record
    for _, field in ipairs(redis.call('HKEYS', merges)) do
      if string.sub(field, 1, 5) == 'from:' and redis.call('HEXISTS', tag .. ':merges:' .. string.sub(field, 6), 'into') == 1 then
        redis.call('HDEL', merges, 'asked')
        return
      end
    end
    local into = redis.call('HGET', merges, 'into')
    redis.call('DEL', merges)
    record = into
  end
end
`;

/** Names a change by its instant in microseconds: no two changes share an instant. */
const changed = `
local function setChanged(merges)
  local time = redis.call('TIME')
  redis.call('HSET', merges, 'changes', time[1] .. '.' .. time[2])
end
`;

/**
 * Notes that a record was merged into another: the remaining record's customer counts as asked if the merged record's was. For a
 * record without journeys the merge is remembered for a while.
 * KEYS merges of both · ARGV tag, their ids, milliseconds
 */
export const mergeScript = `${recordMemory}${changed}
local tag, gone, remaining, ms = unpack(ARGV)
local count, _, asked = recall(recordsKey(tag, gone), gone)
local isKnown = count ~= '0' or redis.call('PTTL', KEYS[1]) == -1
redis.call('HSET', KEYS[1], 'into', remaining)
if not isKnown then
  redis.call('PEXPIRE', KEYS[1], ms)
  return 1
end
asked = asked ~= '0' and gone .. '.' .. asked or redis.call('HGET', KEYS[1], 'asked')
if asked then redis.call('HSETNX', KEYS[2], 'asked', asked) end
redis.call('HSET', KEYS[2], 'from:' .. gone, 1)
setChanged(KEYS[2])
redis.call('PERSIST', KEYS[1])
redis.call('PERSIST', KEYS[2])
return 1`;

/** How long the merge of a record without journeys is remembered: events may report merges in any order. */
export const unknownMs = 30 * 86_400_000;

/** KEYS merges · ARGV milliseconds */
export const changeScript = `${changed}
local left = redis.call('PTTL', KEYS[1])
setChanged(KEYS[1])
if left == -2 or (left >= 0 and left < tonumber(ARGV[1])) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`;

/** How long a change of a record without journeys is remembered: far longer than a closing takes from its reading to its journey. */
export const changeMs = 3_600_000;

/** A function for the script that gives a request to a journey: false if the request belongs to another journey. */
const requestMemory = `
local function takeRequest(requests, request, id)
  local short = string.match(id, '^([^.]+)%.1$') or id
  if redis.call('HSETNX', requests, request, short) == 1 then return true end
  local owner = redis.call('HGET', requests, request)
  return owner == short or owner == id
end
`;

/**
 * Raises the fence of a campaign to this pass's generation: older passes save nothing any more. Never lowers it.
 * KEYS fence · ARGV generation
 */
export const beginPassScript = `
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

/**
 * Used by scripts that change a journey: ARGV from `from` on hold for each event the list of the target for the record, all that is due to
 * the target, the event and its instant.
 */
const tellingOthers = `
local function tellOthers(from)
  for i = from, #ARGV, 4 do
    redis.call('RPUSH', ARGV[i], ARGV[i + 2])
    redis.call('ZADD', ARGV[i + 1], ARGV[i + 3], ARGV[i + 2])
    redis.call('PEXPIRE', ARGV[i], ${keptEventsMs})
    redis.call('PEXPIRE', ARGV[i + 1], ${keptEventsMs})
  end
end
`;

/**
 * Stores a journey, unless its closing or its event already has a journey.
 * KEYS records, merges, list of the state, list of answers · ARGV tag, record id, names of the closing and of the event, sealed journey,
 * instant in the list, its id, `RememberedRecord.seen` or '', '1' if it may have asked, when it was answered or '', number of people to index it
 * under, of each the key and entry…, then what `tellOthers` takes
 * Returns the id of the journey of this closing (or of this event), and whether it was stored now; nothing where the record's next
 * journey has another id, or something else than what was seen is remembered of the record.
 */
export const createScript = `${changingLists}${recordMemory}${tellingOthers}
local tag, record, closing, event, sealed, at, id, seen, hasAsked, answered = unpack(ARGV, 1, 10)
local count, alive, asked, names = recall(KEYS[1], record)
local ofEvent = numberOf(names, event)
local known = ofEvent or numberOf(names, closing)
if known then
  -- An event beyond this limit is not remembered: if the vendor sends the event again, it is planned again and ends here again.
  if not ofEvent and #names < 12000 then remember(KEYS[1], record, count, alive, asked, names .. ' ' .. event .. known) end
  -- An earlier try of this call has stored the journey, and its reply was lost: the client then repeats the call. No two sealed texts are equal by chance.
  local isRepeated = redis.call('GET', tag .. ':journey:' .. record .. '.' .. known) == '1  ' .. sealed
  return {record .. '.' .. known, isRepeated and 1 or 0}
end
if seen ~= '' and seen ~= asked .. ' ' .. (redis.call('HGET', KEYS[2], 'changes') or '') then return {} end
count = count + 1
if id ~= record .. '.' .. count then return {} end
if hasAsked == '1' then asked = count end
remember(KEYS[1], record, count, alive + 1, asked, names .. ' ' .. event .. count .. ' ' .. closing .. count)
redis.call('SET', tag .. ':journey:' .. id, '1  ' .. sealed)
enlist(KEYS[3], at, id)
if answered ~= '' then enlist(KEYS[4], answered, id) end
local people = 11 + 2 * ARGV[11]
for i = 12, people, 2 do redis.call('ZADD', ARGV[i], 0, ARGV[i + 1]) end
tellOthers(people + 1)
redis.call('PERSIST', KEYS[2])
redis.call('PERSIST', tag .. ':snapshot:' .. record)
return {id, 1}`;

/**
 * KEYS journey, list of the old state, list of the new one, records, merges of what its record was merged into or of itself, requests,
 * list of answers
 * ARGV rev, instant in the old list, sealed journey, id, instant in the new list, request id or '', '1' once asked ('if none': unless
 * another has) or '0' when it turned out not to be, key of the collecting pass' fence or '', generation of the pass, record id,
 * when it was answered and when it is now ('' for neither and where both are the same), number of people to index it under, number of people
 * no longer, number of counts to change, of each of these people the key and entry, of each count its key, field and difference…, then
 * what `tellOthers` takes
 * Returns 1, 0 when somebody else changed the journey since it was read, -1 when its request is another journey's, or when a
 * newer pass has begun.
 */
export const saveScript = `${changingLists}${recordMemory}${requestMemory}${tellingOthers}
local rev, wasAt, sealed, id, at, request, asked, fence, generation, record = unpack(ARGV, 1, 10)
if redis.call('GETRANGE', KEYS[1], 0, #rev) ~= rev .. ' ' then return 0 end
if fence ~= '' and tonumber(redis.call('GET', fence) or '0') > tonumber(generation) then return -1 end
if request ~= '' and not takeRequest(KEYS[6], request, id) then return -1 end
redis.call('SET', KEYS[1], rev + 1 .. '  ' .. sealed)
if KEYS[2] ~= KEYS[3] or wasAt ~= at then
  unlist(KEYS[2], wasAt, id)
  enlist(KEYS[3], at, id)
end
if asked ~= '' then markAsked(KEYS[4], KEYS[5], record, id, asked) end
if ARGV[11] ~= '' then unlist(KEYS[7], ARGV[11], id) end
if ARGV[12] ~= '' then enlist(KEYS[7], ARGV[12], id) end
local added = 15 + 2 * ARGV[13]
local removed = added + 2 * ARGV[14]
local counted = removed + 3 * ARGV[15]
for i = 16, added, 2 do redis.call('ZADD', ARGV[i], 0, ARGV[i + 1]) end
for i = added + 1, removed, 2 do redis.call('ZREM', ARGV[i], ARGV[i + 1]) end
for i = removed + 1, counted, 3 do
  redis.call('HINCRBY', ARGV[i], ARGV[i + 1], ARGV[i + 2])
  redis.call('PEXPIRE', ARGV[i], ${countsKeptMs})
end
tellOthers(counted + 1)
return 1`;

/**
 * A record is remembered as long as any of its journeys: else a journey number would be used twice, and a customer asked twice.
 * Returns 1, or 0 when the journey is gone, or was changed since it was read.
 * KEYS journey, list, requests, records, list of answers · ARGV id, request id or '', rev, tag, record id, instant in the list, when it was
 * answered or '', of each person the key and entry…
 */
export const forgetScript = `${changingLists}${recordMemory}
local id, request, rev, tag, record, at, answered = unpack(ARGV, 1, 7)
if redis.call('GETRANGE', KEYS[1], 0, #rev) ~= rev .. ' ' then return 0 end
redis.call('DEL', KEYS[1])
unlist(KEYS[2], at, id)
if answered ~= '' then unlist(KEYS[5], answered, id) end
if request ~= '' then redis.call('HDEL', KEYS[3], request) end
for i = 8, #ARGV, 2 do redis.call('ZREM', ARGV[i], ARGV[i + 1]) end
if not forgetNumber(KEYS[4], record, string.match(id, '%d+$')) then return 1 end
redis.call('DEL', tag .. ':snapshot:' .. record)
forgetMerges(tag, record)
return 1`;
