import { z } from 'zod';
import { type RedisClient, runScript } from '../redis/client.ts';
import type { Seal } from '../redis/seal.ts';
import { recordsKey } from './journey-keys.ts';

/**
 * KEYS snapshot, records, used, alone · ARGV instant, sealed JSON, milliseconds to keep it without a journey, '1': only where
 * there is none, record id, now.
 * Of two snapshots of one instant the later arrival wins. Making a journey removes the expiry, and forgetting the record's last
 * journey removes the snapshot (journey/store.ts).
 */
const saveScript = `
local held = redis.call('HGET', KEYS[1], 'at')
if held and (ARGV[4] == '1' or tonumber(held) > tonumber(ARGV[1])) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'sealed', ARGV[2])
if redis.call('HEXISTS', KEYS[2], ARGV[5]) == 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[6])
  redis.call('ZADD', KEYS[4], ARGV[6] + ARGV[3], ARGV[5])
end
redis.call('SET', KEYS[3], 1)
return 1`;

/** An empty snapshot stays behind, so that an older one can't come back. KEYS snapshot · ARGV instant */
const eraseScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'at', ARGV[1], 'sealed', '') end
return 1`;

/** Compare and set. KEYS snapshot · ARGV sealed JSON as read, the new one */
const changeScript = `
if redis.call('HGET', KEYS[1], 'sealed') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
return 1`;

const Stored = z.record(z.string(), z.unknown());
const Rows = z.array(z.tuple([z.unknown(), z.string().nullable().optional()]));

export type SnapshotStore = ReturnType<typeof createSnapshotStore>;

/** The snapshots of the records of one source, as events carried them. */
export function createSnapshotStore(
  redis: RedisClient,
  { tag, keepMs, seal }: { tag: string; keepMs: number; seal: Seal },
) {
  const keyOf = (recordId: string) => `${tag}:snapshot:${recordId}`;
  const about = (recordId: string) => `snapshot of ${recordId}`;
  const used = `${tag}:snapshots-used`;
  const alone = `${tag}:snapshots-alone`;

  return {
    /** Stores an event's snapshot unless a newer one is stored. Idempotent; events may come in any order. */
    async save(recordId: string, at: Date, snapshot: object, { onlyFirst = false } = {}): Promise<void> {
      const keys = [keyOf(recordId), recordsKey(tag, recordId), used, alone];
      const sealed = seal.seal(JSON.stringify(snapshot), about(recordId));
      const args = [at.getTime(), sealed, keepMs, onlyFirst ? '1' : '0', recordId, Date.now()];
      await runScript(redis, saveScript, keys, ...args);
    },
    /** Erases the snapshot, and ignores snapshots of events from before `at`. */
    async erase(recordId: string, at: Date): Promise<void> {
      await runScript(redis, eraseScript, [keyOf(recordId)], at.getTime());
    },
    /** Changes the snapshot. `decide` may be called several times; undefined leaves the snapshot as it is, null erases it. */
    async change(
      recordId: string,
      decide: (snapshot: object) => Promise<object> | object | null | undefined,
    ): Promise<void> {
      for (;;) {
        const stored = await redis.hget(keyOf(recordId), 'sealed');
        if (!stored) return;
        const next = await decide(Stored.parse(JSON.parse(seal.open(stored, about(recordId)))));
        if (next === undefined) return;
        const sealed = next === null ? '' : seal.seal(JSON.stringify(next), about(recordId));
        if ((await runScript(redis, changeScript, [keyOf(recordId)], stored, sealed)) === 1) return;
      }
    },
    /** Records whose snapshot was stored before they had a journey, unordered; some may come twice. */
    async *alone(): AsyncGenerator<string> {
      let cursor = '0';
      do {
        const [next, flat] = await redis.zscan(alone, cursor, 'COUNT', 500);
        cursor = next;
        yield* flat.filter((_, i) => i % 2 === 0);
      } while (cursor !== '0');
    },
    /** Whether an event of this source has ever carried a snapshot. */
    isUsed: async (): Promise<boolean> => (await redis.exists(used)) === 1,
    async of(recordIds: readonly string[]): Promise<unknown[]> {
      if (recordIds.length === 0) return [];
      const pipeline = redis.pipeline();
      for (const id of recordIds) pipeline.hget(keyOf(id), 'sealed');
      const rows = Rows.parse(await pipeline.exec());
      return rows.map(([error, sealed], i) => {
        if (error) throw error;
        return sealed ? JSON.parse(seal.open(sealed, about(recordIds[i] ?? ''))) : undefined;
      });
    },
  };
}
