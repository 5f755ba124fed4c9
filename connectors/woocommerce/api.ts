import { z } from 'zod';
import {
  config,
  type Meaning,
  type MeaningTable,
  type ResponseRules,
  transient,
} from '../../core/connector/classify.ts';
import type { ConnectorPorts, Urgency } from '../../core/connector/contract.ts';
import { happenedAt } from '../../core/connector/delivery.ts';
import { misshapen, type Rows } from '../../core/connector/desk/rows.ts';
import type { SendFailure } from '../../core/connector/send.ts';
import { basicCredentials } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { listOf } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { id } from './order.ts';
import { pathOf, type WooCommerceSettings } from './settings.ts';

/** The body of an error. Only its code is read (`woocommerce_rest_cannot_view` …), because messages repeat values. */
const ErrorBody = z.object({ code: z.string().regex(/^[a-z][a-z0-9_-]{1,80}$/) });

const key =
  'check consumerKey and consumerSecret; the key needs "Read/Write" (WooCommerce > Settings > Advanced > REST API)';
const firewall = 'a later attempt may succeed; if it stays so, ask the host to let this machine through to /wp-json/';

const table: MeaningTable = {
  woocommerce_rest_authentication_error: config('the REST key is wrong, or lacks a right', key),
  rest_no_route: config("WordPress answers, WooCommerce's API does not", 'activate WooCommerce, and check `site`'),
  // WooCommerce returns 401 for an invalid key, and for a valid key without this right.
  401: config(
    "the key's user may not see or edit this, or the key did not arrive",
    'give the key to a user who may edit orders (Shop manager); if the host drops the Authorization header, set auth: query',
  ),
  403: config('the key may not do this', 'give the user of the REST key a role that may edit orders (Shop manager)'),
};

/** Rows for responses without JSON: pages of the host, of a firewall, or of WordPress in maintenance. */
const pages: MeaningTable = {
  200: transient(
    'a page instead of an answer',
    'a later attempt may succeed; a plugin or the host may be putting itself before the API',
  ),
  401: config('the web server itself asks for a password', 'exempt /wp-json/ from it'),
  404: {
    ...config(
      'there is no REST API at this address',
      'check `site`; with permalinks set to "Plain" choose another form (Settings > Permalinks) or set restRoute: true',
    ),
    doubtful: true,
  },
};

/** WooCommerce's differences from the standard table. */
export function responseRules(random: () => number): ResponseRules {
  /** The pause if the shop names no time: 5 to 15 s at random, so that not all processes return at the same time. */
  const restMs = (): number => Math.round(5_000 + 10_000 * random());
  return {
    codeOf: (json) => ErrorBody.safeParse(json).data?.code,
    meaningOf: ({ status, json, headers }) => {
      if (status >= 300 && status < 400) return redirect(headers.get('location'));
      if (status === 429) return { kind: 'wait', ms: restMs(), problem: 'the host asks us to wait', remedy: firewall };
      if (status === 503) return { ...transient('the shop fails', 'a later attempt may succeed'), pauseMs: restMs() };
      if (json !== undefined) return undefined;
      const refused = transient('a firewall of the host refuses us', firewall);
      if (status === 403) return { ...refused, outcome: 'refused', pauseMs: restMs() };
      return pages[status < 300 ? 200 : status];
    },
    table,
  };
}

function redirect(location: string | null): Meaning {
  const to = location !== null && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  const remedy = 'set `site` to the address that browsers end up at (https, with or without www)';
  return { ...config(`redirects lose the key, and the shop redirects${to}`, remedy), doubtful: true };
}

/** The meaning of a missing or unreadable response. */
function unanswered({ why, message: problem }: SendFailure): Meaning {
  const unreached = 'a later attempt may succeed; check `site` and that the shop can be reached from this machine';
  return transient(problem, why === 'unbearable' ? 'check what answers at `site`' : unreached);
}

interface Options {
  query?: Record<string, string>;
  body?: object;
  urgency?: Urgency;
}

/** Makes every call to one shop. */
export function openShop(settings: WooCommerceSettings, ports: ConnectorPorts) {
  const { site, consumerKey, consumerSecret, auth } = settings;
  const inQuery = auth === 'query' ? { consumer_key: consumerKey, consumer_secret: consumerSecret } : {};
  const api = createVendorApi(
    {
      name: 'WooCommerce',
      baseUrl: site,
      ...(auth === 'header' && basicCredentials(consumerKey, consumerSecret)),
      // Slow plugins and shared hosts: a hundred orders may take a while.
      timeoutMs: 60_000,
      rules: responseRules(ports.random),
      unanswered,
      // A page may be sent with the content type of JSON; a body with another content type counts as no JSON.
      jsonOf: (response) => (/\bjson\b/i.test(response.headers.get('content-type') ?? '') ? response.json : undefined),
    },
    ports,
  );

  /**
   * @param route the path after `/wc/v3/`: "orders/17/notes"
   * @returns the data, and `at`: the time by the shop's clock, like the dates in the data
   */
  async function call<S extends z.ZodType>(
    method: VendorCall['method'],
    route: string,
    schema: S,
    { query, ...options }: Options = {},
  ): Promise<{ data: z.output<S>; at: Date }> {
    const place = `${method} ${route.replace(/\d+/g, '{id}')}`;
    const one: VendorCall = { method, path: pathOf(settings, route, { ...query, ...inQuery }), place, ...options };
    const response = await api.exchange(one);
    await api.accept(one, response);
    // WooCommerce's dates are written by the shop's clock.
    const at = happenedAt(response.headers.get('date'), { receivedAt: ports.now() });
    return { data: api.parse(one, response, schema), at };
  }

  return { call };
}
export type Shop = ReturnType<typeof openShop>;

/** The most orders that one call reads or writes. */
const perPage = 100;

/** Lists orders with only the schema's fields: other fields would cost the shop work, and transfer personal data. */
export async function listOrders<S extends OrderSchema>(
  shop: Shop,
  schema: S,
  query: Record<string, string>,
  urgency: Urgency = 'work',
) {
  const asked = { ...query, per_page: String(perPage), _fields: Object.keys(schema.shape).join(',') };
  const { data, at } = await shop.call('GET', 'orders', listOf(z.unknown(), 1_000), { query: asked, urgency });
  return { rows: data.map((raw) => listed(schema, raw)), isFull: data.length >= perPage, at };
}

/** The existing orders by id, in one call for up to a hundred orders. @param where `trash`: orders in the trash, which no other list has */
export async function ordersOf<S extends OrderSchema>(
  shop: Shop,
  schema: S,
  ids: readonly string[],
  where: { status?: 'trash' } = {},
): Promise<Rows<z.output<S>>> {
  const found = new Map<string, z.output<S> | CloseloopError>();
  if (ids.length === 0) return found;
  const { rows } = await listOrders(shop, schema, { include: ids.join(','), ...where });
  for (const { id, order } of rows) {
    // An order without a readable id may be any of the orders that were not found.
    for (const each of id === undefined ? ids.filter((one) => !found.has(one)) : [id]) found.set(each, order);
  }
  return found;
}

type OrderSchema = z.ZodObject<{ id: typeof id }>;
const Identified = z.object({ id });

/** An order in a list. Plugins may change its shape, which must not fail the other orders. */
export interface Listed<Order> {
  id: string | undefined;
  order: Order | CloseloopError;
  raw: unknown;
}

function listed<S extends OrderSchema>(schema: S, raw: unknown): Listed<z.output<S>> {
  const { data, error } = schema.safeParse(raw);
  if (data !== undefined) return { id: data.id, order: data, raw };
  const { id } = Identified.safeParse(raw).data ?? {};
  const remedy = 'look for a plugin that changes what the API shows of orders';
  return { id, order: misshapen(`WooCommerce order ${id ?? 'without an id'}`, error, remedy), raw };
}
