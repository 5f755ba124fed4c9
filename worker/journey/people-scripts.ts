import { buckets } from './journey-keys.ts';

// The data of people over all sources: which addresses belong to one person, when the person was asked, and which journey is asking them now.
// A person has the name of one of their addresses. A person whose address is linked with no other has nothing but the note of that address.
//
// <space>:address:<address> → person        <space>:person:<person>:addresses  a set
// <space>:person:<person>:lock → token      <space>:person:<person>:waits      journey → "<campaign> <closed> <due>"
// <space>:notes:<bucket>: address → "<instant> <note>", the requests to it; few addresses in each, so that Redis packs them. A note is
// "<campaign> <journey>" of one request, or JSON (contacts.ts)
//
// <space> is taken from the key that a script is given: the space of all sources in earnest, or of all dry runs (redis/keys.ts).

const people = `
local space = string.match(KEYS[1], '^(.-):address:') or string.match(KEYS[1], '^(.-):notes:')
local function addressKey(address) return space .. ':address:' .. address end
local function personOf(address) return redis.call('GET', addressKey(address)) or address end
local function keyOf(person, what) return space .. ':person:' .. person .. ':' .. what end
local function addressesOf(person)
  local found = redis.call('SMEMBERS', keyOf(person, 'addresses'))
  return #found > 0 and found or {person}
end
local function notesOf(address)
  local sum = 0
  for i = 1, #address do sum = (sum * 10 + string.byte(address, i)) % ${buckets.notes} end
  return space .. ':notes:' .. sum
end
local function requestsIn(stored)
  if not stored then return {} end
  local at, text = string.match(stored, '^(%d+) (.*)$')
  local campaign, journey = string.match(text, '^(%d+) (.*)$')
  local isPlain = string.sub(text, 1, 1) ~= '{'
  local last = isPlain and {journey = journey or text, campaign = campaign} or cjson.decode(text)
  last.at = at
  local found = last.withdrawn and {} or {last}
  for _, one in ipairs(last.earlier or {}) do found[#found + 1] = one end
  return found
end
local function requestsTo(person)
  local found = {}
  for _, address in ipairs(addressesOf(person)) do
    for _, one in ipairs(requestsIn(redis.call('HGET', notesOf(address), address))) do found[#found + 1] = one end
  end
  return found
end
local function note(person, journey, closing, ms)
  local waits = keyOf(person, 'waits')
  redis.call('HSET', waits, journey, closing)
  if redis.call('PTTL', waits) < tonumber(ms) then redis.call('PEXPIRE', waits, ms) end
end
`;

/** `setNote`: stores the note of an address, or deletes it (''). A note can't expire by itself: with every eighth new note of a hash those that are too old are deleted. */
export const settingNotes = `
local function setNote(notes, address, note, ms)
  if note == '' then return redis.call('HDEL', notes, address) end
  local isNew = redis.call('HSET', notes, address, note) == 1
  redis.call('PEXPIRE', notes, ms)
  if not isNew or redis.call('HLEN', notes) % 8 ~= 0 then return end
  local all, oldest = redis.call('HGETALL', notes), redis.call('TIME')[1] * 1000 - ms
  for i = 1, #all, 2 do
    if (tonumber(string.match(all[i + 1], '^%d+')) or 0) < oldest then redis.call('HDEL', notes, all[i]) end
  end
end
`;

/** KEYS notes · ARGV address, the new note or '', ms */
export const setScript = `${settingNotes}
setNote(KEYS[1], unpack(ARGV))
return 1`;

/** Compare and set, so that no concurrent change is lost. KEYS notes · ARGV address, the new note or '', ms, the note as read */
export const changeScript = `${settingNotes}
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4] then return 0 end
setNote(KEYS[1], unpack(ARGV, 1, 3))
return 1`;

/**
 * Links the addresses of one person, and locks the person: one journey at a time asks them. An address that would give a
 * person more addresses than the most is left out: a shared address belongs to no one person. Links expire when the longest throttle has
 * passed since they were made last.
 * KEYS the address' person, its notes · ARGV token ('': only links), lock's ms, links' ms (0: links nothing), most addresses, address, others…
 * Returns the person, and the note where there is one; nothing while another journey is asking one of the people who are to be linked.
 */
export const lockScript = `${people}
local person = personOf(ARGV[5])
local count, merged, isSeen = nil, {}, {[person] = true}
for i = 6, ARGV[3] == '0' and 5 or #ARGV do
  local other = personOf(ARGV[i])
  local theirs = addressesOf(other)
  count = count or #addressesOf(person)
  if not isSeen[other] and count + #theirs <= tonumber(ARGV[4]) then
    count = count + #theirs
    merged[#merged + 1] = other
  end
  isSeen[other] = true
end
for _, one in ipairs({person, unpack(merged)}) do
  local holder = redis.call('GET', keyOf(one, 'lock'))
  if holder and holder ~= ARGV[1] then return {} end
end
local addresses = keyOf(person, 'addresses')
if #merged > 0 then redis.call('SADD', addresses, unpack(addressesOf(person))) end
for _, other in ipairs(merged) do
  redis.call('SADD', addresses, unpack(addressesOf(other)))
  local theirs = redis.call('HGETALL', keyOf(other, 'waits'))
  for i = 1, #theirs, 2 do note(person, theirs[i], theirs[i + 1], redis.call('PTTL', keyOf(other, 'waits'))) end
  redis.call('DEL', keyOf(other, 'addresses'), keyOf(other, 'waits'), keyOf(other, 'lock'))
end
if ARGV[3] ~= '0' and redis.call('PEXPIRE', addresses, ARGV[3]) == 1 then
  for _, address in ipairs(addressesOf(person)) do
    redis.call('SET', addressKey(address), person, 'PX', ARGV[3])
  end
end
if ARGV[1] == '' then return {person, false} end
redis.call('SET', keyOf(person, 'lock'), ARGV[1], 'PX', ARGV[2])
return {person, redis.call('HGET', KEYS[2], ARGV[5])}`;

/**
 * Checks every throttle against all requests to a person, at any of their addresses: the notes keep requests for longer than any throttle
 * of today needs, so that a throttle which is set or lengthened tomorrow counts them. A request whose campaign is not known may have been in
 * any. Where no throttle holds the request, reserves it: stores the note. The journey's own requests do not count.
 * KEYS notes · ARGV the new note ('': only checks), its ms, address of the person, journey, then of each throttle: the instant that it counts
 * from, and its campaigns as ",12,13," ('': all)
 * Returns the throttles that hold the request, each with the instant and the journey of the last request that it counts; none if the
 * request is reserved; or the stored note, where that has a request which the new note lacks: another journey has asked meanwhile.
 */
export const reserveScript = `${people}${settingNotes}
local held = {}
local known = ARGV[5] and requestsTo(personOf(ARGV[3])) or {}
for i = 5, #ARGV, 2 do
  local last, lastAt
  for _, one in ipairs(known) do
    local at = tonumber(one.at)
    local counts = ARGV[i + 1] == '' or not one.campaign or string.find(ARGV[i + 1], ',' .. one.campaign .. ',', 1, true)
    if counts and one.journey ~= ARGV[4] and at and at > (lastAt or tonumber(ARGV[i])) then last, lastAt = one, at end
  end
  if last then held[#held + 1] = {(i - 5) / 2, lastAt, last.journey} end
end
if #held > 0 or ARGV[1] == '' then return held end
local stored = redis.call('HGET', KEYS[1], ARGV[3])
local newest = requestsIn(stored)[1]
local isNamed = newest == nil or newest.journey == ARGV[4]
for _, one in ipairs(isNamed and {} or requestsIn(ARGV[1])) do isNamed = isNamed or one.journey == newest.journey end
if not isNamed then return stored end
setNote(KEYS[1], ARGV[3], ARGV[1], ARGV[2])
return held`;

/** Notes that a closing waits. ARGV address of the person, journey, "<campaign> <closed> <due>", ms to keep the note */
export const noteWaitingScript = `${people}
note(personOf(ARGV[1]), ARGV[2], ARGV[3], ARGV[4])
return 1`;

/** The closings that wait: journey and closing in turns. ARGV address of the person */
export const waitingScript = `${people}
return redis.call('HGETALL', keyOf(personOf(ARGV[1]), 'waits'))`;

/** Deletes the notes of closings that wait no more. ARGV address of the person, journeys… */
export const settledScript = `${people}
return redis.call('HDEL', keyOf(personOf(ARGV[1]), 'waits'), unpack(ARGV, 2))`;

/** The addresses of the person with this address. ARGV address */
export const addressesScript = `${people}
return addressesOf(personOf(ARGV[1]))`;

/** Forgets the person with this address: all links, and the closings that wait. ARGV address */
export const forgetScript = `${people}
local person = personOf(ARGV[1])
for _, address in ipairs(addressesOf(person)) do redis.call('DEL', addressKey(address)) end
redis.call('DEL', keyOf(person, 'addresses'), keyOf(person, 'waits'))
return 1`;

/** The data of the person with this address: the number of addresses, then each request's instant, campaign ('': not known) and journey. ARGV address */
export const knownScript = `${people}
local person = personOf(ARGV[1])
local found = {tostring(#addressesOf(person))}
for _, one in ipairs(requestsTo(person)) do
  for _, part in ipairs({tostring(one.at), tostring(one.campaign or ''), one.journey}) do found[#found + 1] = part end
end
return found`;
