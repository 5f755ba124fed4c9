import { command, createControlSurface, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { WooCommerceOrders } from './account.ts';
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

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createWooCommerceControl(
  standin: WooCommerceOrders,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    command('GET', 'orders', nothing, () => standin.orders()),
    command('GET', one, define.orderName, ({ id }) => standin.order(id)),
    command('PATCH', one, define.orderChange, (input) => standin.change(input)),
    command('POST', `${one}/status`, define.statusChange, (input) => standin.setStatus(input)),
    command('POST', `${one}/complete`, define.orderName, ({ id }) => standin.complete(id)),
    command('POST', `${one}/reopen`, define.orderName, ({ id }) => standin.reopen(id)),
    command('POST', `${one}/refund`, define.refundAction, (input) => standin.refund(input)),
    command('POST', `${one}/trash`, define.orderName, ({ id }) => standin.trash(id)),
    command('POST', `${one}/restore`, define.orderName, ({ id }) => standin.restore(id)),
    command('POST', `${one}/delete`, define.orderName, ({ id }) => standin.remove(id)),
    command('POST', `${one}/meta`, define.metaChange, (input) => standin.setMeta(input)),
    command('POST', 'complete-all', define.massChange, (input) => standin.completeAll(input)),
    command('POST', 'statuses', define.statusDefinition, ({ status }) => standin.addStatus(status)),
    command('POST', 'keys', define.keyDefinition, (input) => standin.addKey(input)),
    command('POST', 'webhooks', define.webhookDefinition, (input) => standin.addWebhook(input)),
    command('GET', 'webhooks', nothing, () => standin.webhooks()),
    command('PATCH', 'webhooks/{id:\\d+}', define.webhookChange, (input) => standin.changeWebhook(input)),
    command('DELETE', 'webhooks', nothing, () => standin.removeWebhooks()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}

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
 * The stand-in of one WooCommerce shop: its API at the vendor's paths (`/wp-json/wc/v3` or `?rest_route=/wc/v3`), its
 * control surface under `/_control` (control.ts), the same as methods: of what is set up in account.ts, of what happens to
 * orders in orders.ts. These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError
 * for what is malformed. Built from the facts, not from the connector.
 */
export class WooCommerceStandin extends WooCommerceOrders {
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([...orderRoutes, ...webhookRoutes]);

  constructor(options: WooCommerceStandinOptions = {}) {
    super(options);
    this.#control = createWooCommerceControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.now();
    const query = new URLSearchParams(req.query);
    const route = query.get('rest_route');
    query.delete('rest_route');
    const path = route === null ? req.path : `/wp-json${route}`;
    const found = this.#find(req.method, path);
    this.note(req, found?.endpoint ?? path, now);
    const date = new Date(now).toUTCString();
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}): StandinResponse => ({
      status,
      headers: { 'content-type': 'application/json; charset=UTF-8', date, ...headers },
      body: phpJson(body),
    });
    const { permalinks, rest, redirectTo } = this.settings;
    if (redirectTo !== null) return { status: 301, headers: { location: redirectTo, date } };
    if ((route === null && !permalinks) || !path.startsWith('/wp-json/')) {
      return { status: 404, headers: { 'content-type': 'text/html; charset=UTF-8', date }, body: page('Nothing here') };
    }
    try {
      if (found === undefined || !rest) throw noRoute();
      authorise(req, query, this.store.keys, this.settings);
      const context: Context = {
        req,
        query,
        store: this.store,
        now,
        site: this.site,
        saved: (order) => void this.announce(order, 'order.updated'),
        ping: (webhook) => void this.outbox.ping(webhook),
      };
      const { status, headers, body } = await found.route.answer(context, found.params);
      return answer(status, body, headers);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return answer(error.response.status, error.response.body);
    }
  };
}

export function createWooCommerceStandin(options: WooCommerceStandinOptions = {}): WooCommerceStandin {
  return new WooCommerceStandin(options);
}

/** The same over HTTP; `url` stands for the shop's address. */
export async function startWooCommerceStandin(
  options: WooCommerceStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: WooCommerceStandin }> {
  const server = await serveStandin(createWooCommerceStandin(options), options.port);
  server.standin.site = server.url;
  return server;
}
