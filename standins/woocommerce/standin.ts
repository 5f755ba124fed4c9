import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { authorise } from './auth.ts';
import type { Context } from './context.ts';
import { createWooCommerceControl } from './control.ts';
import { orderRoutes } from './order-endpoints.ts';
import { WooCommerceOrders } from './orders.ts';
import { noRoute } from './problem.ts';
import type { WooCommerceStandinOptions } from './settings.ts';
import { phpJson } from './views.ts';
import { webhookRoutes } from './webhook-endpoints.ts';

export type { WooCommerceStandinOptions } from './settings.ts';

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
