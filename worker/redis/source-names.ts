import { z } from 'zod';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { lookUp } from '../../core/look-up.ts';
import type { RedisClient } from './client.ts';
import { gateOf, tagOf } from './keys.ts';
import { shared } from './shared.ts';

/** Hashes by old name: the new name of every source that was ever renamed, and what is known of renames under way. */
const renamedKey = '{cl}:sources:renamed';
const movingKey = '{cl}:sources:renaming';

const Rename = z.object({ to: z.string(), isChecked: z.boolean().default(false) });
type Rename = z.output<typeof Rename>;

/** While this key exists no job of the source is planned, as the source may be another one under a new name. The value is the reason. */
const newcomerOf = (name: string): string => `${tagOf(name)}:newcomer`;
/** A set: the sources that a person has said it is not. */
const besideOf = (name: string): string => `${tagOf(name)}:beside`;

/** The old and new names of sources, shared by all processes. */
export class SourceNames {
  readonly #redis: RedisClient;
  /** Cached by source: whether it is gated, and why it counts as a newcomer. Every job asks. */
  readonly #standing = new Map<string, () => Promise<(string | null)[]>>();

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /** Whether the source is being renamed, or has another name now: then its jobs wait. */
  async isGated(name: string): Promise<boolean> {
    const [gate] = await this.#standingOf(name);
    return typeof gate === 'string';
  }

  /** Whether any source is being renamed: then work over all sources waits. */
  async isAnyMoving(): Promise<boolean> {
    return (await this.#redis.exists(movingKey)) === 1;
  }

  /** A text that changes with each rename; undefined while a rename is under way. */
  async places(): Promise<string | undefined> {
    const names = await this.#redis.hgetall(renamedKey);
    return (await this.isAnyMoving()) ? undefined : JSON.stringify(Object.entries(names).sort());
  }

  /** New names by old ones: also through several renames. */
  async renamed(): Promise<Map<string, string>> {
    const stored = await this.#redis.hgetall(renamedKey);
    const now = (name: string, seen: readonly string[] = []): string => {
      const next = lookUp(stored, name);
      return next === undefined || seen.includes(name) ? name : now(next, [...seen, name]);
    };
    return new Map(Object.keys(stored).map((name) => [name, now(name)]));
  }

  /** Why no job of the source may be planned; undefined: jobs may be planned. */
  async newcomer(name: string): Promise<string | undefined> {
    const [, why] = await this.#standingOf(name);
    return why ?? undefined;
  }

  async #standingOf(name: string): Promise<(string | null)[]> {
    let read = this.#standing.get(name);
    if (!read) {
      read = shared(() => this.#redis.mget(gateOf(name), newcomerOf(name)));
      this.#standing.set(name, read);
    }
    return await read();
  }

  async noteNewcomer(name: string, why: string): Promise<void> {
    await this.#redis.set(newcomerOf(name), why);
  }

  /** Notes that the source is no newcomer. @returns whether it was one until now */
  async settle(name: string): Promise<boolean> {
    return (await this.#redis.del(newcomerOf(name))) === 1;
  }

  async beside(name: string): Promise<Set<string>> {
    return new Set(await this.#redis.smembers(besideOf(name)));
  }

  async noteBeside(name: string, other: string): Promise<void> {
    await this.#redis.sadd(besideOf(name), other);
  }

  async moving(from: string): Promise<Rename | undefined> {
    const stored = await this.#redis.hget(movingKey, from);
    return stored === null ? undefined : Rename.parse(JSON.parse(stored));
  }

  /** Begins a rename: from now on no process works on either source. Repeatable. */
  async begin(from: string, to: string): Promise<void> {
    await this.#redis.hsetnx(movingKey, from, JSON.stringify({ to }));
    await this.#redis.set(gateOf(to), `what was ${from} is being moved here`);
    await this.#redis.set(gateOf(from), `is called ${to} now`);
    await this.#redis.hdel(renamedKey, to);
    await this.#redis.hset(renamedKey, from, to);
  }

  /** Nothing stands against it. */
  async noteChecked(from: string, to: string): Promise<void> {
    await this.#redis.hset(movingKey, from, JSON.stringify({ to, isChecked: true }));
  }

  /** Ends a rename before anything was moved. */
  async undo(from: string, to: string): Promise<void> {
    await this.#redis.hdel(renamedKey, from);
    await this.#redis.del(gateOf(from));
    await this.#redis.del(gateOf(to));
    await this.#redis.hdel(movingKey, from);
  }

  /** Ends a rename after everything was moved. The old name stays gated: a process that still has it configured must not begin it anew. */
  async end(from: string, to: string): Promise<void> {
    await this.#redis.del(gateOf(to));
    await this.#redis.hdel(movingKey, from);
  }
}

/** The error of a script that found the source gated, as callers know it; any other error as it is. */
export function gatedOr(error: unknown): unknown {
  if (!messageOf(error).startsWith('GATED')) return error;
  const message = 'the source is being renamed, or has another name now';
  return new CloseloopError(message, { kind: 'transient', retryAfterMs: 5_000 }, { outcome: 'never-sent' });
}
