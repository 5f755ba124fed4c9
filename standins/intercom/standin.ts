import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { accountRoutes } from './account-endpoints.ts';
import type { Context } from './context.ts';
import { createIntercomControl } from './control.ts';
import { conversationRoutes } from './conversation-endpoints.ts';
import { IntercomConversations } from './conversations.ts';
import { problem } from './problem.ts';
import type { IntercomStandinOptions } from './settings.ts';
import { ticketRoutes } from './ticket-endpoints.ts';

export type { IntercomStandinOptions } from './settings.ts';

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
