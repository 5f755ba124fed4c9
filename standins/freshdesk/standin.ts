import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { FreshdeskAccount, type FreshdeskStandinOptions } from './account.ts';
import type { Context } from './context.ts';
import { createFreshdeskControl } from './control.ts';
import type { Agent } from './model.ts';
import { otherRoutes } from './other-endpoints.ts';
import { notFound, problem } from './problem.ts';
import { ticketRoutes } from './ticket-endpoints.ts';

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
