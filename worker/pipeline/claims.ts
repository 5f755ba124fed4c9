import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';

// A hash, of each key: "queued <job>", a job that holds it; "begun <job>" once that job works on it; "again <job>" once it was wanted
// meanwhile. A claim counts for as long as its job is there, and has begun for as long as a worker has the lock of its job: BullMQ keeps
// both, and the lock of a worker that was killed expires.

/** For the scripts below: KEYS claims · ARGV beginning of the keys of jobs, id of a job or '', keys… */
const reading = `
local jobs, job, found = ARGV[1], ARGV[2], {}
local function claimOf(key)
  return string.match(redis.call('HGET', KEYS[1], key) or '', '^(%a+) (.+)$')
end
-- Whether another job than this one is working on it, which is told then that it is wanted again.
local function isOthers(key)
  local state, holder = claimOf(key)
  if not state or state == 'queued' or holder == job or redis.call('EXISTS', jobs .. holder .. ':lock') == 0 then return false end
  redis.call('HSET', KEYS[1], key, 'again ' .. holder)
  return true
end
`;

/** Returns the keys that no job holds. */
const wantScript = `${reading}
for i = 3, #ARGV do
  local state, holder = claimOf(ARGV[i])
  if not state or redis.call('EXISTS', jobs .. holder) == 0 then
    table.insert(found, ARGV[i])
  elseif state == 'begun' then
    redis.call('HSET', KEYS[1], ARGV[i], 'again ' .. holder)
  end
end
return found`;

/** ARGV after the job, which gives them: of each key itself and the id of the job that gets it */
const handScript = `${reading}
for i = 3, #ARGV, 2 do
  if not isOthers(ARGV[i]) then redis.call('HSET', KEYS[1], ARGV[i], 'queued ' .. ARGV[i + 1]) end
end
return found`;

/** Returns the keys that no other job is working on: this one is from now on. */
const beginScript = `${reading}
for i = 3, #ARGV do
  if not isOthers(ARGV[i]) then
    redis.call('HSET', KEYS[1], ARGV[i], 'begun ' .. job)
    table.insert(found, ARGV[i])
  end
end
return found`;

/** Returns the keys that were wanted again meanwhile: they stay claimed, until another job holds them. */
const endScript = `${reading}
for i = 3, #ARGV do
  local state, holder = claimOf(ARGV[i])
  if holder == job and state == 'again' then table.insert(found, ARGV[i]) end
  if holder == job and state == 'begun' then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
return found`;

const Keys = z.array(z.string());

/** Which jobs of a queue hold what, so that of each key one job at a time is worked on, whichever process runs it. */
export class Claims {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #jobs: string;

  /** @param queue its prefix and its name */
  constructor(redis: RedisClient, { prefix, name }: { prefix: string; name: string }) {
    this.#redis = redis;
    this.#key = `${prefix}:claims:${name}`;
    this.#jobs = `${prefix}:${name}:`;
  }

  /** @returns the keys that a job has to be added for: the others are held by jobs that have not begun yet, or are told at their end */
  async want(keys: readonly string[]): Promise<string[]> {
    return await this.#run(wantScript, keys);
  }

  /**
   * Gives keys to jobs that are about to be added.
   * @param jobs the id of the job of each key
   * @param from the job that has held them
   */
  async hand(jobs: ReadonlyMap<string, string>, from?: string): Promise<void> {
    await this.#run(handScript, [...jobs].flat(), from);
  }

  /** @returns the keys that the job may work on; of the others it is noted that they are wanted again */
  async begin(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(beginScript, keys, job);
  }

  /** The job has done its work on these. @returns those that are wanted again: another job has to be added for them */
  async end(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(endScript, keys, job);
  }

  async #run(script: string, keys: readonly string[], job = ''): Promise<string[]> {
    if (keys.length === 0) return [];
    return Keys.parse(await runScript(this.#redis, script, [this.#key], this.#jobs, job, ...keys));
  }
}
