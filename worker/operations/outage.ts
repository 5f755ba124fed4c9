import { z } from 'zod';
import type { Log } from '../../core/ports.ts';
import { longestWaitMs } from '../../core/retry.ts';
import { type RedisClient, runScript } from '../redis/client.ts';
import { globalTag, tagOf } from '../redis/keys.ts';
import { releaseLock, renewLock, takeLock } from '../redis/lock.ts';

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
 * ('' where it does not), ms to keep, longest ms for which that holds. Returns 1 when the endpoint is known to be down from now on. By Redis' clock.
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
local asked = now + math.min(tonumber(ARGV[7]), tonumber(ARGV[5] == '' and 0 or ARGV[5]))
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'askedUntil', string.format('%.0f', now + ARGV[5])) end
if not probeAt or now >= probeAt then
  local probes = redis.call('HINCRBY', KEYS[1], 'probes', 1)
  local next = now + math.min(tonumber(ARGV[3]), ARGV[2] * 2 ^ math.min(probes - 1, 20))
  redis.call('HSET', KEYS[1], 'probeAt', string.format('%.0f', math.max(next, asked)))
elseif asked > probeAt then
  redis.call('HSET', KEYS[1], 'probeAt', string.format('%.0f', asked))
end
return probeAt and 0 or 1`;

/** KEYS outage. Returns nothing, or since, why, ms until the next probe ('' while not down), and until when it asks to wait ('': it does not). */
const readScript = `
local failures = redis.call('HGET', KEYS[1], 'failures')
if not failures then return {} end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local probeAt = redis.call('HGET', KEYS[1], 'probeAt')
local wait = probeAt and string.format('%.0f', math.max(0, probeAt - now)) or ''
local asked = tonumber(redis.call('HGET', KEYS[1], 'askedUntil') or 0)
return {redis.call('HGET', KEYS[1], 'since'), redis.call('HGET', KEYS[1], 'why'), wait, asked > now and string.format('%.0f', asked) or ''}`;

/** The next probe is due now. KEYS outage, used-up quota. Returns 1 where there was something to lift. */
const liftScript = `
local lifted = redis.call('DEL', KEYS[2])
if redis.call('HEXISTS', KEYS[1], 'probeAt') == 0 then return lifted end
redis.call('HSET', KEYS[1], 'probeAt', 0)
redis.call('HDEL', KEYS[1], 'askedUntil')
return 1`;

const Stored = z.union([z.tuple([]), z.tuple([z.coerce.number(), z.string(), z.string(), z.string()])]);

const UsedUp = z.object({ since: z.coerce.date(), until: z.coerce.date() });

/** The recent failures of an endpoint. `untilProbeMs`: only while the endpoint is down. */
interface Known {
  since: Date;
  why: string;
  untilProbeMs: number | undefined;
  /** Until when the endpoint asks all callers to wait: its own word, and no promise of ours. */
  askedUntil: Date | undefined;
}

/** Waits that a vendor asks for are shown to people from this length on. Real time. */
const longWaitMs = 600_000;
/** In this time after a wait a job has tried the vendor, and said whether the quota is still used up. Real time. */
const triedWithinMs = 60_000;

/** The Feedback service and the vendor of a source as endpoints, with the prefix of their keys. */
export const serviceEndpoint = { endpoint: 'Feedback service', key: `${globalTag}:outage` };
export const vendorEndpoint = ({ name, storedAs }: { name: string; storedAs: string }) => ({
  endpoint: `source ${name}`,
  key: `${tagOf(storedAs)}:outage`,
});

export interface Down {
  endpoint: string;
  since: Date;
  why: string;
  /** The time until which the endpoint asks to wait. */
  askedUntil?: Date | undefined;
  /** The time of the next try, whatever the endpoint asks. */
  triedAt: Date;
}

/** The remedy for a person who knows that the wait is over. */
export const resumeRemedy = '"closeloop source resume" has it tried at once';

/** A sentence for people about an endpoint that is down: why. If it asks to wait: until when, by which header, and when closeloop tries it. */
export function sentenceOf({ endpoint, why, askedUntil, triedAt }: Omit<Down, 'since'>): string {
  if (askedUntil === undefined) return `${endpoint} does not answer: ${why}`;
  const sooner = triedAt < askedUntil ? `, tried again at ${triedAt.toISOString()} all the same` : '';
  return `${endpoint} asks to wait until ${askedUntil.toISOString()} (by its Retry-After)${sooner}: ${why}`;
}

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
    const rest = [why, waitMs ?? '', forgetMs, longestWaitMs];
    const isNews = await runScript(this.#redis, failedScript, [this.#key], ...limits, ...rest);
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

  /**
   * Reports that the quota is used up: the vendor asks to wait for `waitMs`. A short wait is not shown, and a long one until the vendor is
   * tried again without being told to wait.
   */
  async usedUp(waitMs: number): Promise<void> {
    if (waitMs < longWaitMs) return;
    const known = await this.quota();
    const until = new Date(Math.max(Date.now() + waitMs, known?.until.getTime() ?? 0));
    const entry = JSON.stringify({ since: known?.since ?? new Date(), until });
    await this.#redis.set(this.#quota, entry, 'PX', Math.ceil(Math.min(waitMs, longestWaitMs + triedWithinMs)));
    const what = "its vendor's quota is used up: nothing is lost, what needs the vendor waits";
    if (!known) this.#log.warn({ endpoint: this.endpoint, until }, what);
  }

  /** A person says that the wait is over: one job tries the endpoint at once. @returns whether it was down, or its quota used up */
  async lift(): Promise<boolean> {
    const lifted = await runScript(this.#redis, liftScript, [this.#key, this.#quota]);
    await this.#read();
    return lifted === 1;
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
    const { since, why, untilProbeMs, askedUntil } = known;
    const triedAt = new Date(Date.now() + untilProbeMs);
    return { endpoint: this.endpoint, since, why, untilProbeMs, triedAt, ...(askedUntil && { askedUntil }) };
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
    const [since, why, wait, asked] = Stored.parse(await runScript(this.#redis, readScript, [this.#key]));
    this.#readAt = performance.now();
    this.#known =
      since === undefined || why === undefined
        ? undefined
        : {
            since: new Date(since),
            why,
            untilProbeMs: wait ? Number(wait) : undefined,
            askedUntil: asked ? new Date(Number(asked)) : undefined,
          };
    return this.#known;
  }
}
