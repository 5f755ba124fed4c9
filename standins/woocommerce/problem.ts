/** An answer other than success, in WordPress's form. */
export class Problem extends Error {
  readonly status: number;
  readonly body: { code: string; message: string; data: { status: number; params?: Record<string, string> } };

  constructor(status: number, code: string, message: string, params?: Record<string, string>) {
    super(`answer ${status} ${code}`);
    this.status = status;
    this.body = { code, message, data: { status, ...(params === undefined ? {} : { params }) } };
  }
}

export const noRoute = (): Problem =>
  new Problem(404, 'rest_no_route', 'No route was found matching the URL and request method.');

export const noSuchOrder = (): Problem => new Problem(404, 'woocommerce_rest_shop_order_invalid_id', 'Invalid ID.');

export const noSuchWebhook = (): Problem => new Problem(404, 'woocommerce_rest_shop_webhook_invalid_id', 'Invalid ID.');

export const invalidParam = (name: string, why: string): Problem =>
  new Problem(400, 'rest_invalid_param', `Invalid parameter(s): ${name}`, { [name]: why });

/** A wrong key, and a right one for the wrong thing, look alike by their status. */
export const unauthorised = (code: string, message: string): Problem => new Problem(401, code, message);
