import { randomUUID } from 'node:crypto';
import { command, createControlSurface, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { authenticate, issueToken } from './auth.ts';
import { type Context, invalidEndpoint, type Limit, RateLimits } from './context.ts';
import { customObjectRoutes, recordRoutes } from './custom-object-endpoints.ts';
import type { Credentials, ZendeskStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { fieldRoutes } from './field-endpoints.ts';
import { Jobs } from './jobs.ts';
import { accountRoutes, otherRoutes, userRoutes } from './other-endpoints.ts';
import { ruleRoutes } from './rule-endpoints.ts';
import { incrementalRoutes, nameRoutes, ticketRoutes } from './ticket-endpoints.ts';
import { updateRoutes } from './ticket-update-endpoints.ts';
import { ZendeskTickets } from './tickets.ts';
import { webhookRoutes } from './webhook-endpoints.ts';

export const guide: Guide = {
  about: 'A Zendesk account, empty.',
  configuration: (url) => `sources:
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${url}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: [zendesk-webhook-secret]
    rules: [{ name: everybody, campaign: 12, contact: requester.email }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }      # setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/support` } },
    { what: 'a customer', method: 'POST', path: 'users', body: { id: 71, name: 'Carl', email: sampleEmail } },
    { what: 'a ticket', method: 'POST', path: 'tickets', body: { id: 41960, requesterId: 71 } },
    { what: 'solve it', method: 'POST', path: 'tickets/41960/solve' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createZendeskControl(standin: ZendeskTickets): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'users', define.userDefinition, (input) => standin.addUser(input)),
    command('GET', 'users/{id:\\d+}', define.userName, ({ id }) => standin.user(id)),
    command('PATCH', 'users/{id:\\d+}', define.userChange, (input) => standin.changeUser(input)),
    command('POST', 'users/{id:\\d+}/merge', define.userMerge, (input) => standin.mergeUser(input)),
    command('POST', 'groups', define.groupDefinition, (input) => standin.addGroup(input)),
    command('POST', 'organizations', define.organizationDefinition, (input) => standin.addOrganization(input)),
    command('POST', 'user-fields', define.keyedField, (input) => standin.addUserField(input)),
    command('POST', 'custom-objects', define.customObject, (input) => standin.addCustomObject(input)),
    command('GET', 'custom-objects/{key:[\\w-]+}/records', define.objectName, ({ key }) => standin.objectRecords(key)),
    command('POST', 'triggers', define.rule, (input) => standin.addTrigger(input)),
    command('POST', 'automations', define.rule, (input) => standin.addAutomation(input)),
    command('POST', 'ticket-fields', define.fieldDefinition, (input) => standin.addTicketField(input)),
    command('GET', 'tickets', nothing, () => standin.tickets()),
    command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('GET', 'tickets/{id:\\d+}', define.ticketName, ({ id }) => standin.ticket(id)),
    command('POST', 'tickets/{id:\\d+}/solve', define.ticketAction, ({ id, actorId }) => standin.solve(id, actorId)),
    command('POST', 'tickets/{id:\\d+}/reopen', define.ticketAction, ({ id, actorId }) => standin.reopen(id, actorId)),
    command('POST', 'tickets/{id:\\d+}/rate', define.ratingAction, (input) => standin.rate(input)),
    command('POST', 'tickets/{id:\\d+}/close', define.ticketAction, ({ id }) => standin.close(id)),
    command('POST', 'tickets/{id:\\d+}/status', define.statusAction, (input) => standin.setStatus(input)),
    command('POST', 'tickets/{id:\\d+}/comment', define.commentAction, (input) => standin.comment(input)),
    command('POST', 'tickets/{id:\\d+}/edit', define.ticketEdit, (input) => standin.edit(input)),
    command('POST', 'tickets/{id:\\d+}/tags', define.tagAction, (input) => standin.setTags(input)),
    command('POST', 'tickets/{id:\\d+}/field', define.fieldAction, (input) => standin.setField(input)),
    command('POST', 'tickets/{id:\\d+}/merge', define.mergeAction, (input) => standin.merge(input)),
    command('POST', 'tickets/{id:\\d+}/delete', define.ticketAction, ({ id, actorId }) =>
      standin.deleteTicket(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/spam', define.ticketAction, ({ id, actorId }) =>
      standin.markAsSpam(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/restore', define.ticketAction, ({ id, actorId }) =>
      standin.restore(id, actorId),
    ),
    command('POST', 'tickets/{id:\\d+}/follow-up', define.ticketName, ({ id }) => ({
      id: standin.followUp(id).id,
    })),
    command('POST', 'tickets/{id:\\d+}/custom-status', define.customStatusAction, (input) =>
      standin.setCustomStatus(input),
    ),
    command('POST', 'brands', define.named, (input) => ({ id: standin.addBrand(input) })),
    command('POST', 'forms', define.named, (input) => ({ id: standin.addForm(input) })),
    command('POST', 'custom-statuses', define.customStatus, (input) => ({ id: standin.addCustomStatus(input) })),
    command('PUT', 'webhook', define.webhookTarget, (input) => standin.setWebhook(input)),
    command('POST', 'webhooks', define.webhookTarget, (input) => standin.addWebhook(input)),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhooks()),
    command('POST', 'deliveries', define.delivery, (input) => standin.fireWebhook(input)),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('DELETE', 'tokens', nothing, () => standin.revokeTokens()),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}

export type { ZendeskStandinOptions } from './definitions.ts';

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
