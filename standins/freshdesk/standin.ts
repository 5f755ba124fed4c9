import { type Command, command, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import type { StandinRequest } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { starterOf } from '../kit/server.ts';
import { FreshdeskAccount } from './account.ts';
import { type Context, notFound, problem } from './context.ts';
import type { Agent } from './definitions.ts';
import * as define from './definitions.ts';
import { otherRoutes } from './other-endpoints.ts';
import { ticketRoutes } from './ticket-endpoints.ts';

const secret = 'freshdesk-webhook-secret-of-32-letters';

export const guide: Guide = {
  about: 'A Freshdesk account with two agents, without tickets.',
  configuration: (url) => `sources:
  helpdesk:
    connector: freshdesk
    subdomain: acme
    baseUrl: ${url}
    apiKey: freshdesk-key
    setupKey: freshdesk-admin-key
    webhookSecrets: [${secret}]
    rules: [{ name: everybody, campaign: 12, contact: requester.email }]
    writeBack: { grade: cf_feedback_grade, comment: cf_feedback_comment }      # closeloop setup creates both`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'POST', path: 'webhook', body: { url: `${hooks}/helpdesk`, secret } },
    { what: 'a customer', method: 'POST', path: 'contacts', body: { id: 501, name: 'Carl', email: sampleEmail } },
    { what: 'a ticket', method: 'POST', path: 'tickets', body: { id: 41960, requesterId: 501 } },
    { what: 'resolve it', method: 'POST', path: 'tickets/41960/resolve' },
    { what: 'look at it', method: 'GET', path: 'tickets/41960' },
  ],
};

const one = 'tickets/{id:\\d+}';

export type { FreshdeskStandinOptions } from './account.ts';

/**
 * The stand-in of one Freshdesk account: API version 2 at the vendor's paths, and its control surface under `/_control`, the same as the
 * methods of account.ts. Built from the facts, not from the connector. What the facts leave open is a setting (definitions.ts).
 */
export class FreshdeskStandin extends FreshdeskAccount {
  readonly #find = createRouter<Route<Context>>([...ticketRoutes, ...otherRoutes]);

  protected override commands(): Command[] {
    return [
      command('POST', 'contacts', define.contactDefinition, (input) => this.addContact(input)),
      command('PATCH', 'contacts/{id:\\d+}', define.contactChange, (input) => this.changeContact(input)),
      command('POST', 'agents', define.agentDefinition, (input) => this.addAgent(input)),
      command('PATCH', 'agents/{id:\\d+}', define.agentChange, (input) => this.changeAgent(input)),
      command('POST', 'groups', define.groupDefinition, (input) => this.addGroup(input)),
      command('POST', 'fields', define.fieldDefinition, (input) => this.addField(input)),
      command('DELETE', 'fields/{name}', define.fieldName, (input) => this.removeField(input)),
      command('POST', 'tickets', define.ticketDefinition, (input) => this.addTicket(input)),
      command('GET', 'tickets', nothing, () => [...this.tickets.values()].map(({ id, status }) => ({ id, status }))),
      command('GET', one, define.ticketName, ({ id }) => this.ticket(id)),
      command('PATCH', one, define.ticketChange, (input) => this.changeTicket(input)),
      command('POST', `${one}/status`, define.statusChange, (input) => this.setStatus(input)),
      command('POST', `${one}/resolve`, define.ticketName, ({ id }) => this.resolve(id)),
      command('POST', `${one}/reopen`, define.ticketName, ({ id }) => this.reopen(id)),
      command('POST', 'resolve-all', define.massChange, (input) => this.resolveAll(input)),
      command('POST', 'ratings', define.ratingDefinition, (input) => this.rate(input)),
      command('POST', 'webhook', define.webhookDefinition, (input) => this.setWebhook(input)),
      command('GET', 'rules', nothing, () => [...this.rules.all.values()]),
      command('PATCH', 'rules/{id:\\d+}', define.ruleChange, (input) => this.changeRule(input)),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  protected override answer(req: StandinRequest, headers: Record<string, string>) {
    const now = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, now);
    const lanes = { 'GET /api/v2/tickets': 'list', 'PUT /api/v2/tickets/{id}': 'update' } as const;
    const lane = Object.entries(lanes).find(([endpoint]) => endpoint === `${req.method} ${found?.endpoint}`)?.[1];
    this.credits.take(this.settings, now, { cost: 1, lane }, headers);
    const agent = this.#agentOf(req);
    if (found === undefined) throw notFound();
    const spend = (cost: number) => cost > 0 && this.credits.take(this.settings, now, { cost }, headers);
    const context: Context = { req, query: Object.fromEntries(req.query), account: this, agent, now, spend };
    return found.route.answer(context, found.params);
  }

  /** By Basic: the key, and any password. @throws Problem 401, 403 */
  #agentOf({ headers }: StandinRequest): Agent {
    const [, encoded = ''] = /^Basic (\S+)$/.exec(headers.authorization ?? '') ?? [];
    const [key = '', password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    const agent = [...this.agents.values()].find((one) => one.key !== '' && one.key === key);
    if (agent === undefined || password === undefined)
      throw problem(401, 'invalid_credentials', 'You have to be logged in to perform this action.');
    if (this.settings.suspended) throw problem(403, 'account_suspended', 'Your account has been suspended.');
    return agent;
  }
}

/** The same over HTTP; `url` stands for the account's address. */
export const startFreshdeskStandin = starterOf(FreshdeskStandin);
