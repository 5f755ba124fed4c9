import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { jsonBody, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { rootOf } from './api.ts';
import { needScope } from './auth.ts';
import { createShopifyControl } from './control.ts';
import { answerGraphql } from './graphql.ts';
import { ShopifyOrders } from './orders.ts';
import type { ShopifyStandinOptions } from './settings.ts';

export type { ShopifyStandinOptions } from './settings.ts';

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
