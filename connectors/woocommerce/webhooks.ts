import { z } from 'zod';
import { isSameUrl } from '../../core/connector/check.ts';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { comparedHooks, type DeskHooks, type WantedHook } from '../../core/connector/desk/preflight.ts';
import { numberedPages } from '../../core/connector/pages.ts';
import { listOf, text } from '../../core/entries.ts';
import { messageOf } from '../../core/errors.ts';
import type { Shop } from './api.ts';
import { id } from './order.ts';
import type { WooCommerceSettings } from './settings.ts';

/** The prefix of the names of closeloop's webhooks, by which the poll recognises them at any address. */
const namePrefix = 'closeloop ';

const Webhook = z.object({
  id,
  ...{ name: text, status: z.string(), topic: text, delivery_url: text },
});
type Webhook = z.output<typeof Webhook>;

/** Webhooks for every save of an order, and for its deletion. The poll finds the rest (orders created as completed). */
const wantedTopics = ['order.updated', 'order.deleted'] as const;

const perPage = 100;

/** The webhooks of a shop. Those that closeloop creates have its first secret. */
function webhooksOf({ webhookSecrets: [secret = ''] }: WooCommerceSettings, shop: Shop, urgency: Urgency) {
  return {
    secret,
    /** Lists all pages, because a webhook that is missing in the list would be created again and again. */
    list: () =>
      numberedPages('WooCommerce: webhooks', perPage, async (page) => {
        const query = { per_page: String(perPage), page: String(page) };
        return (await shop.call('GET', 'webhooks', listOf(Webhook), { query, urgency })).data;
      }),
    async create(topic: string, delivery_url: string) {
      const body = { name: `${namePrefix}${topic}`, topic, delivery_url, secret };
      await shop.call('POST', 'webhooks', Webhook, { body, urgency });
    },
    async activate(id: string, more: { secret?: string } = {}) {
      await shop.call('PUT', `webhooks/${id}`, Webhook, { body: { status: 'active', ...more }, urgency });
    },
  };
}

const deliversTo = (hookUrl: string) => (webhook: Webhook) => isSameUrl(webhook.delivery_url, hookUrl);

/** Compares the webhooks that deliver here with the webhooks that closeloop needs. Active webhooks stay unchanged, as their secret can't be read. */
export async function webhooksCompared(settings: WooCommerceSettings, shop: Shop, hookUrl: string) {
  const { secret, list, create, activate } = webhooksOf(settings, shop, 'work');
  const here = (await list()).filter(deliversTo(hookUrl));
  // Webhooks of actions that report every closing can replace the first topic.
  const active = here.filter(({ status }) => status === 'active').map(({ topic }) => topic);
  const tellsAll = settings.statuses.every((status) => active.includes(`action.woocommerce_order_status_${status}`));
  const hooks: DeskHooks<Webhook, WantedHook> = {
    list: async () => here,
    wanted: () =>
      wantedTopics
        .filter((topic) => topic === 'order.deleted' || !tellsAll)
        .map((topic) => {
          const what = `the webhook of the topic ${topic} to ${hookUrl}`;
          // Without this webhook closeloop notices an order in the trash when its request is due.
          return { id: topic, what, ...(topic === 'order.deleted' && { level: 'warning' }) };
        }),
    is: ({ topic }, { id }) => topic === id,
    flaws({ status }) {
      if (status === 'active') return [];
      return [`is ${status}${status === 'disabled' ? ', which the shop does after failures' : ''}`];
    },
    async make({ id: topic }, there) {
      await (there === undefined ? create(topic, hookUrl) : activate(there.id, { secret }));
      return {};
    },
  };
  return await comparedHooks(hooks, hookUrl);
}

const instant = z.iso.datetime().transform((text) => new Date(text));

/** The last check of the webhooks, and the topics that delivered here at that time: a topic that is missing later was lost. */
const Look = z.object({ at: instant, here: listOf(z.enum(wantedTopics)) }).optional();
type Topics = NonNullable<z.output<typeof Look>>['here'];

/**
 * Checks the webhooks at the end of a poll, once in each `watchEvery`: the shop disables a webhook after seven failures in a row without
 * telling anybody. Webhooks that existed before are created again; `setup` creates the first webhooks.
 */
export function webhookWatch(
  settings: WooCommerceSettings,
  shop: Shop,
  { log, hookUrl }: Pick<ConnectorPorts, 'log' | 'hookUrl'>,
) {
  const { site, watchEvery } = settings;
  const { list, create, activate } = webhooksOf(settings, shop, 'background');
  const hasTopic = (webhooks: readonly Webhook[], topic: string) => webhooks.some((one) => one.topic === topic);

  /**
   * Activates closeloop's webhooks that the shop disabled; webhooks that a person paused or redirected stay unchanged. Creates missing webhooks
   * of the topics in `before` again. Returns the topics that deliver here.
   */
  async function wake(before: Topics): Promise<Topics> {
    const all = await list();
    const ours = all.filter(({ name }) => name.startsWith(namePrefix));
    for (const { id, topic, status } of ours) {
      if (status !== 'disabled') continue;
      await activate(id);
      log.warn({ site, webhook: id, topic }, 'the shop had switched this webhook off after failures: it is on again');
    }
    const here = hookUrl === undefined ? [] : all.filter(deliversTo(hookUrl));
    const lost = before.filter((topic) => !hasTopic([...ours, ...here], topic));
    if (ours.length + here.length + lost.length === 0)
      log.warn({ site }, 'no webhook of closeloop in the shop: orders are found by polling only; run closeloop setup');
    // Without an address closeloop can't create lost webhooks again.
    if (hookUrl === undefined) return before;
    for (const topic of lost) {
      await create(topic, hookUrl);
      log.warn({ site, topic }, 'the webhook of this topic was gone from the shop: it is made again');
    }
    return wantedTopics.filter((topic) => hasTopic(here, topic) || lost.includes(topic));
  }

  return async (kept: unknown, at: Date) => {
    const last = Look.parse(kept);
    if (last !== undefined && at.getTime() - last.at.getTime() < watchEvery) return last;
    const before = last?.here ?? [];
    try {
      return { at, here: await wake(before) };
    } catch (error) {
      // The poll has found the orders, so the failure only waits for the next check of the webhooks.
      log.warn({ why: messageOf(error) }, 'the webhooks could not be looked at');
      return { at, here: before };
    }
  };
}
