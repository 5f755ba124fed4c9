import { randomBytes } from 'node:crypto';
import { type CloseloopError, neverSent } from '../../core/errors.ts';
import { type RedisClient, runScript } from './client.ts';
import { createSeal, deriveKey, type Seal, SealError } from './seal.ts';

/**
 * Holds, separated by spaces: the installation's key, sealed with the operator's key; then keys of processes that began with a key of their own; last
 * the digest of the installation's key, for processes with another operator's key.
 */
const dataKeyKey = '{cl}:data-key';

interface KeySettings {
  /** `secretsKey` of the configuration: the present key, and during a change of the key also the earlier key. */
  secretsKey?: readonly Uint8Array[] | undefined;
  feedback: { apiKey: string };
}

/**
 * The keys that may open the data of this installation, the present key first. `ownKey`: the key of the embedded Redis, from a file
 * beside its data. Without `secretsKey`, data in an external Redis is sealed with a key derived from the API key, which a person who can
 * read that Redis does not have: so closeloop starts with the shortest configuration, and `check` recommends `secretsKey`.
 */
export function operatorKeys({ secretsKey = [], feedback }: KeySettings, ownKey?: Uint8Array): Uint8Array[] {
  return [...secretsKey, ownKey ?? deriveKey(feedback.apiKey, 'api key')];
}

/** The warning of `check` and `start` about an external Redis without `secretsKey`. */
export function keyAdvice(config: { secretsKey?: unknown; redis?: unknown }): string | undefined {
  if (config.redis === undefined || config.secretsKey !== undefined) return undefined;
  return 'what Redis holds about people is sealed with a key derived from feedback.apiKey: after a change of that key nothing could be read';
}

/** The result of a check of the key in Redis. `restored`: Redis had been emptied. `another`: another process has made a new key since. */
type KeyFound = 'same' | 'restored' | 'another';

/** Compare and set. KEYS data key · ARGV old value, new value. Returns 0 when another process has changed it. */
const changeScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`;

/**
 * The seal of the installation in this Redis. Its key is random, made once, and stored sealed with the operator's key: so a person can change
 * the operator's key without sealing all data again, and closeloop notices a wrong key at once.
 */
export class DataKey {
  readonly seal: Seal;
  readonly #redis: RedisClient;
  readonly #wrappers: readonly [Seal, ...Seal[]];
  readonly #replicated: () => Promise<void>;
  readonly #own: string;
  #others: readonly string[];

  private constructor(
    redis: RedisClient,
    wrappers: readonly [Seal, ...Seal[]],
    replicated: () => Promise<void>,
    [own, ...others]: readonly [string, ...string[]],
  ) {
    this.#redis = redis;
    this.#wrappers = wrappers;
    this.#replicated = replicated;
    this.#own = own;
    this.#others = others;
    this.seal = createSeal(bytesOf(own), () => this.#others.map(bytesOf));
  }

  /**
   * @param replicated resolves when a failover would not lose what was stored
   * @throws CloseloopError config when none of `keys` is the one that the data was sealed with
   */
  static async open(
    redis: RedisClient,
    keys: readonly Uint8Array[],
    replicated: () => Promise<void> = async () => undefined,
  ): Promise<DataKey> {
    const [current, ...earlier] = keys.map((key) => createSeal(deriveKey(key, 'data key')));
    if (!current) throw new Error('there is always a key: operatorKeys');
    const wrappers = [current, ...earlier] as const;
    const stored = (await redis.get(dataKeyKey)) ?? (await make(redis, current, replicated));
    const known = keysIn(stored, wrappers);
    if (!known) throw sealedWithAnother();
    if (keysIn(stored, [current]) === undefined) {
      const isChanged = (await runScript(redis, changeScript, [dataKeyKey], stored, sealedWith(current, known))) === 1;
      if (!isChanged) return await DataKey.open(redis, keys, replicated);
    }
    return new DataKey(redis, wrappers, replicated, known);
  }

  /**
   * Checks that the key in Redis is the key of this process. After Redis was emptied the key is stored again, so that the next process
   * can read the data that this process has stored since. If another process made a new key first, this process adds its key to the stored keys.
   */
  async check(): Promise<KeyFound> {
    const [current] = this.#wrappers;
    const all = [this.#own, ...this.#others] as const;
    const stored = await this.#redis.get(dataKeyKey);
    if (stored === null) {
      const isBack = (await this.#redis.set(dataKeyKey, sealedWith(current, all), 'NX')) === 'OK';
      await this.#replicatedIfPossible();
      return isBack ? 'restored' : await this.check();
    }
    const known = keysIn(stored, this.#wrappers);
    if (known?.[0] === this.#own) {
      this.#others = known.slice(1);
      return 'same';
    }
    // Sealed with an operator's key that this process was not given: secretsKey is being changed.
    if (!known) return stored.endsWith(` ${idOf(this.#own)}`) ? 'same' : 'another';
    if (known.includes(this.#own)) return 'another';
    const both = sealedWith(current, [known[0], ...new Set([...known.slice(1), ...all])]);
    if ((await runScript(this.#redis, changeScript, [dataKeyKey], stored, both)) !== 1) return await this.check();
    await this.#replicatedIfPossible();
    return 'another';
  }

  /** Waits for replicas, and ignores a failure: the result of the check counts anyway, as a second check would not find the change again. */
  async #replicatedIfPossible(): Promise<void> {
    await this.#replicated().catch(() => undefined);
  }
}

/** Makes the key. If two processes start at once, only one of them stores a key, and both use it. */
async function make(redis: RedisClient, wrapper: Seal, replicated: () => Promise<void>): Promise<string> {
  const made = sealedWith(wrapper, [randomBytes(32).toString('base64')]);
  await redis.set(dataKeyKey, made, 'NX');
  await replicated();
  return (await redis.get(dataKeyKey)) ?? made;
}

const bytesOf = (key: string): Uint8Array => Buffer.from(key, 'base64');
/** A digest of the key. It reveals nothing, as the key is random. */
const idOf = (key: string): string => createSeal(bytesOf(key)).digest(dataKeyKey);

function sealedWith(wrapper: Seal, keys: readonly [string, ...string[]]): string {
  return [...keys.map((key) => wrapper.seal(key, dataKeyKey)), idOf(keys[0])].join(' ');
}

/** The unsealed keys; undefined where the first key, the installation's, can't be unsealed. */
function keysIn(stored: string, wrappers: readonly Seal[]): [string, ...string[]] | undefined {
  const [own, ...others] = stored.split(' ').map((one) => opened(wrappers, one));
  return own === undefined ? undefined : [own, ...others.filter((one) => one !== undefined)];
}

function opened(wrappers: readonly Seal[], stored: string): string | undefined {
  for (const wrapper of wrappers) {
    try {
      return wrapper.open(stored, dataKeyKey);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
  }
  return undefined;
}

function sealedWithAnother(): CloseloopError {
  return neverSent(
    'The data in this Redis was sealed with another key. Give back the key that it was sealed with: secretsKey (while you ' +
      'change it: secretsKey: [new, earlier]), the file secrets-key beside the data of the embedded Redis, or, where there ' +
      'was neither, the earlier feedback.apiKey; or use an empty Redis',
  );
}
