import { z } from 'zod';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';

// A hash holds a claim for each key: "queued <job>" while the job that holds the key waits, "begun <job>" while that job works on the key,
// "again <job>" when somebody wanted the key during that work. A claim is valid while BullMQ has its job. A worker is at work on the key
// while BullMQ has the job's lock, which expires when the worker is killed.
//
// BullMQ's own deduplication (`keepLastIfActive`) does the same for a job with one key; these jobs hold up to a hundred keys.

/** For the scripts below: KEYS claims · ARGV beginning of the keys of jobs, id of a job or '', keys… */
const reading = `
local jobs, job, found = ARGV[1], ARGV[2], {}
local function claimOf(key)
  return string.match(redis.call('HGET', KEYS[1], key) or '', '^(%a+) (.+)$')
end
-- Whether another job is working on the key. If so, notes for that job that the key is wanted again.
local function isOthers(key)
  local state, holder = claimOf(key)
  if not state or state == 'queued' or holder == job or redis.call('EXISTS', jobs .. holder .. ':lock') == 0 then return false end
  redis.call('HSET', KEYS[1], key, 'again ' .. holder)
  return true
end
`;

/** Returns the keys that no job holds. Notes for jobs at work that their keys are wanted again. */
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

/** ARGV after the id of the job that has held the keys: pairs of a key and the id of the job that gets the key */
const handScript = `${reading}
for i = 3, #ARGV, 2 do
  if not isOthers(ARGV[i]) then redis.call('HSET', KEYS[1], ARGV[i], 'queued ' .. ARGV[i + 1]) end
end
return found`;

/** Returns the keys that no other job is working on. From now on this job works on them. */
const beginScript = `${reading}
for i = 3, #ARGV do
  if not isOthers(ARGV[i]) then
    redis.call('HSET', KEYS[1], ARGV[i], 'begun ' .. job)
    table.insert(found, ARGV[i])
  end
end
return found`;

/** Returns the keys that were wanted during the work: their claims stay until another job gets them. */
const endScript = `${reading}
for i = 3, #ARGV do
  local state, holder = claimOf(ARGV[i])
  if holder == job and state == 'again' then table.insert(found, ARGV[i]) end
  if holder == job and state == 'begun' then redis.call('HDEL', KEYS[1], ARGV[i]) end
end
return found`;

const Keys = z.array(z.string());

/** Which job of a queue holds which keys, so that over all processes one job at a time works on a key. */
export class Claims {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #jobs: string;

  /** @param queue prefix and name of the queue */
  constructor(redis: RedisClient, { prefix, name }: { prefix: string; name: string }) {
    this.#redis = redis;
    this.#key = `${prefix}:claims:${name}`;
    this.#jobs = `${prefix}:${name}:`;
  }

  /** @returns the keys that need a new job. The others are in waiting jobs, or in jobs at work, whose `end` returns them. */
  async want(keys: readonly string[]): Promise<string[]> {
    return await this.#run(wantScript, keys);
  }

  /**
   * Gives keys to jobs that are about to be added.
   * @param jobs the job's id by key
   * @param from the job that has held the keys
   */
  async hand(jobs: ReadonlyMap<string, string>, from?: string): Promise<void> {
    await this.#run(handScript, [...jobs].flat(), from);
  }

  /** @returns the keys that the job may work on. Jobs that work on the other keys return them from `end`. */
  async begin(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(beginScript, keys, job);
  }

  /** The job has ended its work on the keys. @returns the keys that were wanted meanwhile, and need another job */
  async end(keys: readonly string[], job: string): Promise<string[]> {
    return await this.#run(endScript, keys, job);
  }

  async #run(script: string, keys: readonly string[], job = ''): Promise<string[]> {
    if (keys.length === 0) return [];
    return Keys.parse(await runScript(this.#redis, script, [this.#key], this.#jobs, job, ...keys));
  }
}
