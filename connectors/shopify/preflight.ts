import { z } from 'zod';
import {
  type Comparison,
  combined,
  errorAt,
  hookUrlFindings,
  type SetupItem,
  setupSteps,
  unknownReads,
  warningAt,
} from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import {
  comparedFields,
  comparedHooks,
  type DeskFields,
  type WantedHook,
} from '../../core/connector/desk/preflight.ts';
import { fractionsIn, gradeTypes, type NeededField } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './api.ts';
import { apiVersion, type ShopifySettings } from './settings.ts';
import {
  Granted,
  missingScopes,
  type Subscription,
  Subscriptions,
  subscribe,
  subscriptionFields,
  topicsFor,
  unsubscribe,
} from './webhooks.ts';
import { gradeKinds, kindOf } from './write.ts';

const Definition = z.object({
  ...{ key: z.string(), type: z.object({ name: z.string() }) },
  validations: listOf(z.object({ name: z.string(), value: z.string().nullish() })),
});

/** The parts of the shop that this source needs. */
const Inventory = z
  .object({
    currentAppInstallation: z.object({ accessScopes: Granted, app: z.object({ webhookApiVersion: z.string() }) }),
    shop: z.object({ myshopifyDomain: z.string() }),
    ...Subscriptions.shape,
    metafieldDefinitions: z.object({ nodes: listOf(Definition) }),
  })
  .transform(({ currentAppInstallation: { accessScopes: scopes, app }, ...found }) => ({
    scopes,
    /** The API version of webhooks, which is a setting of the app. */
    webhookVersion: app.webhookApiVersion,
    shop: found.shop.myshopifyDomain,
    subscriptions: found.webhookSubscriptions.nodes,
    /** The definitions of order metafields in the namespace of `writeBack`. */
    definitions: found.metafieldDefinitions.nodes,
  }));
export type Inventory = z.output<typeof Inventory>;

/** Reads the inventory in one call. */
function takeInventory({ writeBack: { namespace } }: ShopifySettings, api: ShopifyApi): Promise<Inventory> {
  const document = `query Inventory($namespace: String!) {
    currentAppInstallation { accessScopes { handle } app { webhookApiVersion } }
    shop { myshopifyDomain }
    ${subscriptionFields}
    metafieldDefinitions(first: 250, ownerType: ORDER, namespace: $namespace) {
      nodes { key type { name } validations { name value } }
    }
  }`;
  const operation = { name: 'Inventory', document, data: Inventory, price: { base: 900, each: 0 } };
  return api.call(operation, { namespace });
}

/** A shop with the inventory that was read. */
interface InspectedShop {
  settings: ShopifySettings;
  api: ShopifyApi;
  inventory: Inventory;
}

/** `check` finds in one call everything that would keep the source from working; `setup` creates the metafields and webhooks. */
export function preflight(settings: ShopifySettings, api: ShopifyApi): Required<Pick<Source, 'check' | 'setup'>> {
  const find = async () => ({ settings, api, inventory: await takeInventory(settings, api) });
  return {
    async check(about) {
      try {
        return await findingsIn(await find(), about);
      } catch (error) {
        // Refused access becomes a finding. A shop that doesn't respond may be in order, so any other error is thrown.
        if (!(error instanceof VendorError) || error.advice.kind !== 'config') throw error;
        return [errorAt('access', error.problem, error.remedy)];
      }
    },
    setup: (about) => setupSteps(async () => (await compared(await find(), about)).missing),
  };
}

/** Compares the inventory with the needs of the settings. */
export async function findingsIn(found: InspectedShop, about: PreflightContext): Promise<Finding[]> {
  const { webhooks, baseUrl } = found.settings;
  return [
    ...ofAccess(found, about),
    ...(webhooks ? hookUrlFindings('Shopify', about.hookUrl, baseUrl !== undefined) : []),
    ...(await compared(found, about)).findings,
    ...ofReads(found.settings, about.reads),
  ];
}

/** Compares the metafields, and the webhooks if the API shows them. */
async function compared(found: InspectedShop, { hookUrl, grades }: PreflightContext): Promise<Comparison<SetupItem>> {
  const { writeBack, webhooks } = found.settings;
  const ofHooks = webhooks && hookUrl ? [await webhooksCompared(found, hookUrl)] : [];
  return combined([await comparedFields(fieldsOf(found), writeBack, grades), ...ofHooks]);
}

const aDayMs = 86_400_000;
/** Without `read_all_orders` an app sees only orders of the last 60 days. */
const visibleDays = 60;

function ofAccess({ inventory, settings }: InspectedShop, { answersWithinMs }: PreflightContext): Finding[] {
  const { scopes, webhookVersion, shop } = inventory;
  const found = missingScopes(scopes).map((scope) =>
    errorAt('scopes', `the app lacks ${scope}`, 'Add it to the app in the Dev Dashboard and install the app again.'),
  );
  if (shop !== settings.shop) {
    const problem = 'the credentials belong to another shop, or its permanent address is another one';
    const remedy = `Put ${/^[a-z0-9.-]{1,100}$/.test(shop) ? shop : 'its permanent address'} into \`shop\`.`;
    found.push(errorAt('shop', problem, remedy));
  }
  if (webhookVersion !== apiVersion) {
    const problem = `the app's webhooks are shaped by another version of the API than ${apiVersion}`;
    const remedy = `Set the app's webhook API version to ${apiVersion} (Dev Dashboard > app > Versions).`;
    found.push(warningAt('webhook version', problem, remedy));
  }
  const days = Math.ceil((settings.deliveredWithin + answersWithinMs) / aDayMs);
  if (days > visibleDays && !scopes.includes('read_all_orders')) {
    const problem = `answers may come up to ${days} days after the order, but the app sees orders of ${visibleDays} days only`;
    found.push(warningAt('scopes', problem, 'Ask Shopify for read_all_orders, or let requests expire sooner.'));
  }
  return found;
}

async function webhooksCompared(
  { inventory, settings, api }: InspectedShop,
  hookUrl: string,
): Promise<Comparison<SetupItem>> {
  const { subscriptions } = inventory;
  const ours = subscriptions.filter(({ uri }) => uri === hookUrl);
  const wanted = topicsFor(settings).map((topic): WantedHook => {
    const isElsewhere = subscriptions.some((one) => one.topic === topic);
    const removed = 'does not exist (Shopify removes one that failed for four hours)';
    const missing = isElsewhere ? 'delivers to another address only' : removed;
    return { id: topic, what: `the webhook ${topic} to ${hookUrl}`, missing };
  });
  const made = await comparedHooks<Subscription, WantedHook>(
    {
      list: async () => ours,
      ...{ wanted: () => wanted, is: ({ topic }, { id }) => topic === id, flaws: flawsOf },
      async make({ id: topic }, there) {
        if (there !== undefined) await unsubscribe(api, there.id);
        await subscribe(api, topic, hookUrl);
        // Every source has this webhook, so the note appears once.
        if (topic !== 'APP_UNINSTALLED') return {};
        return {
          note: `The API can't set the compliance webhooks (customers/data_request, customers/redact, shop/redact): set them to ${hookUrl} in the app's shopify.app.toml or Dev Dashboard.`,
        };
      },
    },
    hookUrl,
  );
  return { ...made, findings: [...made.findings, ...oddWebhooks(ours, topicsFor(settings))] };
}

/** Why closeloop can't read a webhook's deliveries. */
function flawsOf({ format, includeFields, topic }: Subscription): string[] {
  const needed = topic.startsWith('ORDERS_') ? 'id' : 'order_id';
  const isWhole = includeFields.length === 0 || topic.startsWith('APP_') || includeFields.includes(needed);
  return [...(format === 'JSON' ? [] : [`delivers ${format}, not JSON`]), ...(isWhole ? [] : [`leaves out ${needed}`])];
}

function oddWebhooks(ours: readonly Subscription[], wanted: readonly string[]): Finding[] {
  return [...Map.groupBy(ours, ({ topic }) => topic)].flatMap(([topic, [one, ...others]]): Finding[] => {
    const warning = (problem: string, remedy: string) => warningAt(`webhook ${topic}`, problem, remedy);
    if (topic === 'ORDERS_UPDATED')
      return [warning('it comes with every change, our own included, and tells nothing more', 'Delete it.')];
    const again = 'Delete it and run "closeloop setup", unless it lets through all that closes or reopens an order.';
    const isTwice = wanted.includes(topic) && others.length > 0;
    return [
      ...(isTwice
        ? [warning('it exists more than once: everything arrives several times', 'Delete all but one.')]
        : []),
      ...(wanted.includes(topic) && one?.filter ? [warning('a filter keeps some of its deliveries back', again)] : []),
    ];
  });
}

const UserError = z.object({ code: z.string().nullish() });
const Made = z.object({ made: z.object({ userErrors: listOf(UserError) }).nullable() });

function fieldsOf({ inventory: { definitions }, settings, api }: InspectedShop): DeskFields {
  const { namespace } = settings.writeBack;
  return {
    ...{ of: `orders (namespace ${namespace})`, field: 'metafield', place: 'Settings > Metafields > Orders' },
    list: async (needed) =>
      definitions.map(({ key: name, type, validations }) => {
        const limits = new Map(validations.map((one) => [one.name, one.value ?? '']));
        const wanted = needed.find((one) => one.name === name);
        return { name, type: type.name, required: false, problem: wanted && problemOf(wanted, limits) };
      }),
    types(part, grades) {
      if (part === 'grade')
        return { types: gradeTypes(grades, gradeKinds), neededBy: fractionsIn(grades), values: grades.map(String) };
      return { types: [kindOf(part).type], ...(part === 'status' && { values: ['answered', 'no answer'] }) };
    },
    make: (needed) => define(needed, namespace, api),
  };
}

async function define({ part, name: key, types: [type] }: NeededField, namespace: string, api: ShopifyApi) {
  const document = `mutation Define($definition: MetafieldDefinitionInput!) {
    made: metafieldDefinitionCreate(definition: $definition) { userErrors { code } }
  }`;
  const definition = {
    ...{ name: kindOf(part).label, namespace, key, ownerType: 'ORDER', type },
    description: 'What the customer answered when asked for feedback on this order. Written by closeloop.',
    // An app may set the access only in its own namespace.
    ...(namespace.startsWith('$app') && { access: { admin: 'MERCHANT_READ' } }),
  };
  const operation = { name: 'Define', document, data: Made, price: { base: 11, each: 0 } };
  const { made } = await api.call(operation, { definition });
  const refused = (made?.userErrors ?? [{ code: 'no answer' }]).find(({ code }) => code !== 'TAKEN');
  if (refused === undefined)
    return { note: 'Pin it (Settings > Metafields and metaobjects > Orders) to have it shown on every order.' };
  const code = /^[A-Z_]{1,60}$/.test(refused.code ?? '') ? refused.code : 'refused';
  const problem = `Shopify refuses the definition of metafield ${namespace}.${key} (${code})`;
  const remedy = `choose another namespace or key in writeBack.${part}`;
  throw new CloseloopError(`${problem}: ${remedy}`, { kind: 'config' });
}

/** Why a metafield can't take its part of answers because of its validations. */
function problemOf({ part, values = [] }: NeededField, limits: ReadonlyMap<string, string>): string | undefined {
  const [min, max] = [Number(limits.get('min') ?? -Infinity), Number(limits.get('max') ?? Infinity)];
  const choices = limits.get('choices');
  const isUnfit = (value: string) =>
    part === 'grade' ? Number(value) < min || Number(value) > max : choices?.includes(`"${value}"`) === false;
  const unfit = values.filter(isUnfit);
  if (unfit.length > 0) return `does not take ${unfit.join(', ')}`;
  if (part === 'grade') return undefined;
  if (limits.has('regex')) return 'takes only texts of one pattern';
  return part !== 'status' && max < 1_000 ? 'takes only short texts: longer answers would be refused' : undefined;
}

const names = (list: string) => Object.fromEntries(list.split(' ').map((name) => [name, true as const]));

/** The names in a presented order. */
const shapeNames = {
  order: {
    ...names('id name source tags note attributes metafields discountCodes total currency financialStatus'),
    ...names('fulfillmentStatus createdAt branch shippedFrom country city items'),
  },
  fulfillments: names('id status createdAt deliveredAt'),
  contact: names('email phones'),
  customer: names('id firstName lastName locale tags orders emailConsent smsConsent'),
};

function ofReads({ metafields, trigger }: ShopifySettings, reads: PreflightContext['reads']): Finding[] {
  const unread = reads.flatMap(({ at, path: [first, second, third] }): Finding[] => {
    if (first === 'order' && second === 'metafields' && third !== undefined && !metafields.includes(third)) {
      const remedy = `Add it to the source's metafields, as "namespace.key".`;
      return [warningAt(at, `metafield ${third} is not read`, remedy)];
    }
    if (first !== 'fulfillments' || trigger !== 'paid') return [];
    return [warningAt(at, 'with the trigger `paid` no parcels are read', 'Use another trigger, or leave it out.')];
  });
  return [...unknownReads('Shopify', shapeNames, 'metafields are under order.metafields', reads), ...unread];
}
