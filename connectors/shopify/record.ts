import type { PresentedRecord } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { internationalPhone } from '../../core/phone-numbers.ts';
import { type Choice, stateOf } from './closing.ts';
import { idOf, type Order, type WholeOrder } from './order.ts';

type Absent<T> = T | undefined;

/**
 * An order for rules and mappings. Ids and amounts are strings; absent values are left out.
 * Examples: `order.branch.name = "Tartu"`, `$not("no_survey" in order.tags)`, `order.attributes.feedback_opt_out != "yes"`.
 */
export interface ShopifyShape {
  order: {
    id: string;
    /** The order's name for people: "#1042". */
    name: string;
    /** web, pos, shopify_draft_order, mobile_app, or the number of the app that made it. */
    source: Absent<string>;
    tags: string[];
    note: Absent<string>;
    /** Note attributes ("additional details"), by name. */
    attributes: Record<string, string>;
    /** The configured `metafields`, by "namespace.key". */
    metafields: Record<string, string>;
    discountCodes: string[];
    /** The total before refunds, in the shop's currency. */
    total: Absent<string>;
    currency: Absent<string>;
    /** PAID, PENDING, PARTIALLY_REFUNDED … */
    financialStatus: Absent<string>;
    /** FULFILLED, PARTIALLY_FULFILLED … */
    fulfillmentStatus: string;
    /** ISO 8601, UTC. */
    createdAt: string;
    /** The branch, for sales in a shop. */
    branch: Absent<{ id: string; name: string }>;
    /** The location from which the first parcel was sent. */
    shippedFrom: Absent<{ id: string; name: string }>;
    /** The country of the delivery as ISO 3166 (`DE`), and the name of the town. */
    country: Absent<string>;
    city: Absent<string>;
    /** The first ten items. */
    items: Item[];
  };
  /** Up to eight parcels. Empty where the trigger is `paid`. */
  fulfillments: { id: string; status: string; createdAt: string; deliveredAt: Absent<string> }[];
  /** The order's e-mail address, else the account's; phone numbers, best first, in international form if possible. */
  contact: { email: Absent<string>; phones: string[] };
  customer: Absent<{
    id: string;
    firstName: Absent<string>;
    lastName: Absent<string>;
    /** BCP 47. */
    locale: Absent<string>;
    tags: string[];
    orders: Absent<number>;
    /** SUBSCRIBED, NOT_SUBSCRIBED, UNSUBSCRIBED, PENDING … : consent to marketing, which a question about an order isn't. */
    emailConsent: Absent<string>;
    smsConsent: Absent<string>;
  }>;
}

type Presented = Omit<PresentedRecord<ShopifyShape>, 'id' | 'currentId'>;

interface Item {
  title: string;
  variant: Absent<string>;
  sku: Absent<string>;
  vendor: Absent<string>;
  quantity: number;
  giftCard: boolean;
  shipped: boolean;
}

export function present({ order, metafields }: WholeOrder, choice: Choice, now: Date): Presented {
  const { name, tags, note, discountCodes, customer, shippingAddress, billingAddress } = order;
  const money = order.currentTotalPriceSet?.shopMoney;
  const id = idOf(order.id);
  const contact = { email: order.email ?? customer?.defaultEmailAddress?.emailAddress, phones: phonesOf(order) };
  const hasContact = contact.email !== undefined || contact.phones.length > 0;
  const locale = order.customerLocale ?? customer?.locale;
  const { timeZone, countryCodeV2: country, provinceCode: region, city } = shippingAddress ?? billingAddress ?? {};
  return {
    state: stateOf({ ...order, hasContact }, choice, now),
    shape: {
      order: {
        ...{ id, name, source: order.sourceName, tags, note },
        attributes: Object.fromEntries(order.customAttributes.map(({ key, value }) => [key, value ?? ''])),
        ...{ metafields, discountCodes, total: money?.amount, currency: money?.currencyCode },
        financialStatus: order.displayFinancialStatus,
        fulfillmentStatus: order.displayFulfillmentStatus,
        createdAt: order.createdAt.toISOString(),
        ...{ branch: place(order.retailLocation), shippedFrom: place(order.shipped[0]?.location), country, city },
        items: order.lineItems.nodes,
      },
      fulfillments: order.fulfillments.map((one) => ({
        id: idOf(one.id),
        status: one.displayStatus ?? one.status,
        createdAt: one.createdAt.toISOString(),
        deliveredAt: one.deliveredAt?.toISOString(),
      })),
      contact,
      customer: customer && {
        ...{ id: idOf(customer.id), firstName: customer.firstName, lastName: customer.lastName },
        ...{ locale: customer.locale, tags: customer.tags, orders: customer.orders },
        emailConsent: customer.defaultEmailAddress?.marketingState,
        smsConsent: customer.defaultPhoneNumber?.smsMarketingConsent?.state,
      },
    },
    ...customerOf({ personId: customer && idOf(customer.id), timeZone, country, region, locale }),
  };
}

const place = (found: Absent<{ id: string; name: string }>) => found && { id: idOf(found.id), name: found.name };

/**
 * The phone numbers of an order without repetitions, best first: the order's own, the customer's, then the addresses' numbers. They are in
 * international form if the country of an address allows it; otherwise as written.
 */
export function phonesOf({ phone, customer, shippingAddress, billingAddress }: Order): string[] {
  const home = shippingAddress?.countryCodeV2 ?? billingAddress?.countryCodeV2;
  const written: [text: string | undefined, country: string | undefined][] = [
    [phone, home],
    [customer?.defaultPhoneNumber?.phoneNumber, home],
    [shippingAddress?.phone, shippingAddress?.countryCodeV2],
    [billingAddress?.phone, billingAddress?.countryCodeV2],
  ];
  return [...new Set(written.flatMap(([text, country]) => (text ? [internationalPhone(text, country)] : [])))];
}
