import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CalledAs } from '../../core/connector/calls.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import type { RedisClient } from '../redis/client.ts';
import type { JourneyCall, StoredCall } from './calls.ts';

/** A source makes calls of a few dozen names. A connector that put ids into names would fill Redis. */
const mostNames = 1_000;

const Name = z.tuple([z.string(), z.string()]);
const unknown: CalledAs = { to: '?', operation: 'a call whose name is not known any more' };

/**
 * Whom a source's journeys call and for what, by short codes: journeys are stored with codes, as the names would take a third of a
 * journey. A code is made of its name, so that processes need not agree on codes, and a lost name is never taken for another one.
 */
export class CallNames {
  readonly #redis: RedisClient;
  readonly #key: string;
  /** Of names that this process has stored. */
  readonly #codes = new Map<string, string>();

  /** @param key a hash: names by code */
  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Each name is stored before its code can be. */
  async coded(calls: readonly JourneyCall[]): Promise<StoredCall[]> {
    return await Promise.all(
      calls.map(async ({ at, end, ms, tries, ...name }) => ({ at, code: await this.#codeOf(name), end, ms, tries })),
    );
  }

  async named(calls: readonly StoredCall[]): Promise<JourneyCall[]> {
    if (calls.length === 0) return [];
    const names = await this.#redis.hmget(this.#key, ...calls.map(({ code }) => code));
    return calls.map(({ code: _, ...call }, i) => {
      const name = Name.safeParse(jsonBody(names[i] ?? ''));
      return name.success ? { ...call, to: name.data[0], operation: name.data[1] } : { ...call, ...unknown };
    });
  }

  async #codeOf({ to, operation }: CalledAs): Promise<string> {
    const name = JSON.stringify([to, operation]);
    const known = this.#codes.get(name);
    if (known !== undefined) return known;
    const code = createHash('sha256').update(name).digest('base64url').slice(0, 4);
    if ((await this.#redis.hlen(this.#key)) < mostNames) await this.#redis.hset(this.#key, code, name);
    if (this.#codes.size < mostNames) this.#codes.set(name, code);
    return code;
  }
}
