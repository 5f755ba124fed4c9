import { z } from 'zod';
import type { Delivery, Events, RecordEvent } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { exactJsonBody } from '../../core/connector/json-body.ts';
import { closedAt, closingOf, OrderMoment } from './order.ts';
import type { WooCommerceSettings } from './settings.ts';

const dayMs = 86_400_000;
/** A webhook may come hours late on a quiet shop. What was completed before that is no news: somebody saved an old order. */
const newsMs = 7 * dayMs;
/** Plugins' statuses are dated by nothing, so the order's own age has to do: nothing is on its way for longer. */
const undatedMs = 60 * dayMs;

/** `action.woocommerce_order_status_completed` carries only this. */
const Action = z.object({
  action: z.string().regex(/^woocommerce_\w{1,80}$/),
  arg: z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/)]).transform(String),
});

/** What arrives, properly signed, when the webhook's owner may not see the order any more, or it is gone. */
const ErrorObject = z.object({ code: z.string(), message: z.string(), data: z.unknown() });

/** All that is left of a deleted order. */
const Deleted = z.object({ id: OrderMoment.shape.id });

/** A webhook that delivers errors: closings are lost until somebody mends it. */
export const brokenWebhook =
  "the webhook's owner may not see orders any more (or the order is gone): make an administrator its owner by saving it once";

/** What a verified delivery says. What isn't understood is no error: WooCommerce gives up on a webhook that is refused often. */
export function events(delivery: Delivery, settings: Pick<WooCommerceSettings, 'statuses'>): Events {
  const json = exactJsonBody(delivery.raw);
  // What PHP couldn't encode is signed and sent all the same. Refused, it would bring the webhook nearer to its end.
  if (json === undefined) {
    const why =
      'the body is not JSON in UTF-8: the poll finds the order; look for a plugin that changes what webhooks send';
    return noEvent('an unreadable delivery', why, true);
  }
  const { headers, receivedAt } = delivery;
  const topic = headers['x-wc-webhook-topic'] ?? '';
  const isOfOrders = topic === '' || /^(?:order|action)\./.test(topic);
  if (!isOfOrders) return noEvent('a delivery', 'not of the topics of orders');

  const order = OrderMoment.safeParse(json);
  if (order.success) {
    const news = new Date(receivedAt.getTime() - newsMs);
    const what = /^order\.[a-z]{1,20}$/.test(topic) ? topic : 'order';
    return outcomeOf(order.data, { ...settings, via: 'webhook', what, news, at: receivedAt });
  }
  const action = Action.safeParse(json);
  // The id of one delivery is made from the webhook and the second: alone, it would be shared by two orders.
  const deliveryId = headers['x-wc-webhook-delivery-id'] ?? String(Math.floor(receivedAt.getTime() / 1000));
  if (action.success) {
    const { action: what, arg: recordId } = action.data;
    return oneEvent({ kind: 'closed', recordId, at: receivedAt, key: `action.${recordId}.${short(deliveryId)}`, what });
  }
  const deleted = Deleted.safeParse(json);
  if (topic === 'order.deleted' && deleted.success) {
    const { id: recordId } = deleted.data;
    const key = `deleted.${recordId}.${short(deliveryId)}`;
    return oneEvent({ kind: 'changed', recordId, at: receivedAt, key, what: topic });
  }
  if (ErrorObject.safeParse(json).success) return noEvent('an error instead of an order', brokenWebhook, true);
  return noEvent('a delivery', 'not an order');
}

type Outcome = Extract<Events, { ok: true }> & { events: RecordEvent[] };

/**
 * What an order, told by webhook or poll, means. The key of a closing names the closing and nothing else, so that our own
 * writes, the next poll and a repeated delivery repeat it; `closing` leads all of them, however told, to one journey.
 * @param news Orders that were over before this are told as changes only.
 * @param at Where the order doesn't say when.
 */
export function outcomeOf(
  order: OrderMoment,
  told: Pick<WooCommerceSettings, 'statuses'> & { via: 'webhook' | 'poll'; what: string; news: Date; at: Date },
): Outcome {
  const { statuses, via, news, at } = told;
  const { id: recordId, status, date_modified_gmt: modified } = order;
  const what = `${told.what}: status ${status}`;
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

const OddOrder = OrderMoment.pick({ id: true, status: true });

/**
 * An order of another shape than documented, told by the poll: whoever reads it says why it can't be asked about. Where it isn't
 * over, or can't be told from others, there is nothing to say.
 */
export function oddEvent(raw: unknown, { statuses, at }: { statuses: readonly string[]; at: Date }): RecordEvent[] {
  const { id: recordId, status } = OddOrder.safeParse(raw).data ?? { id: '', status: '' };
  if (!statuses.includes(status)) return [];
  return [{ kind: 'closed', recordId, at, key: `poll.odd.${recordId}`, what: `poll: status ${status}, an odd order` }];
}

/** Saving an old order tells of it again; only a closing since then is one to ask about. */
function isNews({ date_completed_gmt: completed, date_created_gmt: created }: OrderMoment, news: Date): boolean {
  if (completed !== null) return completed >= news;
  return created === null || created.getTime() + undatedMs >= news.getTime();
}

const short = (text: string): string => text.slice(0, 64);
