import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';
import { placeOf } from './follow-up.ts';
import type { Journey } from './journey.ts';
import type { JourneyStore } from './store.ts';

/** `open`: not done yet, sorted by the time when it is due. `done`: sorted by the time when it was done. */
export type FollowUpList = 'open' | 'done';

export interface FollowUpEntry {
  id: string;
  /** When it is due, or was done. */
  at: Date;
}

const pageSize = 500;

/**
 * The ids of a source's journeys with a follow-up. The follow-up itself is in its journey: an id is in a list before its journey says so, and
 * perhaps after it does no more, so whoever reads a list looks at the journey, and has it listed anew (`relist`) where the two differ.
 */
export class FollowUpLists {
  readonly #redis: RedisClient;
  readonly #tag: string;

  constructor(redis: RedisClient, source: string) {
    this.#redis = redis;
    this.#tag = tagOf(source);
  }

  #key(list: FollowUpList): string {
    return `${this.#tag}:follow-ups:${list}`;
  }

  /** @param at when it is due, or was done */
  async put(list: FollowUpList, journeyId: string, at: Date): Promise<void> {
    const other = list === 'open' ? 'done' : 'open';
    await this.#redis.multi().zadd(this.#key(list), at.getTime(), journeyId).zrem(this.#key(other), journeyId).exec();
  }

  async remove(journeyId: string): Promise<void> {
    await this.#redis.multi().zrem(this.#key('open'), journeyId).zrem(this.#key('done'), journeyId).exec();
  }

  /**
   * Lists the journey where it belongs by what it says now; takes it out of the lists where it says nothing of a follow-up. Whoever
   * changes a follow-up calls this afterwards. Several may at once: each looks again whether what it has listed still holds.
   */
  async relist(journeyId: string, store: Pick<JourneyStore, 'get' | 'isCurrent'>): Promise<void> {
    let journey: Journey | undefined;
    do {
      journey = await store.get(journeyId);
      const place = placeOf(journey);
      if (place === 'nowhere') await this.remove(journeyId);
      // The action may have listed it, and this may just have taken it out again.
      else if (place === 'awaited') await this.#redis.zadd(this.#key('open'), 'NX', Date.now(), journeyId);
      else await this.put(place.list, journeyId, place.at);
    } while (journey && !(await store.isCurrent(journey)));
  }

  /**
   * Page by page, each entry once: `open` the most overdue first, `done` the last one first. Entries may be put, moved and taken out
   * meanwhile. @param from begins there, with everything of that instant @param until `open`: only what is due by then
   */
  async *pages(
    list: FollowUpList,
    { from, until, size = pageSize }: { from?: Date | undefined; until?: Date | undefined; size?: number } = {},
  ): AsyncGenerator<FollowUpEntry[]> {
    const seen = new Set<string>();
    let last = from;
    let tied = 0;
    for (;;) {
      // The last instant again, as others may have it as well.
      const most = size + tied;
      const found = await this.#page(list, { from: last, until, most });
      const page = found.filter(({ id }) => !seen.has(id));
      for (const { id } of page) seen.add(id);
      if (page.length > 0) yield page;
      if (found.length < most) return;
      last = found.at(-1)?.at;
      tied = found.filter(({ at }) => at.getTime() === last?.getTime()).length;
    }
  }

  async #page(
    list: FollowUpList,
    { from, until, most }: { from: Date | undefined; until: Date | undefined; most: number },
  ): Promise<FollowUpEntry[]> {
    const key = this.#key(list);
    const limit = ['WITHSCORES', 'LIMIT', 0, most] as const;
    const flat =
      list === 'open'
        ? await this.#redis.zrangebyscore(key, from?.getTime() ?? '-inf', until?.getTime() ?? '+inf', ...limit)
        : await this.#redis.zrevrangebyscore(key, from?.getTime() ?? '+inf', '-inf', ...limit);
    return flat.flatMap((id, i) => (i % 2 === 0 ? [{ id, at: new Date(Number(flat[i + 1])) }] : []));
  }

  /** @param until only what is due, or was done, by then */
  async count(list: FollowUpList, until?: Date): Promise<number> {
    const key = this.#key(list);
    return until ? await this.#redis.zcount(key, '-inf', until.getTime()) : await this.#redis.zcard(key);
  }
}
