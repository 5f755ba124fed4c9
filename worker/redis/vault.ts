import { randomUUID } from 'node:crypto';
import type { Vault } from '../../core/connector/contract.ts';
import { neverSent } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { RedisClient } from './client.ts';
import { releaseLock, takeLock } from './lock.ts';
import { type Seal, SealError } from './seal.ts';

/** How long a lock of the vault lasts: longer than any exchange of a token. Real time. */
const lockMs = 60_000;

/** The secrets of one source, in Redis, sealed. */
export function createVault(
  redis: RedisClient,
  { tag, seal }: { tag: string; seal: Seal },
  ports: Pick<Ports, 'sleep'>,
): Vault {
  const keyOf = (name: string) => `${tag}:vault:${name}`;
  const about = (name: string) => `vault ${name}`;

  return {
    async get(name) {
      const sealed = await redis.get(keyOf(name));
      if (sealed === null) return undefined;
      return open(seal, sealed, about(name));
    },
    async set(name, value) {
      await redis.set(keyOf(name), seal.seal(value, about(name)));
    },
    async locked(name, work) {
      const lock = `${keyOf(name)}:lock`;
      const token = randomUUID();
      while (!(await takeLock(redis, lock, token, lockMs))) await ports.sleep(100);
      try {
        return await work();
      } finally {
        await releaseLock(redis, lock, token);
      }
    },
  };
}

function open(seal: Seal, sealed: string, about: string): string {
  try {
    return seal.open(sealed, about);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    const message = 'A stored secret of this source does not open: it was changed in Redis. Connect the account anew';
    throw neverSent(message, 'config', cause);
  }
}
