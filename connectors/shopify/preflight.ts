import { z } from 'zod';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext } from '../../core/connector/contract.ts';
import {
  comparedHooks,
  type DeskFields,
  type DeskHooks,
  type DeskPreflight,
  type WantedHook,
} from '../../core/connector/desk/preflight.ts';
import { fractionsIn, gradeTypes, type NeededField } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './api.ts';
import { mutate } from './mutations.ts';
import { apiVersion, type ShopifySettings } from './settings.ts';
import {
  type InstalledApp,
  installedApp,
  listSubscriptions,
  missingScopes,
  type Subscription,
  subscribe,
  topicsFor,
  unsubscribe,
} from './webhooks.ts';
import { gradeKinds, kindOf } from './write.ts';

const Definition = z.object({
  ...{ key: z.string(), type: z.object({ name: z.string() }) },
  validations: listOf(z.object({ name: z.string(), value: z.string().nullish() })),
});

/** The definitions of order metafields in the namespace of `writeBack`. */
const Definitions = z.object({ metafieldDefinitions: z.object({ nodes: listOf(Definition) }) });

/** `setup` creates the metafields and webhooks that `check` misses. */
export function preflight(settings: ShopifySettings, api: ShopifyApi): DeskPreflight {
  return {
    credential: 'access',
    shape: { names: shapeNames, hint: 'metafields are under order.metafields' },
    probes: [
      { at: 'access', what: 'the app', read: async (about) => appFindings(await installedApp(api), settings, about) },
    ],
    fields: fieldsOf(settings, api),
    ...(settings.webhooks && { hooks: (hookUrl: string) => webhooksCompared(settings, api, hookUrl) }),
    isStandin: settings.baseUrl !== undefined,
    own: ({ reads }) => readFindings(settings, reads),
  };
}

const aDayMs = 86_400_000;
/** Without `read_all_orders` an app sees only orders of the last 60 days. */
const visibleDays = 60;

function appFindings(
  { scopes, webhookVersion, shop }: InstalledApp,
  settings: ShopifySettings,
  { answersWithinMs }: PreflightContext,
): Finding[] {
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

async function webhooksCompared(settings: ShopifySettings, api: ShopifyApi, hookUrl: string) {
  const all = await listSubscriptions(api, 'work');
  const ours = all.filter(({ uri }) => uri === hookUrl);
  const topics = topicsFor(settings);
  const removed = 'does not exist (Shopify removes one that failed for four hours)';
  const hooks: DeskHooks<Subscription, WantedHook> = {
    list: async () => ours,
    wanted: () =>
      topics.map((topic) => ({
        id: topic,
        what: `the webhook ${topic} to ${hookUrl}`,
        missing: all.some((one) => one.topic === topic) ? 'delivers to another address only' : removed,
      })),
    ...{ is: ({ topic }, { id }) => topic === id, flaws: flawsOf },
    async make({ id: topic }, there) {
      if (there !== undefined) await unsubscribe(api, there.id);
      await subscribe(api, topic, hookUrl);
      // Every source has this webhook, so the note appears once.
      if (topic !== 'APP_UNINSTALLED') return {};
      return {
        note: `The API can't set the compliance webhooks (customers/data_request, customers/redact, shop/redact): set them to ${hookUrl} in the app's shopify.app.toml or Dev Dashboard.`,
      };
    },
  };
  const compared = await comparedHooks(hooks, hookUrl);
  return { ...compared, findings: [...compared.findings, ...oddWebhooks(ours, topics)] };
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
    if (!wanted.includes(topic)) return [];
    const twice = 'it exists more than once: everything arrives several times';
    const again = 'Delete it and run "closeloop setup", unless it lets through all that closes or reopens an order.';
    return [
      ...(others.length > 0 ? [warning(twice, 'Delete all but one.')] : []),
      ...(one?.filter ? [warning('a filter keeps some of its deliveries back', again)] : []),
    ];
  });
}

function fieldsOf({ writeBack: { namespace } }: ShopifySettings, api: ShopifyApi): DeskFields {
  const document = `query Definitions($namespace: String!) {
    metafieldDefinitions(first: 250, ownerType: ORDER, namespace: $namespace) {
      nodes { key type { name } validations { name value } }
    }
  }`;
  const operation = { name: 'Definitions', document, data: Definitions, price: { base: 752, each: 0 } };
  return {
    ...{ of: `orders (namespace ${namespace})`, field: 'metafield', place: 'Settings > Metafields > Orders' },
    async list(needed) {
      const { metafieldDefinitions } = await api.call(operation, { namespace });
      return metafieldDefinitions.nodes.map(({ key: name, type, validations }) => {
        const limits = new Map(validations.map((one) => [one.name, one.value ?? '']));
        const wanted = needed.find((one) => one.name === name);
        return { name, type: type.name, required: false, problem: wanted && problemOf(wanted, limits) };
      });
    },
    types(part, grades) {
      if (part === 'grade')
        return { types: gradeTypes(grades, gradeKinds), neededBy: fractionsIn(grades), values: grades.map(String) };
      return { types: [kindOf(part).type], ...(part === 'status' && { values: ['answered', 'no answer'] }) };
    },
    make: (needed) => define(needed, namespace, api),
  };
}

async function define({ part, name: key, types: [type] }: NeededField, namespace: string, api: ShopifyApi) {
  const value = {
    ...{ name: kindOf(part).label, namespace, key, ownerType: 'ORDER', type },
    description: 'What the customer answered when asked for feedback on this order. Written by closeloop.',
    // An app may set the access only in its own namespace.
    ...(namespace.startsWith('$app') && { access: { admin: 'MERCHANT_READ' } }),
  };
  const call = 'metafieldDefinitionCreate(definition: $v)';
  const why = await mutate(api, 'Define', [{ call, type: 'MetafieldDefinitionInput!', value, errors: 'code' }]);
  if (why === undefined || why.endsWith(' TAKEN'))
    return { note: 'Pin it (Settings > Metafields and metaobjects > Orders) to have it shown on every order.' };
  const problem = `Shopify refuses the definition of metafield ${namespace}.${key} (${why})`;
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

function readFindings({ metafields, trigger }: ShopifySettings, reads: PreflightContext['reads']): Finding[] {
  return reads.flatMap(({ at, path: [first, second, third] }): Finding[] => {
    if (first === 'order' && second === 'metafields' && third !== undefined && !metafields.includes(third)) {
      const remedy = `Add it to the source's metafields, as "namespace.key".`;
      return [warningAt(at, `metafield ${third} is not read`, remedy)];
    }
    if (first !== 'fulfillments' || trigger !== 'paid') return [];
    return [warningAt(at, 'with the trigger `paid` no parcels are read', 'Use another trigger, or leave it out.')];
  });
}
