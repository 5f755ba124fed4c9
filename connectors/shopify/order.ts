import { z } from 'zod';
import { misshapen, type Rows } from '../../core/connector/desk/rows.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { inPages, type Operation, type ShopifyApi } from './api.ts';
import type { ShopifySettings } from './settings.ts';

/** Ids have up to 19 digits, beyond 2^53: they are strings everywhere. */
export const isOrderId = (id: string): boolean => /^[1-9]\d{0,18}$/.test(id);

/** `5791244910855` → `gid://shopify/Order/5791244910855`, as the API calls it. */
export const orderGid = (id: string): string => `gid://shopify/Order/${id}`;

/** `gid://shopify/Order/5791244910855` → `5791244910855`. */
export const idOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1).replace(/\?.*$/, '');

/** A value that the API may leave out, or give as null or, if an app may not see personal data, as ''. */
const absent = <S extends z.ZodType>(schema: S) =>
  orElse(schema, undefined).transform((value) => (value === '' ? undefined : value));
const text = absent(z.string());
const date = absent(z.iso.datetime({ offset: true }).transform((value) => new Date(value)));
const texts = listOf(z.string()).default([]);

const Address = z.object({ phone: text, countryCodeV2: text, provinceCode: text, city: text, timeZone: text });
const Place = z.object({ id: z.string(), name: z.string() });

const Fulfillment = z.object({
  id: z.string(),
  /** `SUCCESS`: handed over. With every other status the parcel is not, or no longer, handed over. */
  status: z.string(),
  displayStatus: text,
  ...{ createdAt: z.coerce.date(), updatedAt: z.coerce.date(), deliveredAt: date },
  requiresShipping: z.boolean(),
});
export type Fulfillment = z.output<typeof Fulfillment>;
const Transaction = z.object({ id: z.string(), kind: z.string(), status: z.string(), processedAt: date });

/** `transactions` for the trigger `paid`, `fulfillments` for the other triggers. */
const Parts = z.object({
  fulfillments: listOf(Fulfillment).default([]),
  transactions: listOf(Transaction).default([]),
});

/** The fields that decide whether an order is closed. */
const state = {
  ...{ id: z.string(), updatedAt: z.coerce.date(), processedAt: z.coerce.date(), cancelledAt: date },
  ...{ test: z.boolean(), sourceName: text, displayFinancialStatus: text, displayFulfillmentStatus: z.string() },
  ...Parts.shape,
};
export const OrderState = z.object(state);
export type OrderState = z.output<typeof OrderState>;

const Customer = z.object({
  ...{ id: z.string(), firstName: text, lastName: text, locale: text, tags: texts },
  /** The number of the customer's orders: a 64-bit number as text. */
  orders: absent(z.coerce.number()),
  defaultEmailAddress: absent(z.object({ emailAddress: text, marketingState: text })),
  defaultPhoneNumber: absent(z.object({ phoneNumber: text, smsMarketingConsent: absent(z.object({ state: text })) })),
});
/** An item as the API returns it and as rules see it. */
const Item = z.object({
  ...{ title: z.string(), variant: text, sku: text, vendor: text },
  ...{ quantity: z.number(), giftCard: z.boolean(), shipped: z.boolean() },
});

const LineItems = z.object({
  nodes: listOf(Item),
  pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }).optional(),
});

/** All fields that rules can read. */
export const Order = z.object({
  ...state,
  ...{ name: z.string(), createdAt: z.coerce.date(), email: text, phone: text, customerLocale: text, note: text },
  ...{ tags: texts, discountCodes: texts },
  customAttributes: listOf(z.object({ key: z.string(), value: text })).default([]),
  currentTotalPriceSet: absent(z.object({ shopMoney: z.object({ amount: z.string(), currencyCode: z.string() }) })),
  retailLocation: absent(Place),
  shipped: listOf(z.object({ location: absent(Place) })).default([]),
  ...{ shippingAddress: absent(Address), billingAddress: absent(Address), customer: absent(Customer) },
  lineItems: LineItems.default({ nodes: [] }),
});
export type Order = z.output<typeof Order>;

const fulfillments = 'id status displayStatus createdAt updatedAt deliveredAt requiresShipping';
const payments = 'id kind status processedAt';
const items =
  'title variant: variantTitle sku vendor quantity: currentQuantity giftCard: isGiftCard shipped: requiresShipping';
const lineItems = `nodes { ${items} } pageInfo { hasNextPage endCursor }`;
const address = '{ phone countryCodeV2 provinceCode city timeZone }';

type Trigger = ShopifySettings['trigger'];

/** How many parcels or payments, and items, are read with an order. `completer` reads the rest of the few larger orders. */
const shown = { parts: 8, items: 10 };
/** The most parcels or payments: Shopify's lists of them have no second page. */
const allParts = 250;
const moreItems = 100;

const parts = (trigger: Trigger, first: number) =>
  trigger === 'paid'
    ? `transactions(first: ${first}) { ${payments} }`
    : `fulfillments(first: ${first}) { ${fulfillments} }`;

/** The fields of `OrderState`, which cost 9 points per order. */
export const stateFields = (trigger: Trigger): string => `
  id updatedAt processedAt test cancelledAt sourceName displayFinancialStatus displayFulfillmentStatus
  ${parts(trigger, shown.parts)}`;
export const statePoints = 1 + shown.parts;

/** The further fields of `Order`. */
const orderFields = `
  name createdAt email phone customerLocale note tags discountCodes
  customAttributes { key value }
  currentTotalPriceSet { shopMoney { amount currencyCode } }
  retailLocation { id name }
  shipped: fulfillments(first: 1) { location { id name } }
  shippingAddress ${address} billingAddress ${address}
  customer {
    id firstName lastName locale tags orders: numberOfOrders
    defaultEmailAddress { emailAddress marketingState }
    defaultPhoneNumber { phoneNumber smsMarketingConsent { state } }
  }
  lineItems(first: ${shown.items}) { ${lineItems} }`;
const orderPoints = 25;

/** An order as in the response. The schema of `Order` reports what is malformed. */
type Node = z.output<typeof Node>;
const Node = z.looseObject({ id: z.string() });
const Nodes = z.object({ nodes: listOf(z.unknown(), 1_000), definitions: z.unknown().optional() });

/**
 * Reads orders by their ids, as many per call as the points afford. If a call fails, the orders of earlier calls keep their results. An order
 * of another shape fails alone. An order that the app may not see (older than 60 days, without `read_all_orders`) is absent.
 * @param rowOf converts an order; also gets the `definitions` of the response
 */
export async function readOrders<Row>(
  api: ShopifyApi,
  { document, ...operation }: Omit<Operation<z.ZodType>, 'data'> & { document: string },
  ids: readonly string[],
  rowOf: (node: Node, definitions: unknown) => Promise<Row>,
): Promise<Rows<Row>> {
  const rows = new Map<string, Row | CloseloopError>();
  const requestOf = (page: readonly string[]) => ({ document, variables: { ids: page.map(orderGid) } });
  for await (const page of inPages(api, { ...operation, data: Nodes }, ids, requestOf)) {
    for (const [index, id] of page.items.entries()) {
      const error = page.error ?? page.answer?.failures.get(`nodes.${index}`);
      if (error !== undefined) rows.set(id, error);
    }
    for (const one of page.answer?.data.nodes ?? []) {
      const { data: node } = Node.safeParse(one); // null: the order does not exist
      if (node === undefined || rows.has(idOf(node.id))) continue;
      const id = idOf(node.id);
      const row = rowOf(node, page.answer?.data.definitions);
      rows.set(id, await row.catch((error: unknown) => misshapen(`Shopify order ${id}`, error)));
    }
  }
  return rows;
}

const Metafield = z.object({ value: z.string() });

/** A complete order, and the configured metafields by "namespace.key". */
export interface WholeOrder {
  order: Order;
  metafields: Record<string, string>;
}

export function wholeReader({ trigger, metafields }: ShopifySettings, api: ShopifyApi) {
  const complete = completer(trigger, api);
  const wanted = metafields.map((name, index) => {
    const dot = name.lastIndexOf('.');
    const call = `metafield(namespace: "${name.slice(0, dot)}", key: "${name.slice(dot + 1)}") { value }`;
    return { name, alias: `m${index}`, field: `m${index}: ${call}` };
  });
  const fields = [stateFields(trigger), orderFields, ...wanted.map(({ field }) => field)].join('\n');
  const document = `query Orders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } }`;
  const operation = { name: 'Orders', document, price: { base: 0, each: statePoints + orderPoints + wanted.length } };

  return (ids: readonly string[]): Promise<Rows<WholeOrder>> =>
    readOrders(api, operation, ids, async (node) => {
      const values = wanted.flatMap(({ name, alias }) => {
        const value = Metafield.safeParse(node[alias]).data?.value;
        return value === undefined ? [] : [[name, value] as const];
      });
      return { order: await complete(Order.parse(node)), metafields: Object.fromEntries(values) };
    });
}

/** Whether the order may have more parcels or payments: as many came as were requested. */
export const hasMoreParts = ({ fulfillments, transactions }: z.output<typeof Parts>, requested = shown.parts) =>
  Math.max(fulfillments.length, transactions.length) >= requested;

/**
 * Completes orders with more parcels, payments or items than one read returns. The state needs all parcels, as a parcel that was not returned
 * may still be under way.
 */
function completer(trigger: Trigger, api: ShopifyApi): (order: Order) => Promise<Order> {
  // The order is parsed after the call, as a misshapen order is no failure of the whole response.
  const about = (name: string, variables: string, fields: string, points: number) => {
    const document = `query ${name}(${variables}) { node(id: $id) { ... on Order { id ${fields} } } }`;
    const data = z.object({ node: z.nullable(z.record(z.string(), z.unknown())) });
    return { name, document, data, price: { base: points, each: 0 } };
  };
  const allOfThem = about('AllParts', '$id: ID!', parts(trigger, allParts), 1 + allParts);
  const nextItems = `lineItems(first: ${moreItems}, after: $after) { ${lineItems} }`;
  const Next = z.object({ lineItems: LineItems });
  const furtherItems = about('MoreItems', '$id: ID!, $after: String', nextItems, 3 + moreItems);

  async function withAllParts(order: Order): Promise<Order> {
    if (!hasMoreParts(order)) return order;
    const { node } = await api.call(allOfThem, { id: order.id });
    const whole = { ...order, ...(node && Parts.parse(node)) };
    if (!hasMoreParts(whole, allParts)) return whole;
    const message = `Shopify: an order has ${allParts} parcels or payments or more, and whether all arrived can't be read: see to it by hand`;
    throw new CloseloopError(message, { kind: 'permanent' });
  }

  async function withAllItems(order: Order): Promise<Order> {
    const nodes = [...order.lineItems.nodes];
    for (let { pageInfo } = order.lineItems; pageInfo?.hasNextPage && pageInfo.endCursor != null; ) {
      const { node } = await api.call(furtherItems, { id: order.id, after: pageInfo.endCursor });
      const next = node ? Next.parse(node).lineItems : undefined;
      nodes.push(...(next?.nodes ?? []));
      pageInfo = next?.pageInfo;
    }
    return { ...order, lineItems: { nodes } };
  }

  return async (order) => await withAllItems(await withAllParts(order));
}
