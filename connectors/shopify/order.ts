import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';

/** A value the API may leave out, or give as null or, where an app may not see personal data, as ''. */
const absent = <S extends z.ZodType>(schema: S) =>
  orElse(schema, undefined).transform((value) => (value === '' ? undefined : value));
const text = absent(z.string());
const date = absent(z.iso.datetime({ offset: true }).transform((value) => new Date(value)));

const Address = z.object({ phone: text, countryCodeV2: text, provinceCode: text, city: text, timeZone: text });
const Place = z.object({ id: z.string(), name: z.string() });

export const Fulfillment = z.object({
  id: z.string(),
  /** `SUCCESS`: handed over; every other status means not, or not any more. */
  status: z.string(),
  displayStatus: text,
  createdAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
  deliveredAt: date,
  requiresShipping: z.boolean(),
});
export type Fulfillment = z.output<typeof Fulfillment>;

/** The fields that decide whether an order is closed. `transactions` for the trigger `paid`, `fulfillments` for the others. */
const state = {
  id: z.string(),
  updatedAt: z.coerce.date(),
  processedAt: z.coerce.date(),
  test: z.boolean(),
  cancelledAt: date,
  sourceName: text,
  displayFinancialStatus: text,
  displayFulfillmentStatus: z.string(),
  fulfillments: listOf(Fulfillment).default([]),
  transactions: listOf(z.object({ id: z.string(), kind: z.string(), status: z.string(), processedAt: date })).default(
    [],
  ),
};
export const OrderState = z.object(state);
export type OrderState = z.output<typeof OrderState>;

/** All fields that rules can read. */
export const Order = z.object({
  ...state,
  name: z.string(),
  createdAt: z.coerce.date(),
  email: text,
  phone: text,
  customerLocale: text,
  note: text,
  tags: listOf(z.string()).default([]),
  discountCodes: listOf(z.string()).default([]),
  customAttributes: listOf(z.object({ key: z.string(), value: text })).default([]),
  currentTotalPriceSet: absent(z.object({ shopMoney: z.object({ amount: z.string(), currencyCode: z.string() }) })),
  retailLocation: absent(Place),
  shipped: listOf(z.object({ location: absent(Place) })).default([]),
  shippingAddress: absent(Address),
  billingAddress: absent(Address),
  customer: absent(
    z.object({
      id: z.string(),
      firstName: text,
      lastName: text,
      locale: text,
      tags: listOf(z.string()).default([]),
      /** A 64-bit number, as text. */
      numberOfOrders: absent(z.coerce.number()),
      defaultEmailAddress: absent(z.object({ emailAddress: text, marketingState: text })),
      defaultPhoneNumber: absent(
        z.object({ phoneNumber: text, smsMarketingConsent: absent(z.object({ state: text })) }),
      ),
    }),
  ),
  lineItems: z
    .object({
      nodes: listOf(
        z.object({
          title: z.string(),
          variantTitle: text,
          sku: text,
          vendor: text,
          currentQuantity: z.number(),
          isGiftCard: z.boolean(),
          requiresShipping: z.boolean(),
        }),
      ),
    })
    .default({ nodes: [] }),
});
export type Order = z.output<typeof Order>;

const fulfillments = 'id status displayStatus createdAt updatedAt deliveredAt requiresShipping';
const payments = 'id kind status processedAt';
const lineItems =
  'nodes { title variantTitle sku vendor currentQuantity isGiftCard requiresShipping } pageInfo { hasNextPage endCursor }';

export type Trigger = 'paid' | 'fulfilled' | 'delivered';

/** The numbers of parcels or payments, and of items, that are read with an order; rest.ts completes the few orders with more. */
export const shown = { parts: 8, items: 10 };

const parts = (trigger: Trigger, first: number) =>
  trigger === 'paid'
    ? `transactions(first: ${first}) { ${payments} }`
    : `fulfillments(first: ${first}) { ${fulfillments} }`;

/** The fields of `OrderState`: 9 points per order. */
export const stateFields = (trigger: Trigger): string => `
  id updatedAt processedAt test cancelledAt sourceName displayFinancialStatus displayFulfillmentStatus
  ${parts(trigger, shown.parts)}`;
export const statePoints = 1 + shown.parts;

/** The further fields of `Order`. */
export const orderFields = `
  name createdAt email phone customerLocale note tags discountCodes
  customAttributes { key value }
  currentTotalPriceSet { shopMoney { amount currencyCode } }
  retailLocation { id name }
  shipped: fulfillments(first: 1) { location { id name } }
  shippingAddress { phone countryCodeV2 provinceCode city timeZone }
  billingAddress { phone countryCodeV2 provinceCode city timeZone }
  customer {
    id firstName lastName locale tags numberOfOrders
    defaultEmailAddress { emailAddress marketingState }
    defaultPhoneNumber { phoneNumber smsMarketingConsent { state } }
  }
  lineItems(first: ${shown.items}) { ${lineItems} }`;
export const orderPoints = 25;

/** All parcels, or payments, of an order: Shopify's lists of these have no second page. */
export const allParts = 250;
export const partsFields = (trigger: Trigger): string => `id ${parts(trigger, allParts)}`;
/** The items after a cursor, `$after`. */
export const moreItems = 100;
export const moreItemsFields = `id lineItems(first: ${moreItems}, after: $after) { ${lineItems} }`;
