import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Events, Verdict } from '../../core/connector/contract.ts';
import { happenedAt, noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';
import { listOf } from '../../core/entries.ts';
import { isOrderId } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { missingScopes } from './webhooks.ts';

type Choice = Pick<ShopifySettings, 'shop' | 'trigger' | 'parcels'>;

const scheme: HmacScheme = { header: 'x-shopify-hmac-sha256', algorithm: 'sha256', encoding: 'base64' };

/**
 * Signed over the bytes as they came, with one of the secrets, for this shop. Shopify signs no time, so a replay is recognised by its
 * delivery's id only; and one app signs for all of its shops with one secret, while the header that names the shop isn't signed: it
 * has to be the shop that this source is bound to. Source: shopify.dev, "verify deliveries".
 */
export function verify(delivery: Delivery, secrets: readonly string[], shop: string): Verdict {
  const verdict = verifyHmac(delivery, secrets, scheme);
  return verdict.ok && delivery.headers['x-shopify-shop-domain'] !== shop ? { ok: false, why: 'mismatch' } : verdict;
}

/** The event in a body, without its time and key. */
type Said =
  | { kind: 'closed' | 'changed'; recordId: string; what: string; certain?: true }
  | { kind: 'erase'; what: string; personIds?: string[]; recordIds?: string[]; contacts?: string[]; everybody?: true }
  | { kind: 'revoked'; what: string }
  | { kind: 'ignored'; why: string; act?: true }
  | { kind: 'unreadable'; why: string };

/** Ids have up to 19 digits. */
const id = z.union([z.int(), z.string()]).transform(String).refine(isOrderId);
const status = z.string().nullish().catch(undefined);
const contact = z.string().trim().min(1).nullish().catch(undefined);

const OfOrder = z.object({ id, test: z.boolean().nullish().catch(undefined) });
const Parcel = z.object({ order_id: id, status, shipment_status: status });
const ParcelEvent = z.object({ order_id: id, status });
const Refund = z.object({ order_id: id });
const Shop = z.object({ shop_domain: z.string() });
const Redact = z.object({
  customer: z.object({ id: id.nullish().catch(undefined), email: contact, phone: contact }).nullish(),
  orders_to_redact: listOf(id).nullish().catch(undefined),
  data_request: z.unknown().optional(),
});
const Uninstalled = z.object({ myshopify_domain: z.string() });
const Scopes = z.object({ current: listOf(z.string()) });

/**
 * The event of a verified delivery. Retries of a delivery share its id; deliveries of two subscriptions to one topic don't: reading the
 * record shows that both are about the same closing. Unknown topics are left out.
 */
export function events(delivery: Delivery, choice: Choice): Events {
  const json = jsonBody(delivery.raw);
  if (json === undefined) return { ok: false, why: 'the body is not JSON in UTF-8' };
  const topic = topicOf(delivery);
  const said = read(topic, json, choice);
  switch (said.kind) {
    case 'unreadable':
      return { ok: false, why: said.why };
    case 'ignored':
      return noEvent(topic, said.why, said.act);
    default:
      return oneEvent({
        ...said,
        at: happenedAt(delivery.headers['x-shopify-triggered-at'], delivery),
        key: keyOf(topic, delivery),
      });
  }
}

function read(topic: string, body: unknown, choice: Choice): Said {
  switch (topic) {
    case 'orders/fulfilled':
      return order(body, ({ trigger }) =>
        trigger === 'fulfilled'
          ? { kind: 'closed', certain: true }
          : trigger === 'delivered'
            ? { kind: 'closed' } // the time until it counts as delivered runs from now
            : { why: 'the trigger is paid' },
      );
    case 'orders/paid':
      return order(body, ({ trigger }) =>
        trigger === 'paid' ? { kind: 'closed', certain: true } : { why: `the trigger is ${trigger}` },
      );
    case 'orders/cancelled':
    case 'orders/delete':
      return order(body, () => ({ kind: 'changed' }));
    case 'refunds/create':
      return parsed(Refund, body, ({ order_id }) => ({ kind: 'changed', recordId: order_id, what: topic }));
    case 'fulfillments/create':
    case 'fulfillments/update':
      return parsed(Parcel, body, (parcel) => ofParcel(topic, parcel, choice));
    case 'fulfillment_events/create':
      return parsed(ParcelEvent, body, ({ order_id, status }) =>
        ofParcel(topic, { order_id, shipment_status: status }, choice),
      );
    case 'customers/redact':
    case 'customers/data_request':
    case 'shop/redact':
      return parsed(Shop, body, ({ shop_domain }) =>
        shop_domain === choice.shop ? privacy(topic, body) : { kind: 'ignored', why: 'it is about another shop' },
      );
    case 'app/uninstalled':
      return parsed(Uninstalled, body, ({ myshopify_domain }) =>
        myshopify_domain === choice.shop
          ? { kind: 'revoked', what: "the app was uninstalled: the shop's owner must install it again" }
          : { kind: 'ignored', why: 'it is about another shop' },
      );
    case 'app/scopes_update':
      return parsed(Scopes, body, ({ current }) => ofScopes(current));
    default:
      return { kind: 'ignored', why: 'this topic says nothing about closing' };
  }

  function order(
    given: unknown,
    meaning: (choice: Choice) => { kind: 'closed' | 'changed'; certain?: true } | { why: string },
  ): Said {
    return parsed(OfOrder, given, ({ id, test }) => {
      if (test === true) return { kind: 'ignored', why: 'a test order' };
      const meant = meaning(choice);
      return 'why' in meant ? { kind: 'ignored', ...meant } : { ...meant, recordId: id, what: topic };
    });
  }
}

/** Every status of a carrier comes as an update; the order is read only for those that may close or reopen it. */
function ofParcel(topic: string, parcel: z.output<typeof Parcel>, { trigger, parcels }: Choice): Said {
  const { order_id: recordId, status, shipment_status } = parcel;
  if (trigger === 'paid') return { kind: 'ignored', why: 'the trigger is paid' };
  if (status === 'cancelled') return { kind: 'changed', recordId, what: `${topic}: cancelled` };
  const arrived = shipment_status === 'delivered' || shipment_status === 'picked_up';
  if (trigger === 'delivered' && arrived) return { kind: 'closed', recordId, what: `${topic}: ${shipment_status}` };
  if (topic === 'fulfillments/create' && parcels === 'first') return { kind: 'closed', recordId, what: topic };
  return { kind: 'ignored', why: trigger === 'delivered' ? 'nothing has arrived by it' : 'it hands nothing over' };
}

function privacy(topic: string, body: unknown): Said {
  const redact = Redact.safeParse(body);
  if (!redact.success) return { kind: 'unreadable', why: `a ${topic} whose customer or orders can't be read` };
  const { customer, orders_to_redact, data_request } = redact.data;
  if (topic === 'shop/redact') {
    // The topic isn't signed: a body that was signed for one customer must not erase all customers.
    return customer == null && orders_to_redact == null
      ? { kind: 'erase', everybody: true, what: 'the shop is to be forgotten (shop/redact)' }
      : { kind: 'ignored', why: 'a shop/redact that names a customer' };
  }
  if (topic === 'customers/data_request') {
    const why =
      'a customer asks for their data: within 30 days, send the shop\'s owner what "closeloop contact show" says of the customer ' +
      "named in Shopify's e-mail on the request";
    return { kind: 'ignored', why, act: true };
  }
  // The topic isn't signed: a replayed request for data must not erase the customer.
  if (data_request !== undefined) return { kind: 'ignored', why: 'a customers/redact that is a request for data' };
  const contacts = [customer?.email, customer?.phone].filter((one) => one != null);
  return {
    kind: 'erase',
    what: 'a customer is to be forgotten (customers/redact)',
    personIds: customer?.id == null ? [] : [customer.id],
    recordIds: orders_to_redact ?? [],
    contacts,
  };
}

function ofScopes(current: readonly string[]): Said {
  const missing = missingScopes(current);
  if (missing.length === 0) return { kind: 'ignored', why: 'all that closeloop needs is still allowed' };
  return { kind: 'revoked', what: `rights were taken away: give the app ${missing.join(', ')} again` };
}

function parsed<S extends z.ZodType>(schema: S, body: unknown, then: (value: z.output<S>) => Said): Said {
  const result = schema.safeParse(body);
  return result.success ? then(result.data) : { kind: 'unreadable', why: 'the body is not of its topic' };
}

/** Only plain names, as the topic gets into traces. */
function topicOf({ headers }: Delivery): string {
  const topic = headers['x-shopify-topic'] ?? '';
  return /^[a-z_]{1,60}\/[a-z_]{1,60}$/.test(topic) ? topic : 'an unknown topic';
}

function keyOf(topic: string, { headers, raw }: Delivery): string {
  const given = headers['x-shopify-webhook-id'] ?? '';
  if (/^[\w-]{1,100}$/.test(given)) return given;
  return createHash('sha256').update(topic).update(raw).digest('base64url').slice(0, 32);
}
