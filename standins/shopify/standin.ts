import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Command, command, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { jsonBody, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { starterOf } from '../kit/server.ts';
import { needScope, ShopifyShop } from './account.ts';
import * as define from './definitions.ts';
import { answerGraphql } from './graphql.ts';
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

export type { ShopifyStandinOptions } from './definitions.ts';

/**
 * The stand-in of one Shopify shop and the app installed in it. Its API at the vendor's paths, its control surface under `/_control`, the same
 * as methods in account.ts. These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is
 * malformed. Built from the facts, not from the connector.
 */
export class ShopifyStandin extends ShopifyShop {
  #documents: { query: string; variables: unknown }[] = [];

  protected override commands(): Command[] {
    return [
      command('POST', 'customers', define.customerDefinition, (input) => ({ id: this.addCustomer(input).id })),
      command('POST', 'locations', define.locationDefinition, (input) => this.addLocation(input)),
      command('POST', 'orders', define.orderDefinition, (input) => ({ id: this.addOrder(input).id })),
      command('GET', one, define.orderName, ({ id }) => this.order(id)),
      command('PATCH', one, define.orderChange, (input) => this.change(input)),
      command('POST', `${one}/fulfil`, define.fulfilling, (input) => this.fulfil(input)),
      command('POST', `${one}/parcel`, define.parcelNews, (input) => this.parcelNews(input)),
      command('POST', `${one}/cancel-parcel`, define.parcelName, (input) => this.cancelParcel(input)),
      command('POST', `${one}/refund`, define.refunding, (input) => this.refund(input)),
      command('POST', `${one}/cancel`, define.orderName, (input) => this.cancel(input)),
      command('POST', 'definitions', define.metafieldDefinition, (input) => ({
        id: this.addDefinition(input).id,
      })),
      command('GET', 'definitions', nothing, () => this.definitions()),
      command('POST', 'subscriptions', define.subscriptionDefinition, (input) => this.addSubscription(input)),
      command('GET', 'subscriptions', nothing, () => this.subscriptions()),
      command('DELETE', 'subscriptions', define.subscriptionRemoval, (input) => this.removeSubscriptions(input)),
      command('PUT', 'compliance', define.complianceTarget, (input) => this.setCompliance(input)),
      command('POST', 'data-request', define.privacyRequest, (input) => this.requestData(input)),
      command('POST', 'redact-customer', define.privacyRequest, (input) => this.redactCustomer(input)),
      command('POST', 'redact-shop', nothing, () => this.redactShop()),
      command('POST', 'uninstall', nothing, () => this.uninstall()),
      command('POST', 'deliveries', define.delivery, (input) => this.fireWebhook(input)),
      command('GET', 'points', nothing, () => this.points()),
      command('DELETE', 'points', nothing, () => this.drainPoints()),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  protected override async answer(req: StandinRequest, headers: Record<string, string>): Promise<StandinResponse> {
    const version = /^\/admin\/api\/([\w-]+)\/graphql\.json$/.exec(req.path)?.[1];
    const now = this.now();
    const state = { frozen: 402, locked: 423, closed: 404, open: undefined }[this.settings.shop];
    const isGraphql = req.method === 'POST' && version !== undefined && state === undefined;
    if (!isGraphql) this.note(req, req.path, now);
    if (state !== undefined) return { status: state, body: { errors: 'Unavailable Shop' } };
    if (req.method === 'POST' && req.path === '/admin/oauth/access_token')
      return this.access.issueToken(req, this.settings.scopes, now);
    if (!isGraphql) return { status: 404, body: { errors: 'Not Found' } };
    Object.assign(headers, {
      'x-shopify-api-version': this.settings.answersIn ?? version,
      'x-request-id': randomUUID(),
    });
    if (!this.access.knows(req.headers['x-shopify-access-token'], now)) {
      this.note(req, '/admin/api/{version}/graphql.json', now);
      const errors = '[API] Invalid API key or access token (unrecognized login or wrong password)';
      return { status: 401, body: { errors } };
    }
    const sent = z.object({ query: z.string(), variables: z.unknown() }).safeParse(jsonBody(req));
    if (sent.success) this.#documents.push({ query: sent.data.query, variables: sent.data.variables });
    const root = rootOf({
      ...{ store: this.store, shop: this.shop, settings: this.settings, now },
      need: (...oneOf) => needScope(this.settings.scopes, oneOf),
      notify: (occurrences) => void this.notify(occurrences),
    });
    const { operation, ...response } = await answerGraphql(req, root, {
      points: this.charged,
      limits: this.settings,
      now,
    });
    this.note(req, `graphql ${operation ?? 'refused'}`, now);
    return response;
  }

  /** Every operation that was sent, for a validator with the vendor's own schema. */
  get documents(): readonly { query: string; variables: unknown }[] {
    return this.#documents;
  }

  override clearCalls(): void {
    super.clearCalls();
    this.#documents = [];
  }
}

/** The same over HTTP; `url` stands for `https://acme.myshopify.com`. */
export const startShopifyStandin = starterOf(ShopifyStandin);
