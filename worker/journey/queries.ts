import { z } from 'zod';
import type { Contact } from '../../core/contact.ts';
import type { RedisClient } from '../redis/client.ts';
import { runScript } from '../redis/script.ts';
import { type Journey, type JourneyState, journeyStates } from './journey.ts';
import type { JourneyKeys } from './journey-keys.ts';
import type { JourneyReader, Left } from './reader.ts';
import { pageScript } from './scripts.ts';

/** Lists of the journeys of one source. Changes nothing. */
export class JourneyQueries {
  readonly #redis: RedisClient;
  readonly #keys: JourneyKeys;
  readonly #reader: JourneyReader;

  constructor(redis: RedisClient, keys: JourneyKeys, reader: JourneyReader) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reader = reader;
  }

  /** The journeys about a person: by the vendor's id of them, or by their contact. */
  async of(who: { personId: string } | { contact: Contact }, left?: Left): Promise<Journey[]> {
    const key = this.#keys.person(who);
    return await this.#reader.those(await this.#redis.smembers(key), left);
  }

  /** Every journey, in no order; those that are made or moved meanwhile may be left out or come twice. */
  async *all(left?: Left): AsyncGenerator<Journey> {
    for (const state of journeyStates) {
      let cursor = '0';
      do {
        const [next, flat] = await this.#redis.zscan(this.#keys.state(state), cursor, 'COUNT', 500);
        cursor = next;
        for (let i = 0; i < flat.length; i += 2) {
          const journey = await this.#reader.readable(flat[i] ?? '', left);
          if (journey) yield journey;
        }
      } while (cursor !== '0');
    }
  }

  /** Ids in one state, by last change (waiting: by when they are due), earliest first. */
  async idsIn(state: JourneyState, options: { since?: Date; before?: Date; limit?: number } = {}): Promise<string[]> {
    const { since, before, limit = 1000 } = options;
    const [from, until] = [since?.getTime() ?? '-inf', before?.getTime() ?? '+inf'];
    return await this.#redis.zrangebyscore(this.#keys.state(state), from, until, 'LIMIT', 0, limit);
  }

  /** Journeys in one state, in the order of `idsIn`. */
  async oldestIn(state: JourneyState, options: { since?: Date; limit: number }): Promise<Journey[]> {
    return await this.#reader.those(await this.idsIn(state, options));
  }

  /**
   * Ids in one state, by last change (waiting: by when they are due), earliest first, page by page: also past those that stay
   * where they are. Those that move meanwhile come at most once more.
   */
  async *pagesIn(state: JourneyState, before: Date, size: number): AsyncGenerator<string[]> {
    let score = '-inf';
    // Of the last page, those of its last millisecond: a hundred thousand may be due in one, as a window opens.
    let last: string[] = [];
    for (;;) {
      const answer = await runScript(this.#redis, pageScript, [this.#keys.state(state)], score, size, ...last);
      const flat = z.array(z.string()).parse(answer);
      const found = flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, score: flat[i + 1] ?? '' }] : []));
      const rows = found.filter((row) => Number(row.score) <= before.getTime());
      score = rows.at(-1)?.score ?? score;
      last = rows.filter((row) => row.score === score).map(({ id }) => id);
      if (rows.length > 0) yield rows.map(({ id }) => id);
      if (rows.length < size) return;
    }
  }

  /** Journeys of these states, last changed first (waiting: last due first), a page at a time. */
  async *newest(states: readonly JourneyState[]): AsyncGenerator<Journey> {
    const seen = new Set<string>();
    for (let limit = 200; ; limit *= 4) {
      const ids = await this.latestIds(states, limit);
      for (const { id } of ids) {
        if (seen.has(id)) continue;
        seen.add(id);
        const journey = await this.#reader.readable(id);
        if (journey) yield journey;
      }
      if (ids.length < limit) return;
    }
  }

  /** Ids of all states, last changed first. */
  async latestIds(states: readonly JourneyState[], limit: number): Promise<{ id: string; at: number }[]> {
    const perState = await Promise.all(
      states.map((state) => this.#redis.zrevrange(this.#keys.state(state), 0, limit - 1, 'WITHSCORES')),
    );
    const all = perState.flatMap((flat) =>
      flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: Number(flat[i + 1]) }] : [])),
    );
    return all.sort((a, b) => b.at - a.at).slice(0, limit);
  }

  async counts(): Promise<Record<JourneyState, number>> {
    const entries = await Promise.all(
      journeyStates.map(async (state) => [state, await this.#redis.zcard(this.#keys.state(state))] as const),
    );
    return Object.fromEntries(entries) as Record<JourneyState, number>;
  }

  /** For each feedback request: the journey that created it, `undefined` for one that isn't this source's. */
  async idsOfRequests(requestIds: readonly string[]): Promise<(string | undefined)[]> {
    if (requestIds.length === 0) return [];
    const pipeline = this.#redis.pipeline();
    for (const id of requestIds) pipeline.hget(this.#keys.requests(id), id);
    const answers = (await pipeline.exec()) ?? [];
    return answers.map(([error, id]) => {
      if (error) throw error;
      return typeof id === 'string' ? id : undefined;
    });
  }
}
