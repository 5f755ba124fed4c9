import { command, createControlSurface, nothing, soon } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { FreshdeskAccount, type FreshdeskStandinOptions } from './account.ts';
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

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createFreshdeskControl(standin: FreshdeskAccount): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'contacts', define.contactDefinition, (input) => standin.addContact(input)),
    command('PATCH', 'contacts/{id:\\d+}', define.contactChange, (input) => standin.changeContact(input)),
    command('POST', 'agents', define.agentDefinition, (input) => standin.addAgent(input)),
    command('PATCH', 'agents/{id:\\d+}', define.agentChange, (input) => standin.changeAgent(input)),
    command('POST', 'groups', define.groupDefinition, (input) => standin.addGroup(input)),
    command('POST', 'fields', define.fieldDefinition, (input) => standin.addField(input)),
    command('DELETE', 'fields/{name}', define.fieldName, (input) => standin.removeField(input)),
    command('POST', 'tickets', define.ticketDefinition, (input) => standin.addTicket(input)),
    command('GET', 'tickets', nothing, () => [...standin.tickets.values()].map(({ id, status }) => ({ id, status }))),
    command('GET', one, define.ticketName, ({ id }) => standin.ticket(id)),
    command('PATCH', one, define.ticketChange, (input) => standin.changeTicket(input)),
    command('DELETE', one, define.ticketName, ({ id }) => standin.removeTicket(id)),
    command('POST', `${one}/status`, define.statusChange, (input) => soon(standin.setStatus(input))),
    command('POST', `${one}/resolve`, define.ticketName, ({ id }) => soon(standin.resolve(id))),
    command('POST', `${one}/reopen`, define.ticketName, ({ id }) => soon(standin.reopen(id))),
    command('POST', 'resolve-all', define.massChange, (input) => soon(standin.resolveAll(input))),
    command('POST', 'merge', define.merge, (input) => soon(standin.merge(input))),
    command('POST', 'ratings', define.ratingDefinition, (input) => standin.rate(input)),
    command('POST', 'webhook', define.webhookDefinition, (input) => standin.setWebhook(input)),
    command('GET', 'rules', nothing, () => [...standin.rules.all.values()]),
    command('PATCH', 'rules/{id:\\d+}', define.ruleChange, (input) => standin.changeRule(input)),
    command('POST', 'next-hour', nothing, () => soon(standin.nextHour())),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}

export type { FreshdeskStandinOptions } from './account.ts';

/**
 * The stand-in of one Freshdesk account: API version 2 at the vendor's paths, and its control surface under `/_control`
 * (control.ts), the same as the methods of account.ts. Built from the facts, not from the connector. What the facts leave open is a
 * setting (model.ts).
 */
export class FreshdeskStandin extends FreshdeskAccount {
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([...ticketRoutes, ...otherRoutes]);

  constructor(options: FreshdeskStandinOptions = {}) {
    super(options);
    this.#control = createFreshdeskControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const now = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, now);
    const lanes = { 'GET /api/v2/tickets': 'list', 'PUT /api/v2/tickets/{id}': 'update' } as const;
    const lane = Object.entries(lanes).find(([endpoint]) => endpoint === `${req.method} ${found?.endpoint}`)?.[1];
    let headers: Record<string, string> = {};
    try {
      headers = this.credits.take(this.settings, now, 1, lane);
      const agent = this.#agentOf(req);
      if (found === undefined) throw notFound();
      const response = await found.route.answer(
        {
          ...{ req, query: Object.fromEntries(req.query), account: this, agent, now },
          sees: ({ groupId, responderId }) =>
            agent.scope === 1 ||
            responderId === agent.id ||
            (agent.scope === 2 && groupId !== null && agent.groupIds.includes(groupId)),
          spend: (credits) => {
            if (credits > 0) headers = this.credits.take(this.settings, now, credits);
          },
        },
        found.params,
      );
      return { ...response, headers: { ...headers, ...response.headers } };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...error.response, headers: { ...headers, ...error.response.headers } };
    }
  };

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

export const createFreshdeskStandin = (options: FreshdeskStandinOptions = {}): FreshdeskStandin =>
  new FreshdeskStandin(options);

/** The same over HTTP; `url` stands for the account's address. */
export const startFreshdeskStandin = (
  options: FreshdeskStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: FreshdeskStandin }> =>
  serveStandin(createFreshdeskStandin(options), options.port);
