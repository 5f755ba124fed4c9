import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Delivery, Events, SourceEvent, Verdict } from '../../core/connector/contract.ts';
import { happenedAt, noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { type HmacScheme, verifyHmac } from '../../core/connector/signature.ts';
import { listOf } from '../../core/entries.ts';
import { lookUp } from '../../core/look-up.ts';
import { isOrderId } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { missingScopes } from './webhooks.ts';

export const proof: HmacScheme = { header: 'x-shopify-hmac-sha256', algorithm: 'sha256', encoding: 'base64' };

/**
 * Checks that one of the secrets signed the delivery's bytes, and that the delivery is for this shop. Shopify signs no time, so only the
 * delivery's id shows a replay. One app signs for all its shops with one secret, and the header that names the shop isn't signed: closeloop
 * compares it with the shop of this source. Source: shopify.dev, "verify deliveries".
 */
export function verify(delivery: Delivery, secrets: readonly string[], shop: string): Verdict {
  const verdict = verifyHmac(delivery, secrets, proof);
  return verdict.ok && delivery.headers['x-shopify-shop-domain'] !== shop ? { ok: false, why: 'mismatch' } : verdict;
}

type Untimed<Event> = Event extends SourceEvent ? Omit<Event, 'at' | 'key'> : never;

/** The event in a body; why there is none (`act`: a person has to act); or why the body can't be read. */
type Said = Untimed<SourceEvent> | { why: string; act?: true } | { unreadable: string };

type Choice = Pick<ShopifySettings, 'shop' | 'trigger' | 'parcels'>;
type Reader = (topic: string, body: unknown, choice: Choice) => Said;

const reading =
  <S extends z.ZodType>(schema: S, then: (value: z.output<S>, choice: Choice, topic: string) => Said): Reader =>
  (topic, body, choice) => {
    const { success, data } = schema.safeParse(body);
    return success ? then(data, choice, topic) : { unreadable: 'the body is not of its topic' };
  };

/** Ids have up to 19 digits. */
const id = z.union([z.int(), z.string()]).transform(String).refine(isOrderId);
const status = z.string().nullish().catch(undefined);
const contact = z.string().trim().min(1).nullish().catch(undefined);

const ofOrder = (meaning: (choice: Choice) => { kind: 'closed' | 'changed'; certain?: true } | { why: string }) =>
  reading(z.object({ id, test: z.boolean().nullish().catch(undefined) }), ({ id: recordId, test }, choice, what) => {
    const meant = test === true ? { why: 'a test order' } : meaning(choice);
    return 'why' in meant ? meant : { ...meant, recordId, what };
  });

/** Shopify sends an update for every status of a carrier; closeloop reads the order only for statuses that may close or reopen it. */
const ofParcel = reading(
  z.object({ order_id: id, status, shipment_status: status }),
  ({ order_id: recordId, status, shipment_status }, { trigger, parcels }, topic) => {
    if (trigger === 'paid') return { why: 'the trigger is paid' };
    if (status === 'cancelled') return { kind: 'changed', recordId, what: `${topic}: cancelled` };
    const reported = topic === 'fulfillment_events/create' ? status : shipment_status;
    const arrived = reported === 'delivered' || reported === 'picked_up';
    if (trigger === 'delivered' && arrived) return { kind: 'closed', recordId, what: `${topic}: ${reported}` };
    if (topic === 'fulfillments/create' && parcels === 'first') return { kind: 'closed', recordId, what: topic };
    return { why: trigger === 'delivered' ? 'nothing has arrived by it' : 'it hands nothing over' };
  },
);

const elsewhere = { why: 'it is about another shop' };

const Redact = z.object({
  shop_domain: z.string(),
  customer: z.object({ id: id.nullish().catch(undefined), email: contact, phone: contact }).nullish(),
  orders_to_redact: listOf(id).nullish().catch(undefined),
  data_request: z.unknown().optional(),
});
/** Reads a body that has to name this shop. */
const ofRedact = (then: (redact: z.output<typeof Redact>) => Said) =>
  reading(Redact, (redact, { shop }) => (redact.shop_domain === shop ? then(redact) : elsewhere));

/**
 * The readers of privacy topics. The topic isn't signed: a body that was signed for one customer must not erase all customers, and a request
 * for data must erase nobody.
 */
const privacy: Record<string, Reader> = {
  'shop/redact': ofRedact(({ customer, orders_to_redact }) =>
    customer == null && orders_to_redact == null
      ? { kind: 'erase', everybody: true, what: 'the shop is to be forgotten (shop/redact)' }
      : { why: 'a shop/redact that names a customer' },
  ),
  'customers/data_request': ofRedact(() => ({
    why:
      'a customer asks for their data: within 30 days, send the shop\'s owner what "closeloop contact show" says of the customer ' +
      "named in Shopify's e-mail on the request",
    act: true,
  })),
  'customers/redact': ofRedact(({ customer, orders_to_redact, data_request }) => {
    if (data_request !== undefined) return { why: 'a customers/redact that is a request for data' };
    return {
      kind: 'erase',
      what: 'a customer is to be forgotten (customers/redact)',
      personIds: customer?.id == null ? [] : [customer.id],
      recordIds: orders_to_redact ?? [],
      contacts: [customer?.email, customer?.phone].filter((one) => one != null),
    };
  }),
};

const readers: Record<string, Reader> = {
  ...privacy,
  // With the trigger `delivered` the time after which a parcel counts as delivered begins now.
  'orders/fulfilled': ofOrder(({ trigger }) =>
    trigger === 'paid'
      ? { why: 'the trigger is paid' }
      : { kind: 'closed', ...(trigger === 'fulfilled' && { certain: true }) },
  ),
  'orders/paid': ofOrder(({ trigger }) =>
    trigger === 'paid' ? { kind: 'closed', certain: true } : { why: `the trigger is ${trigger}` },
  ),
  'orders/cancelled': ofOrder(() => ({ kind: 'changed' })),
  'orders/delete': ofOrder(() => ({ kind: 'changed' })),
  'refunds/create': reading(z.object({ order_id: id }), ({ order_id: recordId }, _, what) => {
    return { kind: 'changed', recordId, what };
  }),
  'fulfillments/create': ofParcel,
  'fulfillments/update': ofParcel,
  'fulfillment_events/create': ofParcel,
  'app/uninstalled': reading(z.object({ myshopify_domain: z.string() }), ({ myshopify_domain }, { shop }) =>
    myshopify_domain === shop
      ? { kind: 'revoked', what: "the app was uninstalled: the shop's owner must install it again" }
      : elsewhere,
  ),
  'app/scopes_update': reading(z.object({ current: listOf(z.string()) }), ({ current }) => {
    const missing = missingScopes(current);
    if (missing.length === 0) return { why: 'all that closeloop needs is still allowed' };
    return { kind: 'revoked', what: `rights were taken away: give the app ${missing.join(', ')} again` };
  }),
};

/**
 * Reads the event of a verified delivery. Retries of a delivery share its id. Deliveries of two subscriptions to one topic have different ids:
 * reading the record shows that both are about the same closing. Unknown topics are ignored.
 */
export function events(body: unknown, delivery: Delivery, choice: Choice): Events {
  const { headers, raw } = delivery;
  // Only a plain name is taken, because the topic gets into traces.
  const given = headers['x-shopify-topic'] ?? '';
  const topic = /^[a-z_]{1,60}\/[a-z_]{1,60}$/.test(given) ? given : 'an unknown topic';
  const said = lookUp(readers, topic)?.(topic, body, choice) ?? { why: 'this topic says nothing about closing' };
  if ('unreadable' in said) return { ok: false, why: said.unreadable };
  if ('why' in said) return noEvent(topic, said.why, said.act);
  const id = headers['x-shopify-webhook-id'] ?? '';
  const digest = () => createHash('sha256').update(topic).update(raw).digest('base64url').slice(0, 32);
  const key = /^[\w-]{1,100}$/.test(id) ? id : digest();
  return oneEvent({ ...said, at: happenedAt(headers['x-shopify-triggered-at'], delivery), key });
}
