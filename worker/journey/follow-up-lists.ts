import type { RedisClient } from '../redis/client.ts';
import { tagOf } from '../redis/keys.ts';

/** Not done yet, by when it is due; and done, by when it was. */
export type FollowUpList = 'open' | 'done';

/**
 * The ids of a source's journeys with a follow-up. The follow-up itself is in its journey: an id is in a list before its journey says so, and
 * perhaps after it does no more, so whoever reads a list looks at the journey.
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

  /** The earliest first: `open` the most overdue, `done` the oldest. @param range instants; both ends count */
  async ids(
    list: FollowUpList,
    { from, until, limit }: { from?: Date; until?: Date; limit: number },
  ): Promise<string[]> {
    const min = from?.getTime() ?? '-inf';
    const max = until?.getTime() ?? '+inf';
    return await this.#redis.zrangebyscore(this.#key(list), min, max, 'LIMIT', 0, limit);
  }

  async count(list: FollowUpList): Promise<number> {
    return await this.#redis.zcard(this.#key(list));
  }
}
