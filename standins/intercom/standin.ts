import { type Command, command, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import type { StandinRequest } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { starterOf } from '../kit/server.ts';
import { IntercomWorkspace } from './account.ts';
import { accountRoutes } from './account-endpoints.ts';
import { type Context, problem } from './context.ts';
import { conversationRoutes } from './conversation-endpoints.ts';
import * as define from './definitions.ts';

const secret = 'intercom-client-secret';
const contact = '6a1f0c3e9d2b4a7f00000071';

export const guide: Guide = {
  about: 'An Intercom workspace, with two teammates and without conversations.',
  configuration: (url) => `sources:
  inbox:
    connector: intercom
    workspace: k7p2m4xq
    region: us
    accessToken: intercom-token
    adminId: "7700001"
    webhookSecrets: [${secret}]
    webhookUrl: ${hooks}/inbox
    baseUrl: ${url}
    rules: [{ name: everybody, campaign: 12, contact: contact.email }]
    writeBack: { grade: Feedback grade, comment: Feedback comment }      # closeloop setup makes them`,
  steps: [
    { what: 'webhooks go to closeloop', method: 'PUT', path: 'webhook', body: { url: `${hooks}/inbox`, secret } },
    { what: 'a customer', method: 'POST', path: 'contacts', body: { id: contact, email: sampleEmail } },
    { what: 'writes', method: 'POST', path: 'conversations', body: { id: 41960, contacts: [contact] } },
    { what: 'a teammate closes it', method: 'POST', path: 'conversations/41960/close' },
    { what: 'look at it', method: 'GET', path: 'conversations/41960' },
  ],
};

const one = 'conversations/{id:\\d+}';

export type { IntercomStandinOptions } from './definitions.ts';

/** The only version that this stand-in speaks. */
const version = '2.16';

/** What a permission opens, in the order in which they are looked for. */
const permissions = [
  ['attributes', /^POST .*\/attributes$/],
  ['tickets', /^\w+ \/ticket/],
  ['contacts', /^\w+ \/contacts/],
  ['tags', /\/tags$/],
  ['admins', /^GET \/(admins|teams)$/],
  ['conversations', /^\w+ \/conversations/],
] as const;

/**
 * The stand-in of one Intercom workspace and of the private app in it: the REST API 2.16 at the vendor's paths, its control surface under
 * `/_control`, the same as methods in account.ts. Built from the facts, not from the connector.
 */
export class IntercomStandin extends IntercomWorkspace {
  readonly #find = createRouter<Route<Context>>([...accountRoutes, ...conversationRoutes]);

  protected override commands(): Command[] {
    return [
      command('POST', 'contacts', define.contactDefinition, (input) => ({ id: this.addContact(input).id })),
      command('PATCH', 'contacts/{id}', define.contactChange, (input) => this.changeContact(input)),
      command('POST', 'contacts/{id}/delete', define.named, (input) => this.deleteContact(input)),
      command('POST', 'conversations', define.conversationDefinition, (input) => ({
        id: this.addConversation(input).id,
      })),
      command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: this.addTicket(input).id })),
      command('GET', one, define.named, ({ id }) => this.conversation(id)),
      command('POST', `${one}/close`, define.act, (input) => this.close(input)),
      command('POST', `${one}/contact`, define.contactReplacement, (input) => this.replaceContact(input)),
      command('POST', `${one}/reopen`, define.act, (input) => this.reopen(input)),
      command('POST', `${one}/reply`, define.named, (input) => this.reply(input)),
      command('POST', `${one}/snooze`, define.named, (input) => this.snooze(input)),
      command('POST', `${one}/state`, define.stateChange, (input) => this.setCategory(input)),
      command('POST', `${one}/merge`, define.merger, (input) => this.merge(input)),
      command('POST', `${one}/rate`, define.ratingDefinition, (input) => this.rate(input)),
      command('POST', `${one}/delete`, define.named, (input) => this.remove(input)),
      command('POST', 'close-all', define.massClose, (input) => this.closeAll(input)),
      command('POST', 'admins/{id}/remove', define.named, ({ id }) => this.removeAdmin(id)),
      command('POST', 'teams', define.teamDefinition, (input) => this.addTeam(input)),
      command('POST', 'attributes', define.attributeDefinition, (input) => this.addAttribute(input)),
      command('DELETE', 'attributes', nothing, () => this.removeAttributes()),
      command('PUT', 'webhook', define.webhookDefinition, (input) => this.saveWebhook(input)),
      command('GET', 'webhook', nothing, () => this.webhook()),
      command('PATCH', 'settings', define.settingsChange, (input) => this.changeSettings(input)),
    ];
  }

  protected override answer(req: StandinRequest, headers: Record<string, string>) {
    const nowMs = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, nowMs);
    const asked = req.headers['intercom-version'];
    headers['content-type'] = 'application/json; charset=utf-8';
    headers['intercom-version'] = asked ?? this.settings.appVersion;
    this.limits.take(this.settings.limit, nowMs, headers);
    this.#authorise(req);
    if (asked !== undefined && asked !== version)
      throw problem(400, 'intercom_version_invalid', 'The requested version could not be found');
    if (found === undefined) throw problem(404, 'not_found', 'The requested resource was not found');
    const context: Context = {
      ...{ req, store: this.store, settings: this.settings, nowMs, appId: this.appId },
      notify: (topic, one, part) => void this.notify(topic, one, part),
    };
    return found.route.answer(context, found.params);
  }

  #authorise({ method, path, headers }: StandinRequest): void {
    if (headers.authorization !== `Bearer ${this.accessToken}`)
      throw problem(401, 'unauthorized', 'Access Token Invalid');
    const [needed] = permissions.find(([, pattern]) => pattern.test(`${method} ${path}`)) ?? [];
    if (needed !== undefined && this.settings.refuses.includes(needed))
      throw problem(401, 'token_unauthorized', 'Not authorized to access resource');
  }
}

/** The same over HTTP; `url` stands for the API's address. */
export const startIntercomStandin = starterOf(IntercomStandin);
