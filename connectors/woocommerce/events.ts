import { z } from 'zod';
import type { Delivery, Events, HttpReply, RecordEvent } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { closedAt, closingOf, OrderMoment } from './order.ts';
import type { WooCommerceSettings } from './settings.ts';

/**
 * The signature's secret is plain text. WooCommerce decodes HTML entities in the stored secret before it signs, so the configuration has to
 * contain `&`, never `&amp;`. It signs no time: only the existing journey of a closing keeps a repeated delivery from counting. Source:
 * WooCommerce, class-wc-webhook.php.
 */
export const signature: HmacScheme = { header: 'x-wc-webhook-signature', algorithm: 'sha256', encoding: 'base64' };

/**
 * Answers the ping that WooCommerce sends to a webhook's address when a person saves the webhook. The ping is form-encoded and unsigned, and
 * needs the response of a delivery.
 */
export function ping({ headers, raw }: Delivery): HttpReply | undefined {
  const isSigned = (headers[signature.header] ?? '') !== '';
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  const isPing = isForm && raw.length < 40 && /^webhook_id=\d+$/.test(Buffer.from(raw).toString('latin1'));
  return isPing && !isSigned ? { status: 200 } : undefined;
}

const dayMs = 86_400_000;
/** How late a shop may deliver: a quiet shop delivers hours late. An order that was completed earlier was only saved again. */
const newsMs = 7 * dayMs;
/** The age limit for statuses of plugins, which have no date: the order's age decides, as no parcel is under way for longer. */
const undatedMs = 60 * dayMs;

/** The body of `action.woocommerce_order_status_completed`, which has only this. */
const Action = z.object({
  action: z.string().regex(/^woocommerce_\w{1,80}$/),
  arg: z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/)]).transform(String),
});

/** The signed body of a webhook whose owner may not see the order (any more), or whose order is gone. */
const ErrorObject = z.object({ code: z.string(), message: z.string(), data: z.unknown() });

/** The body for a deleted order. */
const Deleted = z.object({ id: OrderMoment.shape.id });

/** The remedy for a webhook that delivers errors: its closings are lost until a person corrects it. */
export const brokenWebhook =
  "the webhook's owner may not see orders any more (or the order is gone): make an administrator its owner by saving it once";

/** The remedy for a body that is no JSON: PHP signs and sends even what it could not encode. */
export const unreadable = 'the poll finds the order; look for a plugin that changes what webhooks send';

/**
 * Reads the events of a verified delivery. Unknown bodies are accepted, because WooCommerce disables a webhook whose deliveries are often
 * refused.
 */
export function events(
  json: unknown,
  { headers, receivedAt }: Pick<Delivery, 'headers' | 'receivedAt'>,
  settings: Pick<WooCommerceSettings, 'statuses'>,
): Events {
  const topic = headers['x-wc-webhook-topic'] ?? '';
  const isOfOrders = topic === '' || /^(?:order|action)\./.test(topic);
  if (!isOfOrders) return noEvent('a delivery', 'not of the topics of orders');

  const order = OrderMoment.safeParse(json);
  if (order.success) {
    const news = new Date(receivedAt.getTime() - newsMs);
    const what = /^order\.[a-z]{1,20}$/.test(topic) ? topic : 'order';
    return eventsOf(order.data, { ...settings, via: 'webhook', what, news, at: receivedAt });
  }
  // WooCommerce derives the delivery's id from the webhook and the second, so two orders can share an id.
  const second = String(Math.floor(receivedAt.getTime() / 1000));
  const deliveryId = (headers['x-wc-webhook-delivery-id'] ?? second).slice(0, 64);
  const { data: action } = Action.safeParse(json);
  if (action !== undefined) {
    const { action: what, arg: recordId } = action;
    return oneEvent({ kind: 'closed', recordId, at: receivedAt, key: `action.${recordId}.${deliveryId}`, what });
  }
  const { data: deleted } = Deleted.safeParse(json);
  if (topic === 'order.deleted' && deleted !== undefined) {
    const key = `deleted.${deleted.id}.${deliveryId}`;
    return oneEvent({ kind: 'changed', recordId: deleted.id, at: receivedAt, key, what: topic });
  }
  if (ErrorObject.safeParse(json).success) return noEvent('an error instead of an order', brokenWebhook, true);
  return noEvent('a delivery', 'not an order');
}

/**
 * The event for an order from a webhook or the poll. The key of a closing contains only the closing, so that closeloop's own writes, the next
 * poll and a repeated delivery give the same key; `closing` leads all of them to one journey.
 * @param news orders that were completed before this instant count only as changed
 * @param at the time of the event if the order has none
 */
export function eventsOf(
  order: OrderMoment,
  context: Pick<WooCommerceSettings, 'statuses'> & { via: 'webhook' | 'poll'; what: string; news: Date; at: Date },
) {
  const { statuses, via, news, at } = context;
  const { id: recordId, status, date_modified_gmt: modified } = order;
  const what = `${context.what}: status ${status}`;
  if (order.parent_id !== '0') return noEvent(what, 'a refund, or a part of another order');
  if (status === 'checkout-draft' || status === 'pending') return noEvent(what, 'not ordered yet');
  if (statuses.includes(status) && isNews(order, news)) {
    const closing = closingOf(order, { statuses });
    const key = `${via}.closed.${recordId}.${closing}`;
    return oneEvent({ kind: 'closed', certain: true, recordId, at: closedAt(order), key, closing, what });
  }
  const key = `${via}.changed.${recordId}.${status}.${(modified ?? at).getTime()}`;
  return oneEvent({ kind: 'changed', recordId, at: modified ?? at, key, what });
}

const UnreadableOrder = OrderMoment.pick({ id: true, status: true });

/**
 * The event for an order of an undocumented shape that the poll found: planning reads the order and gives the reason. Undefined if the order
 * is not completed, or its id is unreadable.
 */
export function eventOfUnreadable(
  raw: unknown,
  { statuses, at }: { statuses: readonly string[]; at: Date },
): RecordEvent[] {
  const { id: recordId, status } = UnreadableOrder.safeParse(raw).data ?? { id: '', status: '' };
  if (!statuses.includes(status)) return [];
  const what = `poll: status ${status}, an unreadable order`;
  return [{ kind: 'closed', recordId, at, key: `poll.unreadable.${recordId}`, what }];
}

/** Whether a closing is new. Saving an old order delivers it again, so only closings since `news` count. */
function isNews({ date_completed_gmt: completed, date_created_gmt: created }: OrderMoment, news: Date): boolean {
  if (completed !== null) return completed >= news;
  return created === null || created.getTime() + undatedMs >= news.getTime();
}
