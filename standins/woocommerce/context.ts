import { Problem, type StandinRequest } from '../kit/message.ts';
import type { Order, Webhook } from './definitions.ts';
import type { Store } from './store.ts';

/** In WordPress's form. */
export const problem = (status: number, code: string, message: string, params?: Record<string, string>): Problem =>
  new Problem({ status, body: { code, message, data: { status, ...(params === undefined ? {} : { params }) } } });

export const noRoute = (): Problem =>
  problem(404, 'rest_no_route', 'No route was found matching the URL and request method.');

export const noSuchOrder = (): Problem => problem(404, 'woocommerce_rest_shop_order_invalid_id', 'Invalid ID.');

export const noSuchWebhook = (): Problem => problem(404, 'woocommerce_rest_shop_webhook_invalid_id', 'Invalid ID.');

export const invalidParam = (name: string, why: string): Problem =>
  problem(400, 'rest_invalid_param', `Invalid parameter(s): ${name}`, { [name]: why });

/** A wrong key, and a right one for the wrong thing, look alike by their status. */
export const unauthorised = (code: string, message: string): Problem => problem(401, code, message);

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  /** Where the route's own parameters are, however the route was named. */
  query: URLSearchParams;
  store: Store;
  now: number;
  /** The shop's address, without a slash at the end. */
  site: string;
  /** An order was saved. */
  saved: (order: Order) => void;
  /** A webhook was made: its address is pinged. */
  ping: (webhook: Webhook) => void;
}
