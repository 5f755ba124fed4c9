import { type SetupItem, setupSteps } from '../../core/connector/check.ts';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Shop } from './api.ts';
import type { WooCommerceSettings } from './settings.ts';
import { activate, listWebhooks, makeWebhook, pointsTo, type Webhook, wantedTopics } from './webhooks.ts';

/**
 * Creates the webhooks. Meta data need no preparation. Active webhooks stay unchanged: their secret can't be read and compared.
 */
export function installer({ webhookSecrets }: WooCommerceSettings, shop: Shop): NonNullable<Source['setup']> {
  const secret = webhookSecrets[0] ?? '';
  return async ({ hookUrl }) => {
    if (hookUrl === undefined) {
      throw new CloseloopError('WooCommerce has to be told where to deliver: set http.publicUrl.', { kind: 'config' });
    }
    return await setupSteps(async () => {
      const all = await listWebhooks(shop);
      return wantedTopics.flatMap((topic) => missingOf(topic, all, hookUrl));
    });
  };

  /** A webhook that exists and does not deliver is activated. */
  function missingOf(topic: string, all: readonly Webhook[], hookUrl: string): SetupItem[] {
    const here = all.filter((webhook) => webhook.topic === topic && pointsTo(webhook, hookUrl));
    if (here.some(({ status }) => status === 'active')) return [];
    const [there] = here;
    const what =
      there === undefined
        ? `create a webhook of the topic ${topic}, delivering to ${hookUrl}`
        : `switch the webhook ${there.id} (${topic}), which is ${there.status}, on again, with our secret`;
    const make = async () => {
      if (there !== undefined) await activate(shop, there.id, { secret });
      else await makeWebhook(shop, { topic, hookUrl, secret });
      return {};
    };
    return [{ id: topic, what, make }];
  }
}
