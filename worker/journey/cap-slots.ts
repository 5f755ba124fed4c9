import { z } from 'zod';
import { type RedisClient, runScript } from '../redis/client.ts';

/** A cap on requests: of a rule, a campaign, a group, or over everything. */
export interface CapScope {
  /** Names the cap in traces and in its key: `rule "all" of support`. */
  name: string;
  hour?: number | undefined;
  day?: number | undefined;
}

/** An hour in which a request could be made. */
export interface CandidateHour {
  /** The beginnings of the hour, of its day, and of the next day. */
  hour: number;
  dayFrom: number;
  dayUntil: number;
  /** How long the day is open until the hour ends, and how long altogether. */
  openMsThen: number;
  openMs: number;
}

export type Slot =
  /** The journey has had this hour. */
  | { is: 'kept' }
  /**
   * `places`: of each cap, how many requests have a place already on the day until the hour's end, and in the hour. `fullBefore`: the cap
   * that was reached in the hour before.
   */
  | { is: 'new'; hour: number; places: { ofDay: number; ofHour: number }[]; fullBefore?: CapScope | undefined }
  /** No candidate has room. `full`: the cap that was reached in the last of them. */
  | { is: 'none'; full: CapScope | undefined };

/**
 * `giveBack`: deletes a journey's places under every cap under which any journey has one. A cap may be out of the configuration by now, or
 * its rule have another name: the list of caps in Redis says where a place can be. A cap that no journey has a place under leaves the list.
 */
const givingBack = `
local function giveBack(list, prefix, journey)
  for _, name in ipairs(redis.call('SMEMBERS', list)) do
    local key = prefix .. name
    redis.call('ZREM', key, journey)
    if redis.call('EXISTS', key) == 0 then redis.call('SREM', list, name) end
  end
end
`;

/** KEYS the list of caps · ARGV journey, the beginning of the key of a cap */
const giveBackScript = `${givingBack}
giveBack(KEYS[1], ARGV[2], ARGV[1])
return 1`;

/** How long a slot, and the list of caps, are kept after the last slot was taken: longer than the days ahead in which slots are taken. */
const keepMs = 20 * 86_400_000;

/**
 * Takes the first hour in which no cap is reached, in one step for all caps. Until the end of an hour only that part of a day's cap can be
 * used which the open time so far is of the day's open time: each hour gets a share, and later hours get what earlier hours did not use.
 * KEYS the list of caps, then of each cap its places (a sorted set: journeys by their hour) · ARGV journey, what the key of a cap begins
 * with, ms to keep places, the hour that it may keep, the instant before which hours are forgotten, of each cap its name and the most an
 * hour and a day (0: any number), of each candidate hour what `CandidateHour` has
 * Returns 0 where the journey keeps its hour; -1 and the cap that was reached in the last hour (0: none) where no hour has room; else the
 * hour, the cap that was reached in the hour before
 * (0: none), and the two places for each cap.
 */
const takeScript = `${givingBack}
local list, caps = table.remove(KEYS, 1), KEYS
local journey, prefix, keepMs, keeps, since = unpack(ARGV, 1, 5)
local isKept = true
for _, key in ipairs(caps) do
  isKept = isKept and tonumber(redis.call('ZSCORE', key, journey) or '-1') == tonumber(keeps)
end
if isKept then return {0} end
giveBack(list, prefix, journey)
for _, key in ipairs(caps) do redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. since) end
local full = 0
for h = 6 + 3 * #caps, #ARGV, 5 do
  local hour, dayFrom, dayUntil, part, whole = unpack(ARGV, h, h + 4)
  local reply, hasRoom = {tonumber(hour), full}, true
  for i, key in ipairs(caps) do
    local perHour, perDay = tonumber(ARGV[4 + 3 * i]), tonumber(ARGV[5 + 3 * i])
    local soFar = redis.call('ZCOUNT', key, dayFrom, hour)
    local inHour = redis.call('ZCOUNT', key, hour, hour)
    local ofDay = redis.call('ZCOUNT', key, dayFrom, '(' .. dayUntil)
    local isDayFull = perDay > 0 and (ofDay >= perDay or soFar >= math.ceil(part * perDay / whole))
    if isDayFull or (perHour > 0 and inHour >= perHour) then
      hasRoom, full = false, i
      break
    end
    reply[#reply + 1] = soFar
    reply[#reply + 1] = inHour
  end
  if hasRoom then
    for i, key in ipairs(caps) do
      redis.call('ZADD', key, hour, journey)
      redis.call('PEXPIRE', key, keepMs)
      redis.call('SADD', list, ARGV[3 + 3 * i])
    end
    redis.call('PEXPIRE', list, keepMs)
    return reply
  end
end
return {-1, full}`;

const Reply = z.array(z.number());

export type CapSlots = ReturnType<typeof capSlots>;

/**
 * The requests that each cap has let through, or will let through, by the hour. All processes share them. @param space `spaceOf`
 */
export function capSlots(redis: RedisClient, space: string) {
  const prefix = `${space}:cap:`;
  /** A set: the names of the caps under which a journey may have a place. */
  const list = `${space}:caps`;
  const keysOf = (scopes: readonly CapScope[]) => scopes.map(({ name }) => prefix + name);

  return {
    /** `keeps`: the hour that the journey keeps if it has that hour; `since`: hours before this instant are forgotten. */
    async take(
      journey: string,
      scopes: readonly CapScope[],
      { keeps, since }: { keeps: number; since: number },
      candidates: readonly CandidateHour[],
    ): Promise<Slot> {
      const caps = scopes.flatMap(({ name, hour = 0, day = 0 }) => [name, hour, day]);
      const hours = candidates.flatMap((one) => [one.hour, one.dayFrom, one.dayUntil, one.openMsThen, one.openMs]);
      const args = [journey, prefix, keepMs, keeps, since, ...caps, ...hours];
      const reply = await runScript(redis, takeScript, [list, ...keysOf(scopes)], ...args);
      const [hour, full = 0, ...places] = Reply.parse(reply);
      if (hour === 0) return { is: 'kept' };
      if (hour === undefined || hour < 0) return { is: 'none', full: scopes[full - 1] };
      const placesOf = scopes.map((_, i) => ({ ofDay: places[2 * i] ?? 0, ofHour: places[2 * i + 1] ?? 0 }));
      return { is: 'new', hour, places: placesOf, fullBefore: scopes[full - 1] };
    },

    /** How many places of each cap are taken in this hour, and on its day, half-open. */
    async taken(
      scopes: readonly CapScope[],
      { hour, day }: { hour: number; day: { from: number; until: number } },
    ): Promise<{ ofHour: number; ofDay: number }[]> {
      const each = keysOf(scopes).map(async (key) => ({
        ofHour: await redis.zcount(key, hour, hour),
        ofDay: await redis.zcount(key, day.from, `(${day.until}`),
      }));
      return await Promise.all(each);
    },

    /** The journey asks nobody: other journeys may have its place under every cap. */
    async giveBack(journey: string): Promise<void> {
      await runScript(redis, giveBackScript, [list], journey, prefix);
    },
  };
}
