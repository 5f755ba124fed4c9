import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type CloseloopError, neverSent } from '../../core/errors.ts';
import { type RedisClient, runScript } from './client.ts';
import { globalTag } from './keys.ts';
import { releaseLock, renewLock, takeLock } from './lock.ts';

/**
 * The version of the data in Redis. It is raised, with a migration, when an earlier closeloop would misread the data of this version. An added
 * field needs neither, as unknown fields are kept. History: CHANGELOG.md.
 */
export const dataVersion = 3;

/**
 * Migrates all data from the version before, while no other process works on the data. After a kill the migration runs again, and must not change
 * migrated data.
 */
export type Migration = (redis: RedisClient) => Promise<void>;

/** The data version of a release of closeloop. */
interface Known {
  version: number;
  /** The version of the release, for messages. */
  closeloop: string;
}

/** A data version with its migrations, by the data version that each migration leads to. */
export interface KnownData extends Known {
  migrations: ReadonlyMap<number, Migration>;
}

const Stored = z.object({
  version: z.int(),
  /** During a migration: the target version. */
  to: z.int().optional(),
  /** The version of the closeloop that created or migrated the data. */
  by: z.string(),
});
type Stored = z.output<typeof Stored>;

const versionKey = `${globalTag}:data-version`;
const lockKey = `${versionKey}:lock`;
/** The processes that work on the data, as "<data version> <id>", scored by when they count as dead, by the server's clock. */
const runningKey = `${globalTag}:running`;

/** A process that has not called `announce` for this long counts as dead. */
const aliveMs = 10_000;
const lockMs = 10_000;
/** A process that works on older data learns within this time of a migration: it calls `announce` every second. */
const learnMs = 3_000;

/** KEYS running, version · ARGV process, ms, version of an empty Redis. Returns the data version, with the closeloop that wrote it. */
const announceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('SET', KEYS[2], ARGV[3], 'NX')
return redis.call('GET', KEYS[2])`;

/**
 * Checks the data version for a command beside the loop. `begins`: the command may be the first process that stores anything in this Redis.
 * @throws CloseloopError config for data of another version
 */
export async function verifyData(redis: RedisClient, known: Known, { begins }: { begins: boolean }): Promise<void> {
  if (begins) await redis.set(versionKey, asBegun(known), 'NX');
  const text = await redis.get(versionKey);
  if (text === null) return;
  const stored = storedIn(text);
  const flaw = flawOf(stored, known);
  if (flaw) throw flaw;
  if (stored.version < known.version) throw tooOld(stored, known);
}

/** One process's part in the data version: announces itself, and migrates older data. */
export class DataVersion {
  readonly #redis: RedisClient;
  readonly #known: KnownData;
  readonly #name: string;
  #holdsLock = false;

  constructor(redis: RedisClient, known: KnownData) {
    this.#redis = redis;
    this.#known = known;
    this.#name = `${known.version} ${randomUUID()}`;
  }

  /**
   * Announces that this process works on the data. To be called before the process begins, and every second until `leave`.
   * @returns why the process must end: the data are newer, or are being migrated to a newer version
   */
  async announce(): Promise<CloseloopError | undefined> {
    const stored = await this.#announce();
    if (this.#holdsLock && !(await renewLock(this.#redis, lockKey, this.#name, lockMs))) return lockLost;
    return flawOf(stored, this.#known);
  }

  async leave(): Promise<void> {
    await this.#redis.zrem(runningKey, this.#name);
  }

  /**
   * Migrates older data to the version that this closeloop works on, when every process that works on older data has ended:
   * each such process ends when its `announce` returns an error. The caller has to call `announce` meanwhile, or another process also migrates.
   * @param say logs the steps, and the processes that the migration waits for
   */
  async takeUp(sleep: (ms: number) => Promise<void>, say: (fields: object, message: string) => void): Promise<void> {
    while (await this.#isOlder()) {
      this.#holdsLock = await takeLock(this.#redis, lockKey, this.#name, lockMs);
      if (!this.#holdsLock) await sleep(learnMs);
      else await this.#takeUpLocked(sleep, say).finally(() => this.#unlock());
    }
  }

  async #takeUpLocked(sleep: (ms: number) => Promise<void>, say: (fields: object, message: string) => void) {
    const { version, closeloop } = this.#known;
    const from = await this.#announce();
    if (from.version >= version) return;
    say({ from: from.version, to: version }, 'the data are taken up');
    await this.#store({ version: from.version, to: version, by: closeloop });
    await sleep(learnMs);
    for (let reported = 0, others = await this.#older(); others > 0; others = await this.#older()) {
      if (others !== reported) say({ processes: others }, 'waiting until those that work on older data have ended');
      reported = others;
      await sleep(learnMs);
    }
    for (let next = from.version + 1; next <= version; next += 1) {
      const migrate = this.#known.migrations.get(next);
      if (!migrate) throw new Error(`there is no migration to data version ${next}`);
      await migrate(this.#redis);
      await this.#store({ version: next, ...(next < version && { to: version }), by: closeloop });
      say({ version: next }, 'the data were taken up');
    }
  }

  async #isOlder(): Promise<boolean> {
    const stored = await this.#announce();
    const flaw = flawOf(stored, this.#known);
    if (flaw) throw flaw;
    return stored.version < this.#known.version;
  }

  async #announce(): Promise<Stored> {
    const args = [this.#name, aliveMs, asBegun(this.#known)];
    return storedIn(String(await runScript(this.#redis, announceScript, [runningKey, versionKey], ...args)));
  }

  async #older(): Promise<number> {
    await this.#announce();
    const running = await this.#redis.zrange(runningKey, '0', '-1');
    return running.filter((name) => Number.parseInt(name, 10) < this.#known.version).length;
  }

  /** @throws CloseloopError where this process was suspended for so long that another takes the data up */
  async #store(stored: Stored): Promise<void> {
    if (!(await renewLock(this.#redis, lockKey, this.#name, lockMs))) throw lockLost;
    await this.#redis.set(versionKey, JSON.stringify(stored));
  }

  async #unlock(): Promise<void> {
    this.#holdsLock = false;
    await releaseLock(this.#redis, lockKey, this.#name);
  }
}

const lockLost = neverSent(
  'This process was suspended while it took the data up, and another process may do so by now. Start it again',
);

function asBegun({ version, closeloop }: Known): string {
  return JSON.stringify({ version, by: closeloop } satisfies Stored);
}

function storedIn(text: string): Stored {
  return Stored.parse(JSON.parse(text));
}

function flawOf({ version, to = version, by }: Stored, known: Known): CloseloopError | undefined {
  if (to <= known.version) return undefined;
  const are =
    to === version
      ? `have version ${to} (of closeloop ${by})`
      : `are being taken up to version ${to} by closeloop ${by}`;
  return neverSent(
    `The data in this Redis ${are}, and this is closeloop ${known.closeloop}, which works on data version ${known.version}. ` +
      `Start closeloop ${by} or a later one. To go back to this one, restore the copy of Redis from before the upgrade (docs/upgrade.md)`,
  );
}

function tooOld({ version, by }: Stored, known: Known): CloseloopError {
  return neverSent(
    `The data in this Redis have version ${version} (of closeloop ${by}), and this is closeloop ${known.closeloop}, which works on ` +
      `data version ${known.version}: "closeloop start" takes them up (docs/upgrade.md), then give this command again`,
  );
}
