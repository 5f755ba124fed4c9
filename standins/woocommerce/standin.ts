import { type Command, command, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { starterOf } from '../kit/server.ts';
import { WooCommerceShop } from './account.ts';
import { type Context, noRoute, unauthorised } from './context.ts';
import type { ApiKey, Settings, WooCommerceStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { orderRoutes } from './order-endpoints.ts';
import { phpJson } from './views.ts';
import { webhookRoutes } from './webhook-endpoints.ts';

const secret = 'woocommerce-webhook-secret';

export const guide: Guide = {
  about: 'A WooCommerce shop, without orders.',
  configuration: (url) => `http: { publicUrl: "http://127.0.0.1:8080" }
sources:
  store:
    connector: woocommerce
    site: ${url}
    consumerKey: ck_standin
    consumerSecret: cs_standin
    webhookSecrets: [${secret}]
    rules: [{ name: everybody, campaign: 12, contact: customer.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # needs no preparation`,
  steps: [
    {
      what: 'webhooks go to closeloop',
      method: 'POST',
      path: 'webhooks',
      body: { topic: 'order.updated', url: `${hooks}/store`, secret },
    },
    { what: 'an order', method: 'POST', path: 'orders', body: { id: 41960, billing: { email: sampleEmail } } },
    { what: 'complete it', method: 'POST', path: 'orders/41960/complete' },
    { what: 'look at it', method: 'GET', path: 'orders/41960' },
  ],
};

const one = 'orders/{id:\\d+}';

/**
 * The key of a request, by Basic or, where the host drops that header, by the query.
 * @throws Problem 401: no key, a wrong one, or one whose rights or whose user don't reach
 */
export function authorise(
  req: StandinRequest,
  query: URLSearchParams,
  keys: ReadonlyMap<string, ApiKey>,
  settings: Settings,
): void {
  const [key, secret] = credentials(req, query, settings);
  // Without any credentials the API works, as a visitor, who may see nothing.
  if (key === undefined) throw cannot('view', 'list');
  const known = keys.get(key);
  if (known === undefined) {
    throw unauthorised('woocommerce_rest_authentication_error', 'Consumer key is invalid.');
  }
  if (known.secret !== secret) {
    throw unauthorised('woocommerce_rest_authentication_error', 'Consumer secret is invalid.');
  }
  const writes = req.method !== 'GET' && req.method !== 'HEAD';
  if (known.rights === (writes ? 'read' : 'write')) {
    const what = writes ? 'write' : 'read';
    throw unauthorised(
      'woocommerce_rest_authentication_error',
      `The API key provided does not have ${what} permissions.`,
    );
  }
  if (!known.mayEditOrders) throw cannot(writes ? 'edit' : 'view', 'do that to');
}

function cannot(what: 'view' | 'edit', how: string): Error {
  return unauthorised(`woocommerce_rest_cannot_${what}`, `Sorry, you cannot ${how} resources.`);
}

function credentials(
  req: StandinRequest,
  query: URLSearchParams,
  { dropsAuthorization }: Settings,
): [key?: string, secret?: string] {
  const [scheme = '', encoded = ''] = (req.headers.authorization ?? '').split(' ');
  if (!dropsAuthorization && scheme.toLowerCase() === 'basic') {
    const [key, ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    return [key ?? '', secret.join(':')];
  }
  const key = query.get('consumer_key');
  return key === null ? [] : [key, query.get('consumer_secret') ?? ''];
}

export type { WooCommerceStandinOptions } from './definitions.ts';

const page = (title: string): string => `<!DOCTYPE html><html><head><title>${title}</title></head></html>`;

/**
 * The stand-in of one WooCommerce shop: its API at the vendor's paths (`/wp-json/wc/v3` or `?rest_route=/wc/v3`), its control surface under
 * `/_control`, the same as the methods of account.ts. These take what definitions.ts describes; they throw a ControlError for what isn't
 * there, a ZodError for what is malformed. Built from the facts, not from the connector.
 */
export class WooCommerceStandin extends WooCommerceShop {
  readonly #find = createRouter<Route<Context>>([...orderRoutes, ...webhookRoutes]);

  protected override commands(): Command[] {
    return [
      command('POST', 'orders', define.orderDefinition, (input) => ({ id: this.addOrder(input).id })),
      command('GET', 'orders', nothing, () => this.orders()),
      command('GET', one, define.orderName, ({ id }) => this.order(id)),
      command('PATCH', one, define.orderChange, (input) => this.change(input)),
      command('POST', `${one}/status`, define.statusChange, (input) => this.setStatus(input)),
      command('POST', `${one}/complete`, define.orderName, ({ id }) => this.complete(id)),
      command('POST', `${one}/reopen`, define.orderName, ({ id }) => this.reopen(id)),
      command('POST', `${one}/refund`, define.refundAction, (input) => this.refund(input)),
      command('POST', `${one}/trash`, define.orderName, ({ id }) => this.trash(id)),
      command('POST', `${one}/delete`, define.orderName, ({ id }) => this.remove(id)),
      command('POST', `${one}/meta`, define.metaChange, (input) => this.setMeta(input)),
      command('POST', 'complete-all', define.massChange, (input) => this.completeAll(input)),
      command('POST', 'statuses', define.statusDefinition, ({ status }) => this.addStatus(status)),
      command('POST', 'keys', define.keyDefinition, (input) => this.addKey(input)),
      command('POST', 'webhooks', define.webhookDefinition, (input) => this.addWebhook(input)),
      command('GET', 'webhooks', nothing, () => this.webhooks()),
      command('PATCH', 'webhooks/{id:\\d+}', define.webhookChange, (input) => this.changeWebhook(input)),
      command('DELETE', 'webhooks', nothing, () => this.removeWebhooks()),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  protected override async answer(req: StandinRequest, headers: Record<string, string>): Promise<StandinResponse> {
    const now = this.now();
    const query = new URLSearchParams(req.query);
    const route = query.get('rest_route');
    query.delete('rest_route');
    const path = route === null ? req.path : `/wp-json${route}`;
    const found = this.#find(req.method, path);
    this.note(req, found?.endpoint ?? path, now);
    headers.date = new Date(now).toUTCString();
    const { permalinks, rest, redirectTo } = this.settings;
    if (redirectTo !== null) return { status: 301, headers: { location: redirectTo } };
    if ((route === null && !permalinks) || !path.startsWith('/wp-json/'))
      return { status: 404, headers: { 'content-type': 'text/html; charset=UTF-8' }, body: page('Nothing here') };
    headers['content-type'] = 'application/json; charset=UTF-8';
    const context: Context = {
      ...{ req, query, store: this.store, now, site: this.site },
      saved: (order) => void this.announce(order, 'order.updated'),
      ping: (webhook) => void this.outbox.ping(webhook),
    };
    try {
      if (found === undefined || !rest) throw noRoute();
      authorise(req, query, this.store.keys, this.settings);
      const response = await found.route.answer(context, found.params);
      return { ...response, body: phpJson(response.body) };
    } catch (error) {
      if (error instanceof Problem) throw new Problem({ ...error.response, body: phpJson(error.response.body) });
      throw error;
    }
  }
}

/** The same over HTTP; `url` stands for the shop's address. */
export async function startWooCommerceStandin(options: WooCommerceStandinOptions & { port?: number } = {}) {
  const server = await starterOf(WooCommerceStandin)(options);
  server.standin.site = server.url;
  return server;
}
