import { CloseloopError, messageOf } from '../../core/errors.ts';

// Every change of a journey is one script, so that the journey, its trace and its indexes never disagree. Keys that are not
// among KEYS carry the source's tag, and lie in the same slot.

/**
 * KEYS record · ARGV tag, record id, digests of the closing and of the event's key, sealed journey, score, trace lines…
 * Returns the id of the journey of this closing (or of this event), made now or found. Error GATED while the source is not to
 * be worked on (source-names.ts).
 */
export const getOrCreateScript = `
if redis.call('EXISTS', ARGV[1] .. ':gate') == 1 then return redis.error_reply('GATED not now') end
local id = redis.call('HGET', KEYS[1], 'event:' .. ARGV[4]) or redis.call('HGET', KEYS[1], 'closing:' .. ARGV[3])
if id then
  -- One that is not remembered is planned again when it is repeated, and comes here again.
  if redis.call('HLEN', KEYS[1]) < 1000 then redis.call('HSETNX', KEYS[1], 'event:' .. ARGV[4], id) end
  return {id, 0}
end
id = ARGV[2] .. '.' .. redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('HINCRBY', KEYS[1], 'alive', 1)
redis.call('PERSIST', KEYS[1])
redis.call('HSET', KEYS[1], 'event:' .. ARGV[4], id, 'closing:' .. ARGV[3], id, 'latest', id)
redis.call('HSET', ARGV[1] .. ':journey:' .. id, 'rev', 1, 'state', 'received', 'data', ARGV[5])
redis.call('ZADD', ARGV[1] .. ':state:received', ARGV[6], id)
for _, of in ipairs({':snapshot:', ':alias:'}) do redis.call('PERSIST', ARGV[1] .. of .. ARGV[2]) end
for i = 7, #ARGV do redis.call('RPUSH', ARGV[1] .. ':trace:' .. id, ARGV[i]) end
return {id, 1}`;

/**
 * KEYS journey, trace, index of the old state, index of the new one, record, what that was merged into or itself, requests,
 * people to index it under…, people no longer… · ARGV rev, sealed journey, id, score, request id or '', '1' once asked ('if none': unless
 * another has) or '0' when it turned out not to be, number of people to index it under, key of the collecting pass' fence or '',
 * generation of the pass, state, trace lines…
 * Returns 1, 0 when somebody else changed the journey since it was read, -1 when its request is another journey's, or when a
 * newer pass has begun.
 */
export const saveScript = `
if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[1] then return 0 end
if ARGV[8] ~= '' and tonumber(redis.call('GET', ARGV[8]) or '0') > tonumber(ARGV[9]) then return -1 end
if ARGV[5] ~= '' and redis.call('HSETNX', KEYS[7], ARGV[5], ARGV[3]) == 0
  and redis.call('HGET', KEYS[7], ARGV[5]) ~= ARGV[3] then return -1 end
redis.call('HSET', KEYS[1], 'rev', ARGV[1] + 1, 'state', ARGV[10], 'data', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[3])
if ARGV[6] == '1' then redis.call('HSET', KEYS[5], 'asked', ARGV[3]) end
if ARGV[6] == 'if none' then redis.call('HSETNX', KEYS[5], 'asked', ARGV[3]) end
for i = 5, 6 do
  if ARGV[6] == '0' and redis.call('HGET', KEYS[i], 'asked') == ARGV[3] then redis.call('HDEL', KEYS[i], 'asked') end
end
for i = 8, #KEYS do redis.call(i <= 7 + ARGV[7] and 'SADD' or 'SREM', KEYS[i], ARGV[3]) end
for i = 11, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
return 1`;

/**
 * A collecting pass begins in a source: from now on older passes save nothing there. A generation is never lowered.
 * KEYS fence · ARGV generation
 */
export const beginPassScript = `
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

/**
 * The record's memory lives as long as any of its journeys: without it a number would be given twice, and a customer
 * asked twice. Which records were merged into it is known as long as they are remembered themselves.
 * Returns 1, or 0 when the journey is gone, or in another state than when it was read.
 * KEYS journey, trace, index, requests, record, people… · ARGV id, request id or '', state, tag, record id
 */
export const forgetScript = `
if redis.call('HGET', KEYS[1], 'state') ~= ARGV[3] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[2] ~= '' then redis.call('HDEL', KEYS[4], ARGV[2]) end
for i = 6, #KEYS do redis.call('SREM', KEYS[i], ARGV[1]) end
if redis.call('HINCRBY', KEYS[5], 'alive', -1) > 0 then
  local memory = redis.call('HGETALL', KEYS[5])
  for i = 1, #memory, 2 do
    if memory[i + 1] == ARGV[1] and string.find(memory[i], ':', 1, true) then redis.call('HDEL', KEYS[5], memory[i]) end
  end
  return 1
end
redis.call('DEL', ARGV[4] .. ':snapshot:' .. ARGV[5])
-- A delivery that was just stored may still need it.
redis.call('PEXPIRE', ARGV[4] .. ':alias:' .. ARGV[5], 86400000)
local record = ARGV[5]
while record do
  local key = ARGV[4] .. ':record:' .. record
  if tonumber(redis.call('HGET', key, 'alive') or '0') > 0 then return 1 end
  local into = redis.call('HGET', key, 'into')
  local isNeeded = false
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, 5) == 'from:' then
      isNeeded = isNeeded or redis.call('EXISTS', ARGV[4] .. ':record:' .. string.sub(field, 6)) == 1
    elseif field ~= 'into' then
      redis.call('HDEL', key, field)
    end
  end
  if isNeeded then return 1 end
  redis.call('DEL', key)
  record = into
end
return 1`;

/**
 * The record went into another: that one's customer counts as asked if this one's was, and remembers where it came from,
 * for when it is merged itself. Of a record that nothing is known of it is remembered for a while where it went.
 * KEYS record gone, record that remains · ARGV id of the one gone, of the one that remains, milliseconds
 */
export const mergeScript = `
local isKnown = redis.call('PTTL', KEYS[1]) == -1
redis.call('HSET', KEYS[1], 'into', ARGV[2])
if not isKnown then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return 1
end
local asked = redis.call('HGET', KEYS[1], 'asked')
if asked then redis.call('HSETNX', KEYS[2], 'asked', asked) end
redis.call('HSET', KEYS[2], 'from:' .. ARGV[1], 1)
redis.call('PERSIST', KEYS[2])
return 1`;

/** A sender may repeat itself for ever: a long trace takes no more remarks. KEYS journey, trace · ARGV line */
export const noteScript = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('LLEN', KEYS[2]) < 1000 then redis.call('RPUSH', KEYS[2], ARGV[1]) end
return 1`;

/**
 * The next of an index, with their scores: behind the last of those given that is still where it was; where none is, from
 * their score on.
 * KEYS index · ARGV score of the last that were given, how many, their ids…
 */
export const pageScript = `
local start = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
for i = #ARGV, 3, -1 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[1] then
    start = redis.call('ZRANK', KEYS[1], ARGV[i]) + 1
    break
  end
end
return redis.call('ZRANGE', KEYS[1], start, start + ARGV[2] - 1, 'WITHSCORES')`;

/** What a script that looks at the gate has failed with, as callers know it. */
export function gatedOr(error: unknown): unknown {
  if (!messageOf(error).startsWith('GATED')) return error;
  const message = 'the source is being renamed, or has another name now';
  return new CloseloopError(message, { kind: 'transient', retryAfterMs: 5_000 }, { outcome: 'never-sent' });
}
