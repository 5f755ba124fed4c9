import { z } from 'zod';
import { type SetupItem, setupSteps } from '../../core/connector/check.ts';
import type { PreflightContext, Source } from '../../core/connector/contract.ts';
import { gradeTypes } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { type Field, fieldsOf, gradeKinds } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { flawOf } from './check.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import type { ShopifySettings } from './settings.ts';
import { subscribe, topicsFor, unsubscribe } from './subscriptions.ts';

const Made = z.object({
  made: z.object({ userErrors: listOf(z.object({ code: z.string().nullish() })) }).nullable(),
});

/** Creates missing definitions of metafields and webhooks. */
export function setupOf(settings: ShopifySettings, api: ShopifyApi): NonNullable<Source['setup']> {
  return (about) => setupSteps(async () => missingIn(await takeInventory(settings, api), settings, api, about));
}

function missingIn(
  { definitions, subscriptions }: Inventory,
  settings: ShopifySettings,
  api: ShopifyApi,
  { grades, hookUrl }: PreflightContext,
): SetupItem[] {
  const { writeBack } = settings;
  const [gradeType] = gradeTypes(grades, gradeKinds);
  const fields = fieldsOf(writeBack, gradeType).filter(({ key }) => !definitions.has(key));
  const undefinedFields = fields.map((field): SetupItem => {
    const { key, type, label } = field;
    const what = `define the order metafield ${writeBack.namespace}.${key} "${label}" (${type})`;
    return { id: `metafield ${key}`, what, make: () => define(api, writeBack, field) };
  });
  if (hookUrl === undefined || !settings.webhooks) return undefinedFields;
  const webhooks = topicsFor(settings).flatMap((topic): SetupItem[] => {
    const ours = subscriptions.find((one) => one.topic === topic && one.uri === hookUrl);
    const flaw = ours === undefined ? '' : flawOf(ours);
    if (flaw === undefined) return [];
    const webhook = `the webhook ${topic} to ${hookUrl}`;
    return [
      {
        id: topic,
        what: ours === undefined ? `create ${webhook}` : `make ${webhook} anew: ${flaw}`,
        async make() {
          if (ours !== undefined) await unsubscribe(api, ours.id);
          return makeWebhook(api, topic, hookUrl);
        },
      },
    ];
  });
  return [...undefinedFields, ...webhooks];
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
    // An app may set the access only in its own namespace.
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

async function makeWebhook(api: ShopifyApi, topic: string, hookUrl: string): Promise<{ note?: string }> {
  await subscribe(api, topic, hookUrl);
  // Every source has this webhook, so the note comes once.
  if (topic !== 'APP_UNINSTALLED') return {};
  return {
    note: `The API can't set the compliance webhooks (customers/data_request, customers/redact, shop/redact): set them to ${hookUrl} in the app's shopify.app.toml or Dev Dashboard.`,
  };
}
