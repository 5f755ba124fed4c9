import { command, createControlSurface, nothing } from '../kit/control.ts';
import { type Guide, hooks, sampleEmail } from '../kit/guide.ts';
import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { vendorCommands } from '../kit/vendor-standin.ts';
import { accountRoutes } from './account-endpoints.ts';
import { type Context, problem } from './context.ts';
import { conversationRoutes, ticketRoutes } from './conversation-endpoints.ts';
import { IntercomConversations } from './conversations.ts';
import type { IntercomStandinOptions } from './definitions.ts';
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

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createIntercomControl(
  standin: IntercomConversations,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'contacts', define.contactDefinition, (input) => ({ id: standin.addContact(input).id })),
    command('POST', 'contacts/merge', define.contactMerge, (input) => standin.mergeContact(input)),
    command('PATCH', 'contacts/{id}', define.contactChange, (input) => standin.changeContact(input)),
    command('POST', 'contacts/{id}/delete', define.named, (input) => standin.deleteContact(input)),
    command('POST', 'contacts/{id}/archive', define.named, (input) => standin.archiveContact(input)),
    command('POST', 'conversations', define.conversationDefinition, (input) => ({
      id: standin.addConversation(input).id,
    })),
    command('POST', 'tickets', define.ticketDefinition, (input) => ({ id: standin.addTicket(input).id })),
    command('GET', one, define.named, ({ id }) => standin.conversation(id)),
    command('POST', `${one}/close`, define.act, (input) => standin.close(input)),
    command('POST', `${one}/contact`, define.contactReplacement, (input) => standin.replaceContact(input)),
    command('POST', `${one}/reopen`, define.act, (input) => standin.reopen(input)),
    command('POST', `${one}/reply`, define.named, (input) => standin.reply(input)),
    command('POST', `${one}/snooze`, define.named, (input) => standin.snooze(input)),
    command('POST', `${one}/state`, define.stateChange, (input) => standin.setCategory(input)),
    command('POST', `${one}/merge`, define.contactMerge, (input) => standin.merge(input)),
    command('POST', `${one}/rate`, define.ratingDefinition, (input) => standin.rate(input)),
    command('POST', `${one}/delete`, define.named, (input) => standin.remove(input)),
    command('POST', 'close-all', define.massClose, (input) => standin.closeAll(input)),
    command('POST', 'admins', define.adminDefinition, (input) => standin.addAdmin(input)),
    command('POST', 'admins/{id}/remove', define.named, ({ id }) => standin.removeAdmin(id)),
    command('POST', 'teams', define.teamDefinition, (input) => standin.addTeam(input)),
    command('POST', 'attributes', define.attributeDefinition, (input) => standin.addAttribute(input)),
    command('DELETE', 'attributes', nothing, () => standin.removeAttributes()),
    command('PUT', 'webhook', define.webhookDefinition, (input) => standin.saveWebhook(input)),
    command('GET', 'webhook', nothing, () => standin.webhook()),
    command('DELETE', 'webhook', nothing, () => standin.removeWebhook()),
    command('POST', 'ping', nothing, () => standin.ping()),
    command('PATCH', 'settings', define.settingsChange, (input) => standin.changeSettings(input)),
    command('POST', 'idle', nothing, () => standin.idle()),
    ...vendorCommands(standin),
  ]);
}

/** Dealt out in windows of ten seconds. */
export class RateLimits {
  #window = 0;
  #used = 0;

  take(limit: number, nowMs: number): { refused: boolean; headers: Record<string, string> } {
    const window = Math.floor(nowMs / 10_000);
    if (window !== this.#window) {
      this.#window = window;
      this.#used = 0;
    }
    const refused = this.#used >= limit;
    if (!refused) this.#used += 1;
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - this.#used),
      'x-ratelimit-reset': String((window + 1) * 10),
    };
    return { refused, headers };
  }
}

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
 * `/_control` (control.ts), the same as methods: of what is set up in account.ts, of what happens in conversations.ts.
 * Built from the facts, not from the connector.
 */
export class IntercomStandin extends IntercomConversations {
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #find = createRouter<Route<Context>>([...accountRoutes, ...conversationRoutes, ...ticketRoutes]);

  constructor(options: IntercomStandinOptions = {}) {
    super(options);
    this.#control = createIntercomControl(this);
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) return this.#control(req);
    const nowMs = this.now();
    const found = this.#find(req.method, req.path);
    this.note(req, found?.endpoint ?? req.path, nowMs);
    const limit = this.limits.take(this.settings.limit, nowMs);
    const asked = req.headers['intercom-version'];
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'intercom-version': asked ?? this.settings.appVersion,
      ...limit.headers,
    };
    try {
      if (limit.refused) throw problem(429, 'rate_limit_exceeded', 'Exceeded rate limit');
      this.#authorise(req);
      if (asked !== undefined && asked !== version)
        throw problem(400, 'intercom_version_invalid', 'The requested version could not be found');
      if (found === undefined) throw problem(404, 'not_found', 'The requested resource was not found');
      const context: Context = {
        req,
        store: this.store,
        settings: this.settings,
        nowMs,
        appId: this.appId,
        notify: (topic, one, part) => void this.notify(topic, one, part),
      };
      const { status, body } = await found.route.answer(context, found.params);
      return { status, headers, body: JSON.stringify(body) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, body, headers: more } = error.response;
      return { status, headers: { ...headers, ...more }, body: JSON.stringify(body) };
    }
  };

  #authorise({ method, path, headers }: StandinRequest): void {
    if (headers.authorization !== `Bearer ${this.accessToken}`)
      throw problem(401, 'unauthorized', 'Access Token Invalid');
    const [needed] = permissions.find(([, pattern]) => pattern.test(`${method} ${path}`)) ?? [];
    if (needed !== undefined && this.settings.refuses.includes(needed))
      throw problem(401, 'token_unauthorized', 'Not authorized to access resource');
  }
}

export function createIntercomStandin(options: IntercomStandinOptions = {}): IntercomStandin {
  return new IntercomStandin(options);
}

/** The same over HTTP; `url` stands for the API's address. */
export async function startIntercomStandin(
  options: IntercomStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: IntercomStandin }> {
  return await serveStandin(createIntercomStandin(options), options.port);
}
