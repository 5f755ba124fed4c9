import { createHash, createHmac } from 'node:crypto';
import type { DeliveryResult, Message, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import type { Order, Settings, Webhook } from './definitions.ts';
import { phpJson, viewOrder } from './views.ts';

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#039;': "'",
};

/** base64(HMAC-SHA256(body)). The stored secret's HTML entities are decoded before it becomes the key. */
export function signWooCommerce(secret: string, raw: Uint8Array | string): string {
  const key = secret.replace(/&(?:amp|lt|gt|quot|#039);/g, (entity) => entities[entity] ?? entity);
  return createHmac('sha256', key).update(raw).digest('base64');
}

/** One attempt, never a second. */
export const wooCommerceRetries: RetryPolicy = { timeoutMs: 60_000, pauseMs: () => undefined };

const mostFailures = 5;

interface OutboxPorts {
  sender: WebhookSender;
  now: () => number;
  site: () => string;
  settings: () => Settings;
}

/** Delivers to the webhooks: built when it is sent, equal ones that wait are one, failures counted. */
export class Outbox {
  readonly #ports: OutboxPorts;
  readonly #waiting = new Map<string, Promise<DeliveryResult>>();

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
  }

  /** To every active webhook of these topics. `order` may change until the delivery leaves. */
  announce(webhooks: Iterable<Webhook>, topics: readonly string[], order: Order): Promise<DeliveryResult>[] {
    if (!this.#ports.settings().deliveries) return [];
    return [...webhooks]
      .filter((webhook) => webhook.status === 'active' && topics.includes(webhook.topic))
      .map((webhook) => {
        const key = `${webhook.id} ${order.id}`;
        const waiting = this.#waiting.get(key);
        if (waiting !== undefined) return waiting;
        const result = this.#deliver(webhook, () => {
          this.#waiting.delete(key);
          return this.#message(webhook, this.#body(webhook, order));
        });
        this.#waiting.set(key, result);
        return result;
      });
  }

  /** Form-encoded, unsigned, of none of the X-WC headers. */
  async ping(webhook: Webhook): Promise<DeliveryResult> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': agent };
    return await this.#ports.sender.send(() => ({
      method: 'POST',
      url: webhook.deliveryUrl,
      headers,
      body: `webhook_id=${webhook.id}`,
    }));
  }

  async #deliver(webhook: Webhook, build: () => Message): Promise<DeliveryResult> {
    const result = await this.#ports.sender.send(build);
    const taken = result.status !== undefined && result.status >= 200 && result.status <= 302;
    if (taken) webhook.failures = 0;
    // Looked at before it is counted: the seventh in a row is the one.
    else if (webhook.failures > mostFailures) webhook.status = 'disabled';
    else webhook.failures += 1;
    return result;
  }

  #body(webhook: Webhook, order: Order): unknown {
    if (webhook.topic.startsWith('action.')) return { action: webhook.topic.slice('action.'.length), arg: order.id };
    if (webhook.topic === 'order.deleted') return { id: order.id };
    return viewOrder(order, this.#ports.site());
  }

  #message(webhook: Webhook, payload: unknown): Message {
    const body = phpJson(payload);
    const [resource = '', event = ''] = webhook.topic.split(/\.(.*)/);
    // Made from the webhook and the second: two orders in one second share it.
    const second = Math.floor(this.#ports.now() / 1000);
    return {
      method: 'POST',
      url: webhook.deliveryUrl,
      headers: {
        'user-agent': agent,
        'content-type': 'application/json',
        'x-wc-webhook-source': `${this.#ports.site()}/`,
        'x-wc-webhook-topic': webhook.topic,
        'x-wc-webhook-resource': resource,
        'x-wc-webhook-event': event,
        'x-wc-webhook-signature': signWooCommerce(webhook.secret, body),
        'x-wc-webhook-id': String(webhook.id),
        'x-wc-webhook-delivery-id': createHash('md5').update(`${webhook.id}${second}`).digest('hex'),
      },
      body,
    };
  }
}

const agent = 'WooCommerce/11.1.0 Hookshot (WordPress/6.9)';
