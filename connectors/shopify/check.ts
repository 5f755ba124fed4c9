import { errorAt, hookUrlFindings, type ShapeNames, unknownReads, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import { fractionsIn, gradeTypes } from '../../core/connector/fields.ts';
import { type Field, fieldsOf, gradeKinds } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import { missingScopes } from './scopes.ts';
import { apiVersion, type ShopifySettings } from './settings.ts';
import { type Subscription, topicsFor } from './subscriptions.ts';

const aDayMs = 86_400_000;
/** Without `read_all_orders` an app sees orders of so many days. */
const visibleDays = 60;

/** Finds everything that would keep a source from working, in one call. */
export function checker(settings: ShopifySettings, api: ShopifyApi): NonNullable<Source['check']> {
  return async (about) => {
    try {
      return findingsIn(await takeInventory(settings, api), settings, about);
    } catch (error) {
      // Refused access is a finding; a shop that doesn't respond may be in order.
      if (!(error instanceof VendorError) || error.advice.kind !== 'config') throw error;
      const { problem, remedy } = error;
      return [errorAt('access', problem, remedy)];
    }
  };
}

/** Pure: compares the inventory with the needs of the settings. */
export function findingsIn(inventory: Inventory, settings: ShopifySettings, about: PreflightContext): Finding[] {
  return [
    ...ofAccess(inventory, settings, about),
    ...ofWebhooks(inventory.subscriptions, settings, about.hookUrl),
    ...fieldsOf(settings.writeBack).flatMap((field) => ofMetafield(field, inventory, settings, about.grades)),
    ...ofReads(settings, about.reads),
  ];
}

function ofAccess(
  { scopes, webhookVersion, shop }: Inventory,
  settings: ShopifySettings,
  about: PreflightContext,
): Finding[] {
  const found: Finding[] = [];
  for (const scope of missingScopes(scopes)) {
    found.push(
      errorAt('scopes', `the app lacks ${scope}`, 'Add it to the app in the Dev Dashboard and install the app again.'),
    );
  }
  if (shop !== settings.shop) {
    const remedy = `Put ${/^[a-z0-9.-]{1,100}$/.test(shop) ? shop : 'its permanent address'} into \`shop\`.`;
    found.push(
      errorAt('shop', 'the credentials belong to another shop, or its permanent address is another one', remedy),
    );
  }
  if (webhookVersion !== apiVersion) {
    found.push(
      warningAt(
        'webhook version',
        `the app's webhooks are shaped by another version of the API than ${apiVersion}`,
        `Set the app's webhook API version to ${apiVersion} (Dev Dashboard > app > Versions).`,
      ),
    );
  }
  const days = (settings.deliveredWithin + about.answersWithinMs) / aDayMs;
  if (days > visibleDays && !scopes.includes('read_all_orders')) {
    found.push(
      warningAt(
        'scopes',
        `answers may come up to ${Math.ceil(days)} days after the order, but the app sees orders of ${visibleDays} days only`,
        'Ask Shopify for read_all_orders, or let requests expire sooner.',
      ),
    );
  }
  return found;
}

function ofWebhooks(all: readonly Subscription[], settings: ShopifySettings, hookUrl: string | undefined): Finding[] {
  if (!settings.webhooks) return [];
  const found = hookUrlFindings('Shopify', hookUrl, settings.baseUrl !== undefined);
  if (hookUrl === undefined) return found;
  const ours = all.filter(({ uri }) => uri === hookUrl);
  for (const topic of topicsFor(settings)) {
    const own = ours.filter((one) => one.topic === topic);
    const [one] = own;
    const at = `webhook ${topic}`;
    if (one === undefined) {
      const elsewhere = all.some((other) => other.topic === topic);
      const problem = elsewhere ? 'it delivers to another address only' : 'it does not exist';
      found.push(
        errorAt(at, problem, 'Run "closeloop setup". If it existed: Shopify removes one that failed for four hours.'),
      );
      continue;
    }
    if (own.length > 1) {
      found.push(
        warningAt(at, 'it exists more than once: everything arrives several times', 'Delete all but one of them.'),
      );
    }
    const flaw = flawOf(one);
    if (flaw !== undefined) found.push(errorAt(at, flaw, 'Run "closeloop setup", which makes it anew.'));
    if (one.filter) {
      const remedy =
        'Delete it and run "closeloop setup", unless the filter lets through all that closes or reopens an order.';
      found.push(warningAt(at, 'a filter keeps some of its deliveries back', remedy));
    }
  }
  if (ours.some(({ topic }) => topic === 'ORDERS_UPDATED')) {
    const problem = 'it comes with every change, our own included, and tells nothing that the others do not';
    found.push(warningAt('webhook ORDERS_UPDATED', problem, 'Delete it.'));
  }
  return found;
}

/** Why closeloop can't read a webhook's deliveries; undefined if it can. */
export function flawOf({ format, includeFields, topic }: Subscription): string | undefined {
  if (format !== 'JSON') return `it delivers ${format}, not JSON`;
  const isOfOrder = topic.startsWith('ORDERS_');
  const needed = isOfOrder ? ['id'] : ['order_id'];
  if (includeFields.length === 0 || topic.startsWith('APP_')) return undefined;
  const missing = needed.filter((name) => !includeFields.includes(name));
  return missing.length === 0 ? undefined : `it leaves out ${missing.join(', ')}`;
}

function ofMetafield(
  { part, key, type }: Field,
  { definitions }: Inventory,
  settings: ShopifySettings,
  grades: readonly number[],
): Finding[] {
  const at = `writeBack.${part}`;
  const definition = definitions.get(key);
  const name = `${settings.writeBack.namespace}.${key}`;
  if (definition === undefined) {
    return [
      errorAt(at, `order metafield ${name} has no definition, so that nobody would see it`, 'Run "closeloop setup".'),
    ];
  }
  const types: readonly string[] = part === 'grade' ? gradeTypes(grades, gradeKinds) : [type];
  if (!types.includes(definition.type.name)) {
    const fractions = part === 'grade' ? fractionsIn(grades) : undefined;
    const needed = `${types.join(' or ')}${fractions === undefined ? '' : `, which ${fractions} need`}`;
    const problem = `order metafield ${name} has the type ${definition.type.name}, not ${needed}`;
    return [
      errorAt(
        at,
        problem,
        'Choose another key, or delete the definition (Settings > Metafields > Orders) and run "closeloop setup".',
      ),
    ];
  }
  const limits = new Map(definition.validations.map(({ name, value }) => [name, value ?? '']));
  const why = part === 'grade' ? gradesOutside(limits, grades) : textOutside(part, limits);
  return why === undefined
    ? []
    : [errorAt(at, `order metafield ${name} ${why}`, 'Change its validations (Settings > Metafields > Orders).')];
}

function gradesOutside(limits: ReadonlyMap<string, string>, grades: readonly number[]): string | undefined {
  const [min, max] = [Number(limits.get('min') ?? -Infinity), Number(limits.get('max') ?? Infinity)];
  const outside = grades.filter((grade) => grade < min || grade > max);
  return outside.length === 0 ? undefined : `does not take the grades ${outside.join(', ')}`;
}

function textOutside(part: string, limits: ReadonlyMap<string, string>): string | undefined {
  if (limits.has('regex')) return 'takes only texts of one pattern';
  if (part !== 'status' && Number(limits.get('max') ?? Infinity) < 1_000)
    return 'takes only short texts: longer answers would be refused';
  const choices = limits.get('choices');
  if (
    part === 'status' &&
    choices !== undefined &&
    !(choices.includes('"answered"') && choices.includes('"no answer"'))
  ) {
    return 'does not offer "answered" and "no answer"';
  }
  return undefined;
}

const namesOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, true as const]));

/** The names in a presented order. */
const shapeNames: ShapeNames = {
  order: namesOf(
    ...['id', 'name', 'source', 'tags', 'note', 'attributes', 'metafields', 'discountCodes', 'total', 'currency'],
    ...['financialStatus', 'fulfillmentStatus', 'createdAt', 'branch', 'shippedFrom', 'country', 'city', 'items'],
  ),
  fulfillments: namesOf('id', 'status', 'createdAt', 'deliveredAt'),
  contact: namesOf('email', 'phones'),
  customer: namesOf('id', 'firstName', 'lastName', 'locale', 'tags', 'orders', 'emailConsent', 'smsConsent'),
};

function ofReads({ metafields, trigger }: ShopifySettings, reads: PreflightContext['reads']): Finding[] {
  const hint = 'metafields are under order.metafields';
  const unread = reads.flatMap(({ at, path: [first, second, third] }): Finding[] => {
    if (first === 'order' && second === 'metafields' && third !== undefined && !metafields.includes(third)) {
      return [
        warningAt(at, `metafield ${third} is not read`, `Add it to the source's metafields, as "namespace.key".`),
      ];
    }
    if (first !== 'fulfillments' || trigger !== 'paid') return [];
    return [warningAt(at, 'with the trigger `paid` no parcels are read', 'Use another trigger, or leave it out.')];
  });
  return [...unknownReads('Shopify', shapeNames, hint, reads), ...unread];
}
