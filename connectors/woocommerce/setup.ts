import type { SetupStep, Source } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Shop } from './client.ts';
import type { WooCommerceSettings } from './settings.ts';
import { activate, listWebhooks, makeWebhook, pointsTo, type Webhook, wantedTopics } from './webhooks.ts';

/**
 * The webhooks. Meta data need no preparation. What is there isn't touched while it is active: nobody can read its secret,
 * so nobody can tell whether it is ours.
 */
export function installer({ webhookSecrets }: WooCommerceSettings, shop: Shop): NonNullable<Source['setup']> {
  const secret = webhookSecrets[0] ?? '';

  async function find(topic: string, hookUrl: string): Promise<Webhook | undefined> {
    const here = (await listWebhooks(shop)).filter((webhook) => webhook.topic === topic && pointsTo(webhook, hookUrl));
    return here.find(({ status }) => status === 'active') ?? here[0];
  }

  function step(topic: string, hookUrl: string, there: Webhook | undefined): SetupStep {
    const what =
      there === undefined
        ? `create a webhook of the topic ${topic}, delivering to ${hookUrl}`
        : `switch the webhook ${there.id} (${topic}), which is ${there.status}, on again, with our secret`;
    return {
      what,
      // Looked up again: an earlier attempt may have got further than its answer.
      apply: async () => {
        const now = await find(topic, hookUrl);
        if (now?.status === 'active') return {};
        if (now !== undefined) await activate(shop, now.id, { secret });
        else await makeWebhook(shop, { topic, hookUrl, secret });
        return {};
      },
    };
  }

  return async ({ hookUrl }) => {
    if (hookUrl === undefined) {
      throw new CloseloopError('WooCommerce has to be told where to deliver: set http.publicUrl.', { kind: 'config' });
    }
    const steps: SetupStep[] = [];
    for (const topic of wantedTopics) {
      const there = await find(topic, hookUrl);
      if (there?.status !== 'active') steps.push(step(topic, hookUrl, there));
    }
    return steps;
  };
}
