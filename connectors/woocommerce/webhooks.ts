import { z } from 'zod';
import { isSameUrl } from '../../core/connector/check.ts';
import type { Urgency } from '../../core/connector/contract.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { Shop } from './api.ts';
import { id } from './order.ts';

/** The names of closeloop's webhooks begin with it, by which the poll recognises them, whatever their address. */
const namePrefix = 'closeloop ';

export const Webhook = z.object({
  id,
  name: orElse(z.string(), ''),
  status: z.string(),
  topic: orElse(z.string(), ''),
  delivery_url: orElse(z.string(), ''),
});
export type Webhook = z.output<typeof Webhook>;

/** Every save of an order, and its deletion. The poll finds the rest (orders created as completed). */
export const wantedTopics = ['order.updated', 'order.deleted'] as const;

const nameOf = (topic: string): string => `${namePrefix}${topic}`;

const perPage = 100;

/** All pages: a webhook that is missed would be created again and again. */
export async function listWebhooks(shop: Shop, urgency: Urgency = 'work'): Promise<Webhook[]> {
  const all: Webhook[] = [];
  for (let page = 1; ; page++) {
    const query = { per_page: String(perPage), page: String(page) };
    const { data } = await shop.call('GET', 'webhooks', listOf(Webhook), { query, urgency });
    all.push(...data);
    if (data.length < perPage) return all;
  }
}

export const isNamedOurs = ({ name }: Webhook): boolean => name.startsWith(namePrefix);

export const pointsTo = (webhook: Webhook, hookUrl: string): boolean => isSameUrl(webhook.delivery_url, hookUrl);

export async function makeWebhook(
  shop: Shop,
  { topic, hookUrl, secret }: { topic: string; hookUrl: string; secret: string },
  urgency: Urgency = 'work',
): Promise<void> {
  const body = { name: nameOf(topic), topic, delivery_url: hookUrl, secret };
  await shop.call('POST', 'webhooks', Webhook, { body, urgency });
}

export async function activate(
  shop: Shop,
  id: string,
  more: { secret?: string; urgency?: Urgency } = {},
): Promise<void> {
  const { secret, urgency = 'work' } = more;
  const body = { status: 'active', ...(secret !== undefined && { secret }) };
  await shop.call('PUT', `webhooks/${id}`, Webhook, { body, urgency });
}
