import { z } from 'zod';
import type { RecordSnapshots } from '../../core/connector/contract.ts';
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

/** The snapshots of the records of one source, as events carried them. */
export interface SnapshotStore extends RecordSnapshots {
  /** Stores an event's snapshot unless a newer one is stored. Idempotent; events may come in any order. */
  save(recordId: string, at: Date, snapshot: object, options?: { onlyFirst?: boolean }): Promise<void>;
  /** Erases the snapshot, and ignores snapshots of events from before `at`. */
  erase(recordId: string, at: Date): Promise<void>;
  /** Changes the snapshot. `decide` may be called several times; undefined leaves the snapshot as it is, null erases it. */
  change(recordId: string, decide: (snapshot: object) => Promise<object> | object | null | undefined): Promise<void>;
  /** Records whose snapshot was stored before they had a journey, unordered; some may come twice. */
  alone(): AsyncGenerator<string>;
  /** Whether an event of this source has ever carried a snapshot. */
  isUsed(): Promise<boolean>;
}

const Stored = z.record(z.string(), z.unknown());
const Rows = z.array(z.tuple([z.unknown(), z.string().nullable().optional()]));

export function createSnapshotStore(
  redis: RedisClient,
  { tag, keepMs, seal }: { tag: string; keepMs: number; seal: Seal },
): SnapshotStore {
  const keyOf = (recordId: string) => `${tag}:snapshot:${recordId}`;
  const about = (recordId: string) => `snapshot of ${recordId}`;
  const used = `${tag}:snapshots-used`;
  const alone = `${tag}:snapshots-alone`;

  return {
    async save(recordId, at, snapshot, { onlyFirst = false } = {}) {
      const keys = [keyOf(recordId), recordsKey(tag, recordId), used, alone];
      const args = [
        at.getTime(),
        seal.seal(JSON.stringify(snapshot), about(recordId)),
        keepMs,
        onlyFirst ? '1' : '0',
        recordId,
        Date.now(),
      ];
      await runScript(redis, saveScript, keys, ...args);
    },
    async erase(recordId, at) {
      await runScript(redis, eraseScript, [keyOf(recordId)], at.getTime());
    },
    async change(recordId, decide) {
      for (;;) {
        const stored = await redis.hget(keyOf(recordId), 'sealed');
        if (!stored) return;
        const next = await decide(Stored.parse(JSON.parse(seal.open(stored, about(recordId)))));
        if (next === undefined) return;
        const sealed = next === null ? '' : seal.seal(JSON.stringify(next), about(recordId));
        if ((await runScript(redis, changeScript, [keyOf(recordId)], stored, sealed)) === 1) return;
      }
    },
    async *alone() {
      let cursor = '0';
      do {
        const [next, flat] = await redis.zscan(alone, cursor, 'COUNT', 500);
        cursor = next;
        yield* flat.filter((_, i) => i % 2 === 0);
      } while (cursor !== '0');
    },
    isUsed: async () => (await redis.exists(used)) === 1,
    async of(recordIds) {
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
