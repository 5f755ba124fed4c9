import { randomUUID } from 'node:crypto';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { accountRoutes } from './account-endpoints.ts';
import { authenticate, issueToken } from './auth.ts';
import type { Context } from './context.ts';
import { createZendeskControl } from './control.ts';
import { customObjectRoutes } from './custom-object-endpoints.ts';
import { fieldRoutes } from './field-endpoints.ts';
import { incrementalRoutes } from './incremental-endpoints.ts';
import { Jobs } from './jobs.ts';
import { nameRoutes } from './name-endpoints.ts';
import { otherRoutes } from './other-endpoints.ts';
import { invalidEndpoint } from './problem.ts';
import { type Limit, RateLimits } from './rate-limits.ts';
import { recordRoutes } from './record-endpoints.ts';
import { ruleRoutes } from './rule-endpoints.ts';
import type { Credentials, ZendeskStandinOptions } from './settings.ts';
import { ticketRoutes } from './ticket-endpoints.ts';
import { updateRoutes } from './ticket-update-endpoints.ts';
import { ZendeskTickets } from './tickets.ts';
import { userRoutes } from './user-endpoints.ts';
import { webhookRoutes } from './webhook-endpoints.ts';

export type { ZendeskStandinOptions } from './settings.ts';

/**
 * The stand-in of one Zendesk account. Its API under `/api/v2` and `/oauth/tokens`, its control surface under `/_control`
 * (control.ts), the same as methods: of an admin in account.ts, of agents and customers in tickets.ts. These take what
 * definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is malformed. Built from the
 * facts, not from the connector.
 */
export class ZendeskStandin extends ZendeskTickets {
  readonly credentials: Credentials;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([
    ...ticketRoutes,
    ...updateRoutes,
    ...incrementalRoutes,
    ...otherRoutes,
    ...fieldRoutes,
    ...webhookRoutes,
    ...ruleRoutes,
    ...accountRoutes,
    ...nameRoutes,
    ...userRoutes,
    ...recordRoutes,
    ...customObjectRoutes,
  ]);
  #jobs = new Jobs();
  #limits = new RateLimits();

  constructor(options: ZendeskStandinOptions = {}) {
    super(options);
    this.credentials = {
      clientId: 'closeloop',
      clientSecret: 'zendesk-client-secret',
      apiToken: 'zendesk-api-token',
      ...options.credentials,
    };
    this.#control = createZendeskControl(this);
  }

  /** Bound, so that it can be handed on. Not for HEAD or OPTIONS. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.now();
    const path = req.path.endsWith('.json') ? req.path.slice(0, -'.json'.length) : req.path;
    const found = this.#find(req.method, path);
    const endpoint = found?.endpoint ?? (path === '/oauth/tokens' ? path : req.path);
    this.note(req, endpoint, now);
    const requestId = randomUUID();
    const headers: Record<string, string> = {
      'x-request-id': requestId,
      'x-zendesk-request-id': requestId.slice(0, 8),
    };
    try {
      if (path === '/oauth/tokens' && req.method === 'POST')
        return merge(issueToken(this.store, this.credentials, req, now), headers);
      const user = authenticate(this.store, this.credentials, req, resourceOf(path), now);
      const limit = (limits: readonly Limit[]): void => void Object.assign(headers, this.#limits.take(limits, now));
      limit([{ key: 'account', limit: this.store.settings.perMinute, windowMs: 60_000, what: 'API requests' }]);
      if (found === undefined) return merge(invalidEndpoint(), headers);
      const context: Context = {
        req,
        store: this.store,
        jobs: this.#jobs,
        user,
        base: `http://${req.headers.host ?? 'zendesk.test'}`,
        now,
        clock: () => this.now(),
        sleep: this.sleep,
        announce: (ticket, actorId, happened) => void this.announce(ticket, actorId, happened),
        addWebhook: (given) => this.createWebhook(given),
        limit,
      };
      return merge(await found.route.answer(context, found.params), headers);
    } catch (error) {
      if (error instanceof Problem) return merge(error.response, headers);
      throw error;
    }
  };

  /** Resolves when no job and no delivery is under way. */
  override async idle(): Promise<void> {
    do {
      await this.#jobs.idle();
      await super.idle();
    } while (this.#jobs.open > 0);
  }

  override reset(): void {
    super.reset();
    this.#jobs = new Jobs();
    this.#limits = new RateLimits();
  }
}

export function createZendeskStandin(options: ZendeskStandinOptions = {}): ZendeskStandin {
  return new ZendeskStandin(options);
}

/** The same over HTTP; `url` stands for `https://{subdomain}.zendesk.com`. */
export function startZendeskStandin(
  options: ZendeskStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: ZendeskStandin }> {
  return serveStandin(createZendeskStandin(options), options.port);
}

function merge(response: StandinResponse, headers: Record<string, string>): StandinResponse {
  return { ...response, headers: { ...headers, ...response.headers } };
}

/** The scope of its own an endpoint has. Fields, jobs, groups and incremental exports have none: plain `read` or `write`. */
function resourceOf(path: string): string | undefined {
  const name = path.split('/')[3] ?? '';
  return ['tickets', 'users', 'organizations', 'webhooks', 'triggers', 'automations'].includes(name) ? name : undefined;
}
