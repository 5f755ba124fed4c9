import { buckets } from './journey-keys.ts';

// <tag>:records:<bucket>  of each record with journeys: "<count> <alive> <asked>", then of each of its events and closings
//                         " <name><number of the journey>". <count>: journeys that were made of the record;
//                         <alive>: journeys that there are; <asked>: the number of the journey that asked, 0 for none.
// <tag>:merges:<record>   into: the record that it was merged into, from:<record>: those that were merged into it, asked: the
//                         journey of one of these that asked; changes: when it was found changed, see `RecordMemory.noteChanged`

/** For scripts that change what is remembered of records. */
export const recordMemory = `
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
