import { randomUUID } from 'node:crypto';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { accountRoutes } from './account-endpoints.ts';
import { type Credentials, scopesFor } from './auth.ts';
import type { Context } from './context.ts';
import { createHubspotControl } from './control.ts';
import { engagementRoutes } from './engagement-endpoints.ts';
import { tokenPath } from './oauth.ts';
import { objectRoutes } from './object-endpoints.ts';
import { otherRoutes } from './other-endpoints.ts';
import { missingScopes, notFound, rateLimited } from './problem.ts';
import { propertyRoutes } from './property-endpoints.ts';
import { RateLimits } from './rate-limits.ts';
import { HubspotRecords } from './records.ts';
import { searchRoutes } from './search-endpoints.ts';
import type { HubspotStandinOptions } from './settings.ts';
import { webhookRoutes } from './webhook-endpoints.ts';

export type { HubspotStandinOptions } from './settings.ts';

/**
 * The stand-in of one HubSpot account and the app installed in it. Its API at the vendor's paths, its control surface
 * under `/_control` (control.ts), the same as methods: of what is set up in account.ts, of what people do in records.ts.
 * These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is
 * malformed. Built from the facts, not from the connector.
 */
export class HubspotStandin extends HubspotRecords {
  readonly accessToken: string;
  readonly #credentials: Credentials;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([
    ...engagementRoutes,
    ...otherRoutes,
    ...accountRoutes,
    ...propertyRoutes,
    ...webhookRoutes,
    ...searchRoutes,
    ...objectRoutes,
  ]);
  #limits = new RateLimits();

  constructor(options: HubspotStandinOptions = {}) {
    super(options);
    const { accessToken = 'hubspot-token', developerApiKey = 'hubspot-developer-key', tokens } = options;
    this.accessToken = accessToken;
    this.#credentials = { developerApiKey, oauth: this.oauth, tokens: { [accessToken]: null, ...tokens } };
    this.#control = createHubspotControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, now);
    const correlationId = randomUUID();
    const headers: Record<string, string> = { 'x-hubspot-correlation-id': correlationId };
    try {
      if (req.method === 'POST' && tokenPath.test(req.path)) return this.oauth.answer(req, now);
      const scopes = scopesFor(found?.endpoint ?? '', req, this.#credentials, this.settings.scopes, now);
      const { refusedBy, headers: limits } = this.#limits.take(
        this.settings,
        now,
        found?.endpoint.endsWith('/search') === true ? 'search' : 'other',
      );
      Object.assign(headers, limits);
      if (refusedBy !== undefined) {
        const { status, body } = rateLimited(refusedBy, randomUUID());
        return { status, headers, body: { ...body, correlationId } };
      }
      if (found === undefined) throw notFound();
      const context: Context = {
        req,
        store: this.store,
        now,
        random: this.random,
        portalId: this.portalId,
        appId: this.appId,
        clientSecret: this.clientSecret,
        oauth: this.oauth,
        scopes,
        nextSubscriptionId: () => this.nextSubscriptionId(),
        source: { changeSource: 'INTEGRATION', sourceId: String(this.appId) },
        settings: this.settings,
        need: (...oneOf) => {
          if (scopes !== null && !oneOf.some((scope) => scopes.includes(scope))) throw missingScopes(oneOf);
        },
        changed: (record, names, source) => void this.changed(record, names, source),
      };
      const response = await found.route.answer(context, found.params);
      return { ...response, headers: { ...headers, ...response.headers } };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, body } = error.response;
      return { status, headers, body: { ...(typeof body === 'object' && body), correlationId } };
    }
  };

  override reset(): void {
    super.reset();
    this.#limits = new RateLimits();
  }
}

export function createHubspotStandin(options: HubspotStandinOptions = {}): HubspotStandin {
  return new HubspotStandin(options);
}

/** The same over HTTP; `url` stands for `https://api.hubapi.com`. */
export function startHubspotStandin(
  options: HubspotStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: HubspotStandin }> {
  return serveStandin(createHubspotStandin(options), options.port);
}
