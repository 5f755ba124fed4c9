import { Problem } from '../kit/problem.ts';

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
