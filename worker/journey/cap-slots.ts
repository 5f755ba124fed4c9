import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';

/** A cap on requests: of a rule, a campaign, a group, or over everything. */
export interface CapScope {
  /** Names the cap in traces and in its key: `rule "all" of support`. */
  name: string;
  hour?: number | undefined;
  day?: number | undefined;
}

/** An hour in which a request could be made. */
export interface CandidateHour {
  /** Where the hour begins, where its day begins, and where the next day begins. */
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
  /** `places`: of each cap, how many requests have a place already on the day until the hour's end, and in the hour. `fullBefore`: the cap that was reached in the hour before. */
  | { is: 'new'; hour: number; places: { ofDay: number; ofHour: number }[]; fullBefore?: CapScope | undefined }
  /** No candidate has room. */
  | { is: 'none' };

/**
 * Takes the first hour in which no cap is reached, in one step for all caps. Until the end of an hour only that part of a day's cap can be
 * used which the open time so far is of the day's open time: each hour gets a share, and later hours get what earlier hours did not use.
 * KEYS caps (sorted sets: journeys by their hour) · ARGV journey, the hour that it may keep, the instant before which hours are
 * forgotten, of each cap the most an hour and a day (0: any number), of each candidate hour what `CandidateHour` has
 * Returns 0 where the journey keeps its hour; nothing where no hour has room; else the hour, the cap that was reached in the hour before
 * (0: none), and the two places for each cap.
 */
const takeScript = `
local isKept = true
for _, key in ipairs(KEYS) do
  isKept = isKept and tonumber(redis.call('ZSCORE', key, ARGV[1]) or '-1') == tonumber(ARGV[2])
end
if isKept then return {0} end
for _, key in ipairs(KEYS) do
  redis.call('ZREM', key, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. ARGV[3])
end
local full = 0
for h = 4 + 2 * #KEYS, #ARGV, 5 do
  local hour, dayFrom, dayUntil, part, whole = ARGV[h], ARGV[h + 1], ARGV[h + 2], ARGV[h + 3], ARGV[h + 4]
  local reply, hasRoom = {tonumber(hour), full}, true
  for i, key in ipairs(KEYS) do
    local perHour, perDay = tonumber(ARGV[2 + 2 * i]), tonumber(ARGV[3 + 2 * i])
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
    for _, key in ipairs(KEYS) do
      redis.call('ZADD', key, hour, ARGV[1])
      redis.call('PEXPIRE', key, 1728000000)
    end
    return reply
  end
end
return {}`;

const Reply = z.array(z.number());

/** How many requests each cap has let through, or will, by the hour: shared by all processes. */
export class CapSlots {
  readonly #redis: RedisClient;
  readonly #space: string;

  /** @param space whose places: `spaceOf` */
  constructor(redis: RedisClient, space: string) {
    this.#redis = redis;
    this.#space = space;
  }

  /** `keeps`: the hour that the journey keeps if it has that hour; `since`: hours before this instant are forgotten. */
  async take(
    journey: string,
    scopes: readonly CapScope[],
    { keeps, since }: { keeps: number; since: number },
    candidates: readonly CandidateHour[],
  ): Promise<Slot> {
    const caps = scopes.flatMap(({ hour = 0, day = 0 }) => [hour, day]);
    const hours = candidates.flatMap(({ hour, dayFrom, dayUntil, openMsThen, openMs }) => [
      hour,
      dayFrom,
      dayUntil,
      openMsThen,
      openMs,
    ]);
    const args = [journey, keeps, since, ...caps, ...hours];
    const [hour, full = 0, ...places] = Reply.parse(
      await runScript(this.#redis, takeScript, this.#keysOf(scopes), ...args),
    );
    if (hour === undefined) return { is: 'none' };
    if (hour === 0) return { is: 'kept' };
    const placesOf = scopes.map((_, i) => ({ ofDay: places[2 * i] ?? 0, ofHour: places[2 * i + 1] ?? 0 }));
    return { is: 'new', hour, places: placesOf, fullBefore: scopes[full - 1] };
  }

  /** How many places of each cap are taken in this hour, and on its day, half-open. */
  async taken(
    scopes: readonly CapScope[],
    { hour, day }: { hour: number; day: { from: number; until: number } },
  ): Promise<{ ofHour: number; ofDay: number }[]> {
    return await Promise.all(
      this.#keysOf(scopes).map(async (key) => ({
        ofHour: await this.#redis.zcount(key, hour, hour),
        ofDay: await this.#redis.zcount(key, day.from, `(${day.until}`),
      })),
    );
  }

  /** The journey asks nobody: other journeys may have its place. */
  async giveBack(journey: string, scopes: readonly CapScope[]): Promise<void> {
    for (const key of this.#keysOf(scopes)) await this.#redis.zrem(key, journey);
  }

  #keysOf(scopes: readonly CapScope[]): string[] {
    return scopes.map(({ name }) => `${this.#space}:cap:${name}`);
  }
}
