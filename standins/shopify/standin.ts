import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { jsonBody, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { needScope } from './account.ts';
import type { ShopifyStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { answerGraphql } from './graphql.ts';
import { ShopifyOrders } from './orders.ts';
import { rootOf } from './resolvers.ts';

export const guide: Guide = {
  about: 'A Shopify shop, without orders.',
  configuration: (url) => `sources:
  shop:
    connector: shopify
    shop: acme.myshopify.com
    baseUrl: ${url}
    clientId: shopify-client
    clientSecret: shopify-client-secret
    webhookSecrets: [shopify-client-secret]
    trigger: fulfilled
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: feedback_grade, comment: feedback_comment }      # setup creates both`,
  steps: [
    {
      what: 'webhooks go to closeloop',
      method: 'POST',
      path: 'subscriptions',
      body: { topic: 'ORDERS_FULFILLED', uri: `${hooks}/shop` },
    },
    { what: 'a customer', method: 'POST', path: 'customers', body: { id: 71, firstName: 'Carl', email: sampleEmail } },
    { what: 'an order', method: 'POST', path: 'orders', body: { id: 41960, customerId: 71, email: sampleEmail } },
    { what: 'send its parcel', method: 'POST', path: 'orders/41960/fulfil' },
    { what: 'look at it', method: 'GET', path: 'orders/41960' },
  ],
};

const one = 'orders/{id:\\d+}';

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createShopifyControl(standin: ShopifyOrders): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'customers', define.customerDefinition, (input) => ({ id: standin.addCustomer(input).id })),
    command('POST', 'locations', define.locationDefinition, (input) => standin.addLocation(input)),
    command('POST', 'orders', define.orderDefinition, (input) => ({ id: standin.addOrder(input).id })),
    command('GET', 'orders', nothing, () => standin.orders()),
    command('GET', one, define.orderName, ({ id }) => standin.order(id)),
    command('PATCH', one, define.orderChange, (input) => soon(standin.change(input))),
    command('DELETE', one, define.orderName, (input) => soon(standin.remove(input))),
    command('POST', `${one}/lines`, define.addingLine, (input) => soon(standin.addLine(input))),
    command('POST', `${one}/fulfil`, define.fulfilling, (input) => soon(standin.fulfil(input))),
    command('POST', `${one}/parcel`, define.parcelNews, (input) => soon(standin.parcelNews(input))),
    command('POST', `${one}/cancel-parcel`, define.parcelName, (input) => soon(standin.cancelParcel(input))),
    command('POST', `${one}/pay`, define.orderName, (input) => soon(standin.pay(input))),
    command('POST', `${one}/refund`, define.refunding, (input) => soon(standin.refund(input))),
    command('POST', `${one}/cancel`, define.orderName, (input) => soon(standin.cancel(input))),
    command('POST', 'definitions', define.metafieldDefinition, (input) => ({
      id: standin.addDefinition(input).id,
    })),
    command('GET', 'definitions', nothing, () => standin.definitions()),
    command('POST', 'subscriptions', define.subscriptionDefinition, (input) => standin.addSubscription(input)),
    command('GET', 'subscriptions', nothing, () => standin.subscriptions()),
    command('DELETE', 'subscriptions', define.subscriptionRemoval, (input) => standin.removeSubscriptions(input)),
    command('PUT', 'compliance', define.complianceTarget, (input) => standin.setCompliance(input)),
    command('POST', 'data-request', define.privacyRequest, (input) => soon(standin.requestData(input))),
    command('POST', 'redact-customer', define.privacyRequest, (input) => soon(standin.redactCustomer(input))),
    command('POST', 'redact-shop', nothing, () => soon(standin.redactShop())),
    command('POST', 'uninstall', nothing, () => soon(standin.uninstall())),
    command('PUT', 'scopes', z.strictObject({ scopes: z.array(z.string()) }), ({ scopes }) =>
      soon(standin.changeScopes(scopes)),
    ),
    command('POST', 'deliveries', define.delivery, (input) => soon(standin.fireWebhook(input))),
    command('GET', 'points', nothing, () => standin.points()),
    command('DELETE', 'points', nothing, () => standin.drainPoints()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => soon(standin.idle())),
    ...vendorCommands(standin),
  ]);
}

export type { ShopifyStandinOptions } from './definitions.ts';

/**
 * The stand-in of one Shopify shop and the app installed in it. Its API at the vendor's paths, its control surface under
 * `/_control` (control.ts), the same as methods: of what is set up in account.ts, of what happens to orders in orders.ts.
 * These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is
 * malformed. Built from the facts, not from the connector.
 */
export class ShopifyStandin extends ShopifyOrders {
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  #documents: { query: string; variables: unknown }[] = [];

  constructor(options: ShopifyStandinOptions = {}) {
    super(options);
    this.#control = createShopifyControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const version = /^\/admin\/api\/([\w-]+)\/graphql\.json$/.exec(req.path)?.[1];
    const now = this.now();
    const state = { frozen: 402, locked: 423, closed: 404, open: undefined }[this.settings.shop];
    if (state !== undefined) {
      this.note(req, req.path, now);
      return { status: state, body: { errors: 'Unavailable Shop' } };
    }
    if (req.method === 'POST' && req.path === '/admin/oauth/access_token') {
      this.note(req, '/admin/oauth/access_token', now);
      return this.access.issueToken(req, this.settings.scopes, now);
    }
    if (req.method !== 'POST' || version === undefined) {
      this.note(req, req.path, now);
      return { status: 404, body: { errors: 'Not Found' } };
    }
    const headers = { 'x-shopify-api-version': this.settings.answersIn ?? version, 'x-request-id': randomUUID() };
    if (!this.access.knows(req.headers['x-shopify-access-token'], now)) {
      this.note(req, '/admin/api/{version}/graphql.json', now);
      const errors = '[API] Invalid API key or access token (unrecognized login or wrong password)';
      return { status: 401, headers, body: { errors } };
    }
    const sent = z.object({ query: z.string(), variables: z.unknown() }).safeParse(jsonBody(req));
    if (sent.success) this.#documents.push({ query: sent.data.query, variables: sent.data.variables });
    const root = rootOf({
      store: this.store,
      shop: this.shop,
      scopes: this.settings.scopes,
      need: (...oneOf) => needScope(this.settings.scopes, oneOf),
      personal: this.settings.protectedData,
      sticky: this.settings.sticky,
      webhookVersion: this.settings.webhookVersion,
      now,
      searchLagMs: this.settings.searchLagMs,
      broken: this.settings.broken,
      notify: (occurrences) => void this.notify(occurrences),
    });
    const { maximumAvailable, restoreRate } = this.settings;
    const limits = { maximumAvailable, restoreRate };
    const { operation, ...response } = await answerGraphql(req, root, { points: this.charged, limits, now });
    this.note(req, `graphql ${operation ?? 'refused'}`, now);
    return { ...response, headers: { ...headers, ...response.headers } };
  };

  /** Every operation that was sent, for a validator with the vendor's own schema. */
  get documents(): readonly { query: string; variables: unknown }[] {
    return this.#documents;
  }

  override clearCalls(): void {
    super.clearCalls();
    this.#documents = [];
  }
}

export function createShopifyStandin(options: ShopifyStandinOptions = {}): ShopifyStandin {
  return new ShopifyStandin(options);
}

/** The same over HTTP; `url` stands for `https://acme.myshopify.com`. */
export function startShopifyStandin(
  options: ShopifyStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: ShopifyStandin }> {
  return serveStandin(createShopifyStandin(options), options.port);
}
