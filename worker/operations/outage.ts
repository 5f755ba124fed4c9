import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag, tagOf } from '../redis/keys.ts';
import { releaseLock, renewLock, takeLock } from '../redis/lock.ts';
import { runScript } from '../redis/script.ts';

/** After this many failed calls in a row, over all processes, the endpoint counts as down. */
const downAfter = 3;
/** How long a process goes by what it last read in Redis about an endpoint. Real time. */
const readEveryMs = 1_000;
/** Time between two probes: doubled each time, up to the longest. Real time. */
const firstProbeMs = 1_000;
const longestProbeMs = 60_000;
/** How long the lock of a probe outlives a killed process. Renewed while the probe lasts. Real time. */
const probeLockMs = 10_000;
const renewEveryMs = 3_000;
/** Failures are forgotten after this long without another. Real time. */
const forgetMs = 3_600_000;

/**
 * KEYS outage · ARGV how many failures make an outage, first and longest ms between probes, why, ms the other side asks to wait
 * ('' where it does not), ms to keep. Returns 1 when the endpoint is known to be down from now on. By Redis' clock.
 */
const failedScript = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local failures = redis.call('HINCRBY', KEYS[1], 'failures', 1)
redis.call('HSETNX', KEYS[1], 'since', now)
redis.call('HSET', KEYS[1], 'why', ARGV[4])
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), ARGV[6] + (tonumber(ARGV[5]) or 0)))
local probeAt = tonumber(redis.call('HGET', KEYS[1], 'probeAt'))
if not probeAt and failures < tonumber(ARGV[1]) and ARGV[5] == '' then return 0 end
local asked = now + tonumber(ARGV[5] == '' and 0 or ARGV[5])
if not probeAt or now >= probeAt then
  local probes = redis.call('HINCRBY', KEYS[1], 'probes', 1)
  local next = now + math.min(tonumber(ARGV[3]), ARGV[2] * 2 ^ math.min(probes - 1, 20))
  redis.call('HSET', KEYS[1], 'probeAt', string.format('%.0f', math.max(next, asked)))
elseif asked > probeAt then
  redis.call('HSET', KEYS[1], 'probeAt', string.format('%.0f', asked))
end
return probeAt and 0 or 1`;

/** KEYS outage · ARGV ms to keep. Returns '' or failures, since, why, ms until the next probe ('' while not down). */
const readScript = `
local failures = redis.call('HGET', KEYS[1], 'failures')
if not failures then return {} end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local probeAt = redis.call('HGET', KEYS[1], 'probeAt')
local wait = probeAt and string.format('%.0f', math.max(0, probeAt - now)) or ''
return {redis.call('HGET', KEYS[1], 'since'), redis.call('HGET', KEYS[1], 'why'), wait}`;

const Stored = z.union([z.tuple([]), z.tuple([z.coerce.number(), z.string(), z.string()])]);

const UsedUp = z.object({ since: z.coerce.date(), until: z.coerce.date() });

/** The recent failures of an endpoint. `untilProbeMs`: only while the endpoint is down. */
interface Known {
  since: Date;
  why: string;
  untilProbeMs: number | undefined;
}

/** Waits that a vendor asks for are shown to people from this length on. Real time. */
const longWaitMs = 600_000;

/** The Feedback service and the vendor of a source as endpoints, with the prefix of their keys. */
export const serviceEndpoint = { endpoint: 'Feedback service', key: `${globalTag}:outage` };
export const vendorEndpoint = (source: string) => ({ endpoint: `source ${source}`, key: `${tagOf(source)}:outage` });

export type Down = { endpoint: string; since: Date; why: string };

/**
 * Whether one endpoint (the Feedback service, a source's vendor) answers, shared by all processes. Every call reports how it
 * ended. After several failures in a row the endpoint counts as down: one job at a time, over all processes, calls it as a probe,
 * and the first call that is answered ends the outage for all.
 */
export class Outage {
  readonly endpoint: string;
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #log: Log;
  #known: Known | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<Known | undefined> | undefined;

  constructor(redis: RedisClient, options: { endpoint: string; key: string; log: Log }) {
    this.#redis = redis;
    this.endpoint = options.endpoint;
    this.#key = options.key;
    this.#log = options.log;
  }

  /** Reports a call without an answer, or with one that reports a fault of the endpoint. `waitMs`: how long it asks all callers to wait. */
  async failed(why: string, waitMs?: number): Promise<void> {
    const limits = [downAfter, firstProbeMs, longestProbeMs];
    const isNews = await runScript(this.#redis, failedScript, [this.#key], ...limits, why, waitMs ?? '', forgetMs);
    if (isNews === 1) {
      const what = 'does not answer: one job at a time finds out when it is back, all others wait';
      this.#log.warn({ endpoint: this.endpoint, why }, what);
    }
    await this.#read();
  }

  /** Reports a call that was answered, with whatever status. */
  async answered(): Promise<void> {
    const known = this.#known;
    if (!known) return;
    this.#known = undefined;
    const ended = await this.#redis.del(this.#key);
    if (ended === 1 && known.untilProbeMs !== undefined)
      this.#log.info({ endpoint: this.endpoint, since: known.since }, 'answers again');
  }

  /** Reports that the quota is used up: nobody may call before `waitMs` have passed. A short wait is not shown. */
  async usedUp(waitMs: number): Promise<void> {
    if (waitMs < longWaitMs) return;
    const until = new Date(Date.now() + waitMs);
    const isNews = await this.#redis.set(
      this.#quota,
      JSON.stringify({ since: new Date(), until }),
      'PX',
      Math.ceil(waitMs),
      'NX',
    );
    const what = "its vendor's quota is used up: nothing is lost, what needs the vendor waits";
    if (isNews === 'OK') this.#log.warn({ endpoint: this.endpoint, until }, what);
  }

  /** Until when the quota is used up; undefined: it is not. */
  async quota(): Promise<{ since: Date; until: Date } | undefined> {
    const stored = await this.#redis.get(this.#quota);
    return stored === null ? undefined : UsedUp.parse(JSON.parse(stored));
  }

  get #quota(): string {
    return `${this.#key}:quota`;
  }

  /** The outage, as of a second ago at most (`now`: as of now); undefined: the endpoint answers, as far as is known. */
  async down(options: { now: boolean } = { now: false }): Promise<(Down & { untilProbeMs: number }) | undefined> {
    const isFresh = !options.now && performance.now() - this.#readAt < readEveryMs;
    const known = isFresh ? this.#known : await this.#read();
    if (known?.untilProbeMs === undefined) return undefined;
    const { since, why, untilProbeMs } = known;
    return { endpoint: this.endpoint, since, why, untilProbeMs };
  }

  /**
   * Takes the right to probe, which one job over all processes has at a time. After a kill, or where the process stands still, the
   * next job may probe ten seconds later.
   * @param token of the job
   * @returns a function that ends the probe; undefined while another job probes
   */
  async takeProbe(token: string): Promise<(() => Promise<void>) | undefined> {
    const lock = `${this.#key}:probe`;
    if (!(await takeLock(this.#redis, lock, token, probeLockMs))) return undefined;
    const renewing = setInterval(() => {
      // Without Redis the lock expires: at worst two jobs probe.
      renewLock(this.#redis, lock, token, probeLockMs).catch(() => undefined);
    }, renewEveryMs).unref();
    return async () => {
      clearInterval(renewing);
      await releaseLock(this.#redis, lock, token);
    };
  }

  /** Reads Redis once for all callers that ask at the same time. */
  #read(): Promise<Known | undefined> {
    this.#reading ??= this.#readStored().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readStored(): Promise<Known | undefined> {
    const [since, why, wait] = Stored.parse(await runScript(this.#redis, readScript, [this.#key]));
    this.#readAt = performance.now();
    this.#known =
      since === undefined || why === undefined
        ? undefined
        : { since: new Date(since), why, untilProbeMs: wait ? Number(wait) : undefined };
    return this.#known;
  }
}
