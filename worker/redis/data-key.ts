import { randomBytes } from 'node:crypto';
import { CloseloopError } from '../../core/errors.ts';
import type { RedisClient } from './client.ts';
import { createSeal, deriveKey, type Seal, SealError } from './seal.ts';

/** The installation's key, sealed with the operator's. */
const dataKeyKey = '{cl}:data-key';

export interface KeySettings {
  /** `secretsKey` of the configuration: the one in use, and while it is changed the one before. */
  secretsKey?: readonly Uint8Array[] | undefined;
  feedback: { apiKey: string };
}

/**
 * The keys that may open what this installation has stored, the one in use first. `ownKey`: the embedded Redis', from a file
 * beside its data. A Redis elsewhere without `secretsKey` is sealed with a key derived from the API key, which whoever reads
 * that Redis does not have: closeloop starts with the shortest configuration, and `check` asks for `secretsKey`.
 */
export function operatorKeys({ secretsKey = [], feedback }: KeySettings, ownKey?: Uint8Array): Uint8Array[] {
  return [...secretsKey, ownKey ?? deriveKey(feedback.apiKey, 'api key')];
}

/** What `check` and a start say of a Redis elsewhere without `secretsKey`. */
export function keyAdvice(config: { secretsKey?: unknown; redis?: unknown }): string | undefined {
  if (config.redis === undefined || config.secretsKey !== undefined) return undefined;
  return 'what Redis holds about people is sealed with a key derived from feedback.apiKey: after a change of that key nothing could be read';
}

/**
 * The seal of the installation that lives in this Redis. Its key is random, made once, and kept there sealed with the
 * operator's: so the operator's can be changed without sealing everything anew, and a wrong one is noticed at once.
 * @param replicated resolves when a failover would not lose what was stored
 * @throws CloseloopError config when none of `keys` is the one that the data was sealed with
 */
export async function openSeal(
  redis: RedisClient,
  keys: readonly Uint8Array[],
  replicated: () => Promise<void> = async () => undefined,
): Promise<Seal> {
  const wrappers = keys.map((key) => createSeal(deriveKey(key, 'data key')));
  const [current] = wrappers;
  if (!current) throw new Error('there is always a key: operatorKeys');
  const stored = (await redis.get(dataKeyKey)) ?? (await make(redis, current, replicated));
  for (const wrapper of wrappers) {
    const dataKey = opened(wrapper, stored);
    if (dataKey === undefined) continue;
    if (wrapper !== current) await redis.set(dataKeyKey, current.seal(dataKey, dataKeyKey));
    return createSeal(Buffer.from(dataKey, 'base64'));
  }
  throw new CloseloopError(
    'The data in this Redis was sealed with another key. Give back the key that it was sealed with: secretsKey (while you ' +
      'change it: secretsKey: [new, earlier]), the file secrets-key beside the data of the embedded Redis, or, where there ' +
      'was neither, the earlier feedback.apiKey; or use an empty Redis',
    { kind: 'config' },
    { outcome: 'never-sent' },
  );
}

/** Of two processes that begin at once one makes it. */
async function make(redis: RedisClient, wrapper: Seal, replicated: () => Promise<void>): Promise<string> {
  const made = wrapper.seal(randomBytes(32).toString('base64'), dataKeyKey);
  await redis.set(dataKeyKey, made, 'NX');
  await replicated();
  return (await redis.get(dataKeyKey)) ?? made;
}

function opened(wrapper: Seal, stored: string): string | undefined {
  try {
    return wrapper.open(stored, dataKeyKey);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
