import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { type RedisClient, runScript } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';

const About = z.object({
  host: z.string(),
  pid: z.number(),
  role: z.string(),
  version: z.string(),
  startedAt: z.coerce.date(),
  /** Fingerprint of the configuration in use: worker/config/changes.ts. */
  configuration: z.string(),
  /** It sends nothing: `start --dry-run`. */
  dryRun: z.boolean().default(false),
});
type About = z.output<typeof About>;

export interface RunningProcess extends About {
  heartbeatAt: Date;
}

/** A hash by process: the time of its last heartbeat, by the server's clock, and its description. */
const key = `${globalTag}:processes`;
/** A process without a heartbeat for this long counts as ended. */
const aliveMs = 10_000;

/** Stores a heartbeat and deletes the entries of processes that ended without deleting their own. KEYS processes · ARGV id, JSON, ms */
const reportScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if tonumber(string.match(all[i + 1], '^%d+')) + ARGV[3] < now then redis.call('HDEL', KEYS[1], all[i]) end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])`;

/** This process, as `status` shows it on any machine. */
export class Heartbeat {
  readonly #redis: RedisClient;
  readonly #id = randomUUID();
  readonly #about: () => string;
  readonly #since = { host: hostname(), pid: process.pid, startedAt: new Date() };

  constructor(redis: RedisClient, about: () => Pick<About, 'role' | 'version' | 'configuration' | 'dryRun'>) {
    this.#redis = redis;
    this.#about = () => JSON.stringify({ ...this.#since, ...about() } satisfies About);
  }

  /** Stores a heartbeat. Call it every second or two. */
  async report(): Promise<void> {
    await runScript(this.#redis, reportScript, [key], this.#id, this.#about(), aliveMs);
  }

  async end(): Promise<void> {
    await this.#redis.hdel(key, this.#id);
  }
}

/** The running processes, in the order in which they were started. */
export async function runningProcesses(redis: RedisClient): Promise<RunningProcess[]> {
  const [[seconds = 0, micros = 0], stored] = await Promise.all([redis.time(), redis.hgetall(key)]);
  const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const all = Object.values(stored).flatMap((text): RunningProcess[] => {
    const at = Number.parseInt(text, 10);
    const about = About.safeParse(JSON.parse(text.slice(text.indexOf(' ') + 1)));
    return about.success && at + aliveMs >= now ? [{ ...about.data, heartbeatAt: new Date(at) }] : [];
  });
  return all.sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
}
