import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { createRouter, type Route } from '../kit/router.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import type { VendorOptions } from '../kit/vendor-standin.ts';
import { FreshdeskAccount } from './account.ts';
import { createFreshdeskControl } from './control.ts';
import type { Agent, Ticket } from './model.ts';
import { otherRoutes } from './other-endpoints.ts';
import { invalid, notFound, problem } from './problem.ts';
import { ticketRoutes } from './ticket-endpoints.ts';

export interface FreshdeskStandinOptions extends VendorOptions {
  /** Of an agent who sees every ticket. Default `freshdesk-key`. */
  apiKey?: string;
  /** Of an administrator. Default `freshdesk-admin-key`. */
  adminKey?: string;
}

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  query: Record<string, string>;
  account: FreshdeskAccount;
  agent: Agent;
  now: number;
  /** Whether the key's agent may see it. */
  sees(ticket: Ticket): boolean;
  /** What the call costs beside its one credit. */
  spend(credits: number): void;
}

/** One page as a bare array; `link` while there is more. @param view of a row; the rows come as they are without */
export function listed<Row extends object>(
  { req, query: { page = '1', per_page = '30' } }: Context,
  rows: readonly Row[],
  view: (row: Row) => object = (row) => row,
): StandinResponse {
  const [at, size] = [Number(page), Number(per_page)];
  const wrong = (field: string) =>
    invalid({ field, message: 'It should be a Positive Integer', code: 'invalid_value' });
  if (!Number.isInteger(at) || at < 1) throw wrong('page');
  if (!Number.isInteger(size) || size < 1 || size > 100) throw wrong('per_page');
  const next = new URLSearchParams(req.query);
  next.set('page', String(at + 1));
  const link = `<http://${req.headers.host ?? 'acme.freshdesk.com'}${req.path}?${next}>; rel="next"`;
  return {
    status: 200,
    headers: rows.length > at * size ? { link } : {},
    body: rows.slice((at - 1) * size, at * size).map(view),
  };
}

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
