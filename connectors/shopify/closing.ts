import type { RecordState } from '../../core/connector/contract.ts';
import { type Fulfillment, idOf, type Order, type OrderState } from './order.ts';
import type { ShopifySettings } from './settings.ts';

/** The facts that decide an order's state: the state's fields and, if the whole order was read, its items and customer. */
export type OrderFacts = OrderState & Partial<Pick<Order, 'lineItems'>> & { hasContact?: boolean };

export type Choice = Pick<ShopifySettings, 'trigger' | 'parcels' | 'deliveredWithin' | 'include'>;

/** The state of an order. An order has only one closing, named after the parcel that completes it. */
export function stateOf(order: OrderFacts, choice: Choice, now: Date): RecordState {
  const why = neverAsked(order, choice.include);
  if (why !== undefined) return { is: 'out', why };
  return choice.trigger === 'paid' ? paid(order) : handedOver(order, choice, now);
}

/** Why closeloop never asks about this order. */
function neverAsked(order: OrderFacts, include: Choice['include']): string | undefined {
  const { displayFinancialStatus: money, sourceName, lineItems, hasContact = true } = order;
  if (order.test) return 'a test order';
  if (order.cancelledAt !== undefined) return 'the order was cancelled';
  if (money === 'REFUNDED') return 'the order was refunded';
  if (money === 'VOIDED') return 'the payment was voided';
  if (money === 'PARTIALLY_REFUNDED' && !include.partlyRefunded) return 'the order was refunded in part';
  if (sourceName === 'pos' && !include.pointOfSale) return 'a sale in a shop';
  if (sourceName === 'shopify_draft_order' && !include.drafts) return 'an order that staff wrote';
  const bought = lineItems?.nodes.filter(({ quantity }) => quantity > 0) ?? [];
  if (bought.length > 0 && bought.every(({ giftCard }) => giftCard)) return 'nothing but gift cards';
  if (!hasContact && !include.withoutContact) return 'there is neither an e-mail address nor a phone number on it';
  return undefined;
}

/** The closing of an order without a parcel or payment that could name it. */
const whole = (closedAt: Date): RecordState => ({ is: 'closed', closing: 'whole', closedAt });

function paid({ displayFinancialStatus, transactions, processedAt }: OrderState): RecordState {
  if (displayFinancialStatus !== 'PAID' && displayFinancialStatus !== 'PARTIALLY_REFUNDED') return { is: 'open' };
  const last = transactions
    .filter(({ kind, status }) => (kind === 'SALE' || kind === 'CAPTURE') && status === 'SUCCESS')
    .sort(byId)
    .at(-1);
  if (last === undefined) return whole(processedAt); // The order cost nothing.
  return { is: 'closed', closing: `p${idOf(last.id)}`, closedAt: last.processedAt ?? processedAt };
}

function handedOver(order: OrderState, { trigger, parcels, deliveredWithin }: Choice, now: Date): RecordState {
  const { displayFulfillmentStatus: status, processedAt } = order;
  const all = order.fulfillments.filter((one) => one.status === 'SUCCESS').sort(byId);
  const complete = status === 'FULFILLED' || status === 'FULFILLMENT_NOT_REQUIRED';
  if (!complete && (parcels === 'all' || all.length === 0)) return { is: 'open' };
  const naming = parcels === 'all' ? all.at(-1) : all[0];
  if (naming === undefined) return whole(processedAt);
  const closed = (closedAt: Date): RecordState => ({ is: 'closed', closing: `f${idOf(naming.id)}`, closedAt });
  if (trigger === 'fulfilled') return closed(naming.createdAt);

  const arrivals = all.flatMap((parcel) => arrivalOf(parcel, order) ?? []).sort((a, b) => a.getTime() - b.getTime());
  const arrived = parcels === 'all' ? (arrivals.length === all.length ? arrivals.at(-1) : undefined) : arrivals[0];
  if (arrived !== undefined) return closed(arrived);

  // A parcel that the carrier gave up counts only if it is reported as delivered.
  const hopeful = all.filter(
    (parcel) => arrivalOf(parcel, order) === undefined && !failed.has(parcel.displayStatus ?? ''),
  );
  const last = parcels === 'all' ? hopeful.at(-1) : hopeful[0];
  const isLost = parcels === 'all' && hopeful.length + arrivals.length < all.length;
  if (last === undefined || isLost) return { is: 'open' };
  const fallback = new Date(last.createdAt.getTime() + deliveredWithin);
  return fallback <= now ? closed(fallback) : { is: 'open', readAgainAt: fallback };
}

const delivered = new Set(['DELIVERED', 'PICKED_UP']);
const failed = new Set(['FAILURE', 'NOT_DELIVERED']);
/** The statuses of a parcel that no carrier has or will get. A parcel with any other status is under way, or its carrier gave it up. */
const withoutCarrier = new Set(['', 'FULFILLED', 'MARKED_AS_FULFILLED', 'LABEL_VOIDED', 'CANCELED']);

/** When a parcel arrived. Items without a carrier (downloads, sales over the counter) arrive when the seller hands them over. */
function arrivalOf(parcel: Fulfillment, { sourceName }: OrderState): Date | undefined {
  const { deliveredAt, createdAt, updatedAt, requiresShipping, displayStatus = '' } = parcel;
  if (deliveredAt !== undefined) return deliveredAt;
  if (delivered.has(displayStatus)) return updatedAt;
  const isHandedOver = !requiresShipping || sourceName === 'pos';
  return isHandedOver && withoutCarrier.has(displayStatus) ? createdAt : undefined;
}

/** Compares ids as numbers, which can be larger than 2^53: older items have lower ids. */
function byId(a: { id: string }, b: { id: string }): number {
  const [one, other] = [idOf(a.id), idOf(b.id)];
  return one.length - other.length || (one < other ? -1 : 1);
}
