import { z } from 'zod';
import type { SetupStep, Source } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Field, fieldsOf } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { flawOf } from './check.ts';
import { takeInventory } from './inventory.ts';
import type { ShopifySettings } from './settings.ts';
import { subscribe, topicsFor, unsubscribe } from './subscriptions.ts';

const Made = z.object({
  made: z.object({ userErrors: listOf(z.object({ code: z.string().nullish() })) }).nullable(),
});

/** What is missing at the shop: definitions of metafields, webhooks. Applying a step again does no harm. */
export function setupOf(settings: ShopifySettings, api: ShopifyApi): NonNullable<Source['setup']> {
  const { writeBack } = settings;

  return async ({ hookUrl }) => {
    const { definitions, subscriptions } = await takeInventory(settings, api);
    const steps: SetupStep[] = [];
    for (const field of fieldsOf(writeBack)) {
      const { key, type, label } = field;
      if (definitions.has(key)) continue;
      const what = `define the order metafield ${writeBack.namespace}.${key} "${label}" (${type})`;
      steps.push({ what, apply: () => define(api, writeBack, field) });
    }
    if (hookUrl === undefined || !settings.webhooks) return steps;
    for (const topic of topicsFor(settings)) {
      const ours = subscriptions.find((one) => one.topic === topic && one.uri === hookUrl);
      if (ours === undefined) {
        steps.push({ what: `create the webhook ${topic} to ${hookUrl}`, apply: async () => make(api, topic, hookUrl) });
        continue;
      }
      const flaw = flawOf(ours);
      if (flaw === undefined) continue;
      steps.push({
        what: `make the webhook ${topic} to ${hookUrl} anew: ${flaw}`,
        apply: async () => {
          await unsubscribe(api, ours.id);
          return make(api, topic, hookUrl);
        },
      });
    }
    return steps;
  };
}

async function define(
  api: ShopifyApi,
  writeBack: ShopifySettings['writeBack'],
  { part, key, type, label }: Field,
): Promise<{ note?: string }> {
  const document = `mutation Define($definition: MetafieldDefinitionInput!) {
    made: metafieldDefinitionCreate(definition: $definition) { userErrors { code } }
  }`;
  const definition = {
    name: label,
    namespace: writeBack.namespace,
    key,
    ownerType: 'ORDER',
    type,
    description: 'What the customer answered when asked for feedback on this order. Written by closeloop.',
    // Only for our own namespace may we say who else sees it.
    ...(writeBack.namespace.startsWith('$app') && { access: { admin: 'MERCHANT_READ' } }),
  };
  const price = { base: 11, each: 0 };
  const { made } = await api.call({ name: 'Define', document, data: Made, price }, { definition });
  const codes = made === null ? ['no answer'] : made.userErrors.map(({ code }) => code ?? 'refused');
  const refused = codes.find((code) => code !== 'TAKEN');
  if (refused === undefined) {
    return { note: 'Pin it (Settings > Metafields and metaobjects > Orders) to have it shown on every order.' };
  }
  throw new CloseloopError(
    `Shopify refuses the definition of metafield ${writeBack.namespace}.${key} (${/^[A-Z_]{1,60}$/.test(refused) ? refused : 'refused'}): choose another namespace or key in writeBack.${part}`,
    { kind: 'config' },
  );
}

async function make(api: ShopifyApi, topic: string, hookUrl: string): Promise<{ note?: string }> {
  await subscribe(api, topic, hookUrl);
  // The one that every app has: so it is said once.
  if (topic !== 'APP_UNINSTALLED') return {};
  return {
    note: `The API can't set the compliance webhooks (customers/data_request, customers/redact, shop/redact): set them to ${hookUrl} in the app's shopify.app.toml or Dev Dashboard.`,
  };
}
