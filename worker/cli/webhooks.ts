import { randomUUID } from 'node:crypto';
import type { Webhook } from '../config/webhooks.ts';
import type { JourneyStore } from '../journey/store.ts';
import { forgetGone, isGone } from '../operations/gone.ts';
import { webhookTarget } from '../pipeline/targets.ts';
import type { RedisClient } from '../redis/client.ts';
import { globalTag } from '../redis/keys.ts';
import { instantsOf } from '../support/journey-filter.ts';
import { livePorts } from './live-ports.ts';
import { print, printTable, tryEach } from './output.ts';
import { type CommandOptions, named, readConfig } from './runtime.ts';
import { allSources, withQueue, withStored } from './with-stored.ts';

const none = 'No webhooks: "webhooks" in the configuration names none.';

/** Each webhook of the configuration, with what it has not taken. */
export async function listWebhooks(options: CommandOptions): Promise<number> {
  return await withStored(options, async (stored) => {
    const { config, redis } = stored.runtime;
    const sources = await allSources(stored);
    const rows = config.webhooks.map(async (webhook) => {
      const { url, events, include } = webhook;
      // A path may be a secret.
      const to = URL.parse(url)?.origin ?? url;
      const state = await webhookState(webhook, sources, redis);
      const { waiting, oldestAt, givenUp, gone } = state;
      const cells = [
        webhook.name,
        to,
        events.join(', ') || 'what rules send',
        oldestAt ? `${waiting} since ${oldestAt.toISOString()}` : `${waiting}`,
        `${givenUp}${gone ? ' (410 Gone)' : ''}`,
      ];
      return { result: { ...state, to, events, include }, cells };
    });
    const { timeZone } = config.feedback;
    const head = ['webhook', 'to', 'events', 'waiting', 'given up'];
    printTable({ ...options, timeZone }, head, await Promise.all(rows), none);
    return 0;
  });
}

/** Sends a test event to one webhook, or to all. Returns 1 when one does not take it, or there is none. */
export async function testWebhooks(options: CommandOptions & { name?: string | undefined }): Promise<number> {
  const { webhooks } = await readConfig(options, { uses: 'alerts', sources: 'named' });
  const tested = options.name === undefined ? webhooks : [named('webhook', options.name, webhooks)];
  const all = tested.map((webhook) => {
    const { name } = webhook;
    return { name, setting: `webhooks, ${name}`, tried: { webhook: name }, send: () => sendTest(webhook) };
  });
  return await tryEach(options, all, none);
}

async function sendTest(webhook: Webhook): Promise<void> {
  // Loaded here, as commands that only read Redis do not need it.
  const [{ poster }, { payloadVersion }] = await Promise.all([
    import('../pipeline/send/receivers.ts'),
    import('../pipeline/send/payload.ts'),
  ]);
  const { post, close } = poster(webhook, livePorts);
  const event = { type: 'webhook.test', version: payloadVersion, timestamp: new Date().toISOString(), data: {} };
  await post(`evt_test_${randomUUID()}`, event).finally(close);
}

/** Has events sent again that a webhook had not taken for three days, or had refused for good, and those that wait for their next try at once. */
export async function replayWebhooks(
  options: CommandOptions & { name: string; since?: string | undefined },
): Promise<number> {
  return await withStored(options, async (stored) => {
    const { config, redis } = stored.runtime;
    const webhook = named('webhook', options.name, config.webhooks);
    const { since = new Date(0) } = await instantsOf({ since: options.since }, config.feedback);
    await forgetGone(redis, webhook);
    const sources = await allSources(stored);
    const { waiting } = await webhookState(webhook, sources, redis);
    const events = await replayWebhook(webhook, since, sources);
    const { key } = webhookTarget(webhook).target;
    await withQueue(stored.runtime, { prefix: globalTag, name: key }, (queue) => queue.promoteJobs());
    const what = events === 1 ? '1 event is' : `${events} events are`;
    const tried = waiting === 0 ? [] : [`${waiting} that waited: tried at once.`];
    const line = [`${what} sent again to ${webhook.name}, within a minute.`, ...tried].join(' ');
    print(options, { webhook: webhook.name, events, waiting }, line);
    return 0;
  });
}

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
