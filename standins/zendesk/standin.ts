import { randomUUID } from 'node:crypto';
import { type Command, command, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import type { StandinRequest } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { starterOf } from '../kit/server.ts';
import { ZendeskAccount } from './account.ts';
import { authenticate, issueToken } from './auth.ts';
import { type Context, invalidEndpoint, type Limit, RateLimits } from './context.ts';
import { customObjectRoutes } from './custom-object-endpoints.ts';
import type { Credentials, ZendeskStandinOptions } from './definitions.ts';
import * as define from './definitions.ts';
import { fieldRoutes } from './field-endpoints.ts';
import { Jobs } from './jobs.ts';
import { otherRoutes } from './other-endpoints.ts';
import { ruleRoutes } from './rule-endpoints.ts';
import { ticketRoutes } from './ticket-endpoints.ts';
import { updateRoutes } from './ticket-update-endpoints.ts';
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

export type { ZendeskStandinOptions } from './definitions.ts';

/**
 * The stand-in of one Zendesk account. Its API under `/api/v2` and `/oauth/tokens`, its control surface under `/_control`, the same as methods
 * in account.ts. These take what definitions.ts describes; they throw a ControlError for what isn't there, a ZodError for what is malformed.
 * Built from the facts, not from the connector.
 */
export class ZendeskStandin extends ZendeskAccount {
  readonly credentials: Credentials;
  readonly #find = createRouter<Route<Context>>([
    ...ticketRoutes,
    ...updateRoutes,
    ...otherRoutes,
    ...fieldRoutes,
    ...webhookRoutes,
    ...ruleRoutes,
    ...customObjectRoutes,
  ]);
  readonly #jobs = new Jobs();
  readonly #limits = new RateLimits();

  constructor(options: ZendeskStandinOptions = {}) {
    super(options);
    this.credentials = {
      clientId: 'closeloop',
      clientSecret: 'zendesk-client-secret',
      apiToken: 'zendesk-api-token',
      ...options.credentials,
    };
  }

  protected override commands(): Command[] {
    return [
      command('POST', 'users', define.userDefinition, (input) => this.addUser(input)),
      command('GET', 'users/{id:\\d+}', define.userName, ({ id }) => this.user(id)),
      command('PATCH', 'users/{id:\\d+}', define.userChange, (input) => this.changeUser(input)),
      command('POST', 'groups', define.groupDefinition, (input) => this.addGroup(input)),
      command('POST', 'organizations', define.organizationDefinition, (input) => this.addOrganization(input)),
      command('POST', 'user-fields', define.keyedField, (input) => this.addUserField(input)),
      command('POST', 'custom-objects', define.customObject, (input) => this.addCustomObject(input)),
      command('GET', 'custom-objects/{key:[\\w-]+}/records', define.objectName, ({ key }) => this.objectRecords(key)),
      command('POST', 'triggers', define.rule, (input) => this.addTrigger(input)),
      command('POST', 'automations', define.rule, (input) => this.addAutomation(input)),
      command('POST', 'ticket-fields', define.fieldDefinition, (input) => this.addTicketField(input)),
      command('GET', 'tickets', nothing, () => this.tickets()),
      command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: this.addTicket(input).id })),
      command('GET', 'tickets/{id:\\d+}', define.ticketName, ({ id }) => this.ticket(id)),
      command('POST', 'tickets/{id:\\d+}/solve', define.ticketAction, ({ id, actorId }) => this.solve(id, actorId)),
      command('POST', 'tickets/{id:\\d+}/reopen', define.ticketAction, ({ id, actorId }) => this.reopen(id, actorId)),
      command('POST', 'tickets/{id:\\d+}/rate', define.ratingAction, (input) => this.rate(input)),
      command('POST', 'tickets/{id:\\d+}/close', define.ticketAction, ({ id }) => this.close(id)),
      command('POST', 'tickets/{id:\\d+}/status', define.statusAction, (input) => this.setStatus(input)),
      command('POST', 'tickets/{id:\\d+}/comment', define.commentAction, (input) => this.comment(input)),
      command('POST', 'tickets/{id:\\d+}/edit', define.ticketEdit, (input) => this.edit(input)),
      command('POST', 'tickets/{id:\\d+}/tags', define.tagAction, (input) => this.setTags(input)),
      command('POST', 'tickets/{id:\\d+}/field', define.fieldAction, (input) => this.setField(input)),
      command('POST', 'tickets/{id:\\d+}/merge', define.mergeAction, (input) => this.merge(input)),
      command('POST', 'tickets/{id:\\d+}/delete', define.ticketAction, ({ id, actorId }) =>
        this.deleteTicket(id, actorId),
      ),
      command('POST', 'tickets/{id:\\d+}/spam', define.ticketAction, ({ id, actorId }) => this.markAsSpam(id, actorId)),
      command('POST', 'tickets/{id:\\d+}/restore', define.ticketAction, ({ id, actorId }) => this.restore(id, actorId)),
      command('POST', 'tickets/{id:\\d+}/follow-up', define.ticketName, ({ id }) => ({
        id: this.followUp(id).id,
      })),
      command('POST', 'tickets/{id:\\d+}/custom-status', define.customStatusAction, (input) =>
        this.setCustomStatus(input),
      ),
      command('POST', 'brands', define.named, (input) => ({ id: this.addBrand(input) })),
      command('POST', 'custom-statuses', define.customStatus, (input) => ({ id: this.addCustomStatus(input) })),
      command('PUT', 'webhook', define.webhookTarget, (input) => this.setWebhook(input)),
      command('POST', 'webhooks', define.webhookTarget, (input) => this.addWebhook(input)),
      command('DELETE', 'webhook', nothing, () => this.removeWebhooks()),
      command('POST', 'deliveries', define.delivery, (input) => this.fireWebhook(input)),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  /** Not for HEAD or OPTIONS. */
  protected override answer(req: StandinRequest, headers: Record<string, string>) {
    const now = this.now();
    const path = req.path.endsWith('.json') ? req.path.slice(0, -'.json'.length) : req.path;
    const found = this.#find(req.method, path);
    this.note(req, found?.endpoint ?? (path === '/oauth/tokens' ? path : req.path), now);
    const requestId = randomUUID();
    headers['x-request-id'] = requestId;
    headers['x-zendesk-request-id'] = requestId.slice(0, 8);
    if (path === '/oauth/tokens' && req.method === 'POST') return issueToken(this.store, this.credentials, req, now);
    const user = authenticate(this.store, this.credentials, req, resourceOf(path), now);
    const limit = (limits: readonly Limit[]) => this.#limits.take(limits, now, headers);
    limit([{ key: 'account', limit: this.store.settings.perMinute, windowMs: 60_000, what: 'API requests' }]);
    if (found === undefined) throw invalidEndpoint();
    const context: Context = {
      ...{ req, store: this.store, jobs: this.#jobs, user, now, sleep: this.sleep, limit },
      base: `http://${req.headers.host ?? 'zendesk.test'}`,
      clock: () => this.now(),
      announce: (ticket, actorId, happened) => void this.announce(ticket, actorId, happened),
      addWebhook: (given) => this.createWebhook(given),
    };
    return found.route.answer(context, found.params);
  }

  /** Resolves when no job and no delivery is under way. */
  override async idle(): Promise<void> {
    do {
      await this.#jobs.idle();
      await super.idle();
    } while (this.#jobs.open > 0);
  }
}

/** The same over HTTP; `url` stands for `https://{subdomain}.zendesk.com`. */
export const startZendeskStandin = starterOf(ZendeskStandin);

/** The scope of its own an endpoint has. Fields, jobs, groups and incremental exports have none: plain `read` or `write`. */
function resourceOf(path: string): string | undefined {
  const name = path.split('/')[3] ?? '';
  return ['tickets', 'users', 'organizations', 'webhooks', 'triggers', 'automations'].includes(name) ? name : undefined;
}
