import { toSecond } from '../kit/message.ts';
import {
  type Address,
  type Customer,
  type Definition,
  fulfillmentStatusOf,
  type Metafield,
  type Order,
  type Parcel,
  type Settings,
  type Subscription,
} from './definitions.ts';
import type { Occurrence, Store } from './store.ts';

/** The data that the resolvers of a call need. */
export interface Context {
  store: Store;
  settings: Settings;
  shop: { id: string; domain: string };
  now: number;
  /** @throws GraphQLError ACCESS_DENIED unless the token has one of these */
  need: (...oneOf: string[]) => void;
  /** Tells the webhooks. */
  notify: (occurrences: readonly Occurrence[]) => void;
}

/** Changes with the value. */
export const digestOf = (value: string): string => Buffer.from(value).toString('base64url').slice(0, 64);

export const gid = (type: string, id: string): string => `gid://shopify/${type}/${id}`;

const sixtyDaysMs = 60 * 86_400_000;

/** What the token may see; nothing older than sixty days without `read_all_orders`. @throws GraphQLError ACCESS_DENIED */
export function visibleOrder({ store, need, now, settings: { scopes } }: Context, id: string): Order | undefined {
  const digits = /^gid:\/\/shopify\/Order\/(\d+)$/.exec(id)?.[1];
  const found = store.orders.get(digits ?? '');
  if (found === undefined) return undefined;
  need('read_orders', 'read_marketplace_orders', 'read_quick_sale');
  return found.createdAt < now - sixtyDaysMs && !scopes.includes('read_all_orders') ? undefined : found;
}

/** Parts of an answer, by the schema's names; what takes arguments or needs a right is a function. */
export function orderView(order: Order, context: Context) {
  const { store, need } = context;
  const { protectedData: personal, sticky, broken } = context.settings;
  const first = <T>(items: readonly T[], count: number | null | undefined): T[] =>
    items.slice(0, count ?? items.length);
  const money = { amount: order.total, currencyCode: 'EUR' };
  const customer = store.customers.get(order.customerId ?? '');
  const whole = <T>(value: T) => {
    if (!broken.includes(order.id)) return value;
    return () => {
      throw new Error('Something went wrong');
    };
  };
  return {
    __typename: 'Order',
    id: gid('Order', order.id),
    legacyResourceId: order.id,
    name: `#${order.number}`,
    number: order.number,
    createdAt: toSecond(order.createdAt),
    processedAt: whole(toSecond(order.createdAt)),
    updatedAt: toSecond(order.updatedAt),
    closedAt: null,
    cancelledAt: toSecond(order.cancelledAt),
    email: personal ? (order.email ?? null) : null,
    phone: personal ? (order.phone ?? null) : null,
    customerLocale: order.customerLocale ?? null,
    note: order.note,
    tags: whole(order.tags),
    discountCodes: order.discountCodes,
    test: order.test,
    sourceName: order.sourceName,
    requiresShipping: order.lines.some(({ requiresShipping }) => requiresShipping),
    displayFinancialStatus: order.payment.toUpperCase(),
    displayFulfillmentStatus: fulfillmentStatusOf(order),
    customAttributes: order.attributes,
    currentTotalPriceSet: { shopMoney: money, presentmentMoney: money },
    retailLocation: () => locationView(order.locationId, context),
    customer: () => {
      if (customer === undefined) return null;
      need('read_customers');
      return customerView(customer, context);
    },
    shippingAddress: personal ? addressView(order.shipping, `${order.id}1`) : null,
    billingAddress: personal ? addressView(order.billing, `${order.id}2`) : null,
    fulfillments: (given: { first?: number | null }) =>
      first(order.parcels, given.first).map((parcel) => parcelView(parcel, order, context)),
    transactions: (given: { first?: number | null }) =>
      first(order.transactions, given.first).map(({ id, kind, status, at }) => ({
        __typename: 'OrderTransaction',
        id: gid('OrderTransaction', id),
        kind,
        status,
        createdAt: toSecond(at),
        processedAt: toSecond(at),
        test: order.test,
        gateway: 'shopify_payments',
      })),
    lineItems: (given: Page) =>
      connection(order.lines, given, (line) => ({
        __typename: 'LineItem',
        id: gid('LineItem', line.id),
        title: line.title,
        name: line.title,
        variantTitle: line.variantTitle ?? null,
        sku: line.sku ?? null,
        vendor: line.vendor ?? null,
        quantity: line.quantity,
        currentQuantity: line.currentQuantity,
        isGiftCard: line.giftCard,
        requiresShipping: line.requiresShipping,
      })),
    metafield: ({ namespace, key }: { namespace?: string | null; key: string }) => {
      const name = `${store.namespaceOf(namespace)}.${key}`;
      const found = order.metafields.get(name);
      const forced = sticky[`${namespace ?? '$app'}.${key}`];
      return found === undefined ? null : metafieldView(forced === undefined ? found : { ...found, value: forced });
    },
  };
}

/** In the words of the API; of a carrier's word and of none. */
function parcelView(parcel: Parcel, order: Order, context: Context) {
  const lines = order.lines.filter(({ id }) => parcel.lineIds.includes(id));
  return {
    __typename: 'Fulfillment',
    id: gid('Fulfillment', parcel.id),
    name: parcel.name,
    status: parcel.status.toUpperCase(),
    displayStatus: parcel.status === 'cancelled' ? 'CANCELED' : (parcel.shipmentStatus?.toUpperCase() ?? 'FULFILLED'),
    createdAt: toSecond(parcel.createdAt),
    updatedAt: toSecond(parcel.updatedAt),
    deliveredAt: toSecond(parcel.deliveredAt),
    requiresShipping: lines.some(({ requiresShipping }) => requiresShipping),
    totalQuantity: lines.reduce((sum, { quantity }) => sum + quantity, 0),
    location: () => locationView(parcel.locationId, context),
  };
}

function locationView(id: string | undefined, { store, need }: Context) {
  const name = store.locations.get(id ?? '');
  if (id === undefined || name === undefined) return null;
  need('read_locations', 'read_inventory', 'read_markets_home');
  return { __typename: 'Location', id: gid('Location', id), name };
}

function customerView(customer: Customer, { store, settings: { protectedData: personal } }: Context) {
  const { email, phone, emailConsent, smsConsent } = customer;
  const state = smsConsent === 'NOT_SUBSCRIBED' ? 'NEVER_SUBSCRIBED' : smsConsent;
  return {
    __typename: 'Customer',
    id: gid('Customer', customer.id),
    firstName: personal ? customer.firstName : null,
    lastName: personal ? customer.lastName : null,
    locale: customer.locale,
    tags: customer.tags,
    numberOfOrders: String([...store.orders.values()].filter((one) => one.customerId === customer.id).length),
    defaultEmailAddress: personal && email !== undefined ? { emailAddress: email, marketingState: emailConsent } : null,
    defaultPhoneNumber:
      personal && phone !== undefined
        ? { phoneNumber: phone, marketingState: smsConsent, smsMarketingConsent: { state } }
        : null,
  };
}

function addressView(given: Address | undefined, id: string) {
  if (given === undefined) return null;
  const { country, ...rest } = given;
  return {
    __typename: 'MailingAddress',
    id: gid('MailingAddress', id),
    ...rest,
    country: country ?? null,
    countryCodeV2: country ?? null,
    province: given.province ?? null,
    provinceCode: given.province ?? null,
  };
}

export function metafieldView({ id, createdAt, updatedAt, ...rest }: Metafield) {
  return {
    __typename: 'Metafield',
    ...rest,
    id: gid('Metafield', id),
    createdAt: toSecond(createdAt),
    updatedAt: toSecond(updatedAt),
    compareDigest: digestOf(rest.value),
  };
}

export function definitionView({ id, type, validations, access, ...rest }: Definition) {
  return {
    __typename: 'MetafieldDefinition',
    ...rest,
    id: gid('MetafieldDefinition', id),
    ownerType: 'ORDER',
    type: { name: type, category: type.split('_')[0] ?? '' },
    validations: validations.map((one) => ({ ...one, type: type })),
    access: { admin: access },
    pinnedPosition: null,
  };
}

export function subscriptionView(
  { id, createdAt, ofApp: _, ...rest }: Subscription,
  { settings: { webhookVersion } }: Context,
) {
  return {
    __typename: 'WebhookSubscription',
    ...rest,
    id: gid('WebhookSubscription', id),
    createdAt: toSecond(createdAt),
    updatedAt: toSecond(createdAt),
    apiVersion: { displayName: webhookVersion, handle: webhookVersion, supported: true },
  };
}

export interface Page {
  first?: number | null;
  last?: number | null;
  after?: string | null;
}

/** A page of a list that is in the order of its places, which cursors name: a list that grew meanwhile goes on where it was. */
export function connection<T, V>(
  items: readonly T[],
  { first, after }: Page,
  view: (item: T) => V,
  placeOf: (item: T, index: number) => string = (_item, index) => String(index).padStart(9, '0'),
) {
  const places = items.map(placeOf);
  const behind = after == null ? '' : Buffer.from(after, 'base64').toString();
  const start = places.filter((place) => place <= behind).length;
  const size = Math.min(first ?? 250, 250);
  const nodes = items.slice(start, start + size).map(view);
  const cursor = (index: number): string => Buffer.from(places[start + index] ?? '').toString('base64');
  return {
    nodes,
    edges: nodes.map((node, index) => ({ node, cursor: cursor(index) })),
    pageInfo: {
      hasNextPage: start + size < items.length,
      hasPreviousPage: start > 0,
      startCursor: nodes.length === 0 ? null : cursor(0),
      endCursor: nodes.length === 0 ? null : cursor(nodes.length - 1),
    },
  };
}
