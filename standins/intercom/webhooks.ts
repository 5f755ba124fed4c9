import { createHmac, randomUUID } from 'node:crypto';
import type { DeliveryResult, RetryPolicy, WebhookSender } from '../kit/webhook-sender.ts';
import type { Webhook } from './definitions.ts';

/** The app's client secret over the raw body; no time is signed. */
export const signIntercom = (secret: string, raw: Uint8Array | string): string =>
  `sha1=${createHmac('sha1', secret).update(raw).digest('hex')}`;

const longestMs = 2 * 3_600_000;

/** Once more after a minute; after a 429 for two hours, a minute apart at first. */
export const intercomRetries: RetryPolicy = {
  timeoutMs: 5_000,
  pauseMs(attempts) {
    const last = attempts.at(-1);
    if (last?.met === 'answer' && last.status === 429) {
      const pause = 60_000 * 2 ** (attempts.length - 1);
      return pause <= longestMs ? pause : undefined;
    }
    if (last?.met === 'answer' && last.status === 410) return undefined;
    return attempts.length === 1 ? 60_000 : undefined;
  },
};

interface OutboxPorts {
  sender: WebhookSender;
  nowMs: () => number;
  appId: string;
}

export class Outbox {
  webhook: Webhook | undefined;
  readonly #ports: OutboxPorts;

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
  }

  /** @param item As it is now. Undefined: nobody has subscribed. */
  async send(topic: string, item: unknown): Promise<DeliveryResult | undefined> {
    const { webhook } = this;
    if (webhook === undefined || !webhook.topics.includes(topic)) return undefined;
    const seconds = Math.floor(this.#ports.nowMs() / 1_000);
    const envelope = {
      type: 'notification_event',
      app_id: this.#ports.appId,
      data: { type: 'notification_event_data', item },
      links: {},
      id: `notif_${randomUUID()}`,
      topic,
      delivery_status: 'pending',
      delivered_at: 0,
      first_sent_at: seconds + 1,
      created_at: seconds,
      self: null,
    };
    const text = JSON.stringify(envelope);
    const result = await this.#ports.sender.send((attempt) => {
      const body = text.replace('"delivery_status"', `"delivery_attempts":${attempt + 1},"delivery_status"`);
      return {
        method: 'POST',
        url: webhook.url,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'intercom-parrot-service-client/1.0',
          'x-hub-signature': signIntercom(webhook.secret, body),
        },
        body,
      };
    });
    // Gone: nothing is sent there any more.
    if (result.status === 410 && this.webhook === webhook) this.webhook = undefined;
    return result;
  }
}
