import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import type { Vault } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { RedisClient } from '../journey/store.ts';
import { releaseLock, takeLock } from './lock.ts';

/** Longer than any exchange of a token. Real time. */
const lockMs = 60_000;
const cipher = 'aes-256-gcm';

/**
 * The secrets of one source, in Redis, sealed with AES-256-GCM. The name is sealed in as well, so that nobody who can
 * write to Redis can put one secret in another's place. `key`: 32 bytes.
 */
export function createVault(
  redis: RedisClient,
  options: { tag: string; key: Uint8Array | undefined },
  ports: Pick<Ports, 'sleep'>,
): Vault {
  const { tag, key } = options;
  const keyOf = (name: string) => `${tag}:vault:${name}`;

  return {
    async get(name) {
      const sealed = await redis.get(keyOf(name));
      if (sealed === null) return undefined;
      return open(sealed, need(key), keyOf(name));
    },
    async set(name, value) {
      await redis.set(keyOf(name), seal(value, need(key), keyOf(name)));
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

function need(key: Uint8Array | undefined): Uint8Array {
  if (key) return key;
  throw new CloseloopError(
    'This source keeps a secret that changes, and there is no key to seal it with: set secretsKey in the configuration ' +
      '(32 random bytes in base64, from the environment: openssl rand -base64 32)',
    { kind: 'config' },
    { outcome: 'never-sent' },
  );
}

/** `<iv>.<tag>.<text>`, base64url. */
function seal(text: string, key: Uint8Array, about: string): string {
  const iv = randomBytes(12);
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(about));
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return [iv, sealing.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.');
}

function open(sealed: string, key: Uint8Array, about: string): string {
  const [iv, tag, text] = sealed.split('.').map((part) => Buffer.from(part, 'base64url'));
  try {
    if (iv?.length !== 12 || tag?.length !== 16 || !text) throw new Error('not a sealed secret');
    const opening = createDecipheriv(cipher, key, iv).setAAD(Buffer.from(about)).setAuthTag(tag);
    return Buffer.concat([opening.update(text), opening.final()]).toString('utf8');
  } catch (cause) {
    throw new CloseloopError(
      'A stored secret does not open with secretsKey of the configuration: give back the key it was sealed with, or connect the account anew',
      { kind: 'config' },
      { outcome: 'never-sent', cause },
    );
  }
}
