import type { Webhook } from '../config/webhooks.ts';
import type { JourneyStore } from '../journey/store.ts';
import { isGone } from '../operations/gone.ts';
import { webhookTarget } from '../pipeline/targets.ts';
import type { RedisClient } from '../redis/client.ts';

type Stored = { store: Pick<JourneyStore, 'outgoing'> };

/** The state of a webhook, for JSON: how many events it has not taken yet, since when, and how many were given up, over all sources. */
export async function webhookState(webhook: Webhook, sources: readonly Stored[], redis: RedisClient) {
  const { key } = webhookTarget(webhook).target;
  const counts = await Promise.all(sources.map(({ store }) => store.outgoing.counts(key)));
  const oldest = counts.flatMap(({ oldestAt }) => oldestAt ?? []).sort((a, b) => a.getTime() - b.getTime());
  return {
    webhook: webhook.name,
    waiting: counts.reduce((sum, { due }) => sum + due, 0),
    oldestAt: oldest[0],
    givenUp: counts.reduce((sum, { givenUp }) => sum + givenUp, 0),
    /** It has answered 410 Gone: nothing is sent to it. */
    gone: await isGone(redis, webhook),
  };
}

/** Sends the events again that were given up since then. @returns how many events */
export async function replayWebhook(webhook: Webhook, since: Date, sources: readonly Stored[]): Promise<number> {
  const { key } = webhookTarget(webhook).target;
  const counts = await Promise.all(sources.map(({ store }) => store.outgoing.replay(key, since)));
  return counts.reduce((sum, count) => sum + count, 0);
}
