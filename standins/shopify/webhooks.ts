import { createHmac, randomUUID } from 'node:crypto';
import type { DeliveryResult, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import type { Subscription } from './definitions.ts';
import { railsJson } from './payloads.ts';

/** Shopify's signature of a webhook: over the bytes, with the secret as it is written. */
export function signShopify(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

/** Five seconds for an answer; eight more tries within about four hours, ever further apart. */
export const shopifyRetries: RetryPolicy = {
  timeoutMs: 5_000,
  pauseMs: (attempts) => (attempts.length <= 8 ? 56_000 * 2 ** (attempts.length - 1) : undefined),
};

export interface WebhookPorts {
  sender: WebhookSender;
  shopDomain: string;
  /** The app's client secret. */
  secret: string;
  version: () => string;
  now: () => number;
  /** A delivery of this one failed for good. */
  failed: (subscription: Subscription) => void;
}

/** Delivers bodies: the same bytes at every try, signed once, with the id of the delivery. */
export class Webhooks {
  readonly #ports: WebhookPorts;
  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** To every subscription of the topic whose filter lets it through. `eventId`: the same for all that one action causes. */
  async announce(
    subscriptions: readonly Subscription[],
    topic: string,
    payload: Record<string, unknown>,
    eventId: string,
  ): Promise<DeliveryResult[]> {
    const name = topic.replace('/', '_').toUpperCase();
    const wanted = subscriptions.filter((one) => one.topic === name && passes(one.filter, payload));
    return Promise.all(
      wanted.map(async (one) => {
        const body = one.format === 'XML' ? '<order/>' : railsJson(trimmed(payload, one.includeFields));
        const result = await this.deliver(one.uri, topic, body, eventId, one.format);
        if (!result.delivered && !one.ofApp) this.#ports.failed(one);
        return result;
      }),
    );
  }

  deliver(
    uri: string,
    topic: string,
    body: string,
    eventId: string = randomUUID(),
    format = 'JSON',
  ): Promise<DeliveryResult> {
    const { sender, secret, shopDomain, version, now } = this.#ports;
    const headers = {
      'content-type': format === 'XML' ? 'application/xml' : 'application/json',
      'user-agent': 'Shopify-Captain-Hook',
      'x-shopify-topic': topic,
      'x-shopify-hmac-sha256': signShopify(secret, body),
      'x-shopify-shop-domain': shopDomain,
      'x-shopify-api-version': version(),
      'x-shopify-webhook-id': randomUUID(),
      'x-shopify-event-id': eventId,
      // Up to nanoseconds.
      'x-shopify-triggered-at': new Date(now()).toISOString().replace('Z', '812345Z'),
    };
    return sender.send(() => ({ method: 'POST', url: uri, headers, body }));
  }
}

/** `field:value` terms on the top of the payload, joined by AND or OR. */
function passes(filter: string | null, payload: Record<string, unknown>): boolean {
  if (filter === null || filter === '') return true;
  return filter.split(/\s+OR\s+/).some((all) =>
    all.split(/\s+AND\s+/).every((term) => {
      const [name = '', value = ''] = term.split(':');
      return String(payload[name.trim()]) === value.trim();
    }),
  );
}

function trimmed(payload: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  if (fields.length === 0) return payload;
  return Object.fromEntries(Object.entries(payload).filter(([name]) => fields.includes(name)));
}
