import { z } from 'zod';
import { jsonBody, Problem, type StandinRequest } from '../kit/message.ts';
import type { Happening, Ticket, User, Webhook } from './definitions.ts';
import type { Jobs } from './jobs.ts';
import type { Store } from './store.ts';

export interface Invalid {
  [field: string]: { description: string; error?: string; ticket_field_id?: number; ticket_field_type?: string }[];
}

export const recordNotFound = (): Problem =>
  new Problem({ status: 404, body: { error: 'RecordNotFound', description: 'Not found' } });

/** @throws Problem 404 if there is no such thing */
export function there<Item>(item: Item | undefined): Item {
  if (item === undefined) throw recordNotFound();
  return item;
}

export const invalidEndpoint = (): Problem =>
  new Problem({ status: 404, body: { error: 'InvalidEndpoint', description: 'Not found' } });

export const recordInvalid = (details: Invalid): Problem =>
  new Problem({ status: 422, body: { error: 'RecordInvalid', description: 'Record validation errors', details } });

export const badRequest = (message: string): Problem =>
  new Problem({ status: 400, body: { error: { title: 'Invalid attribute', message } } });

export const updateConflict = (): Problem =>
  new Problem({
    status: 409,
    body: { error: 'UpdateConflict', description: 'Safe Update prevented the update of a ticket changed meanwhile' },
  });

export const unauthenticated = (): Problem =>
  new Problem({ status: 401, body: { error: "Couldn't authenticate you" } });

export const invalidToken = (): Problem =>
  new Problem({
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="zendesk", error="invalid_token"' },
    body: {
      error: 'invalid_token',
      error_description: 'The access token provided is expired, revoked, malformed or invalid for other reasons.',
    },
  });

export const forbidden = (): Problem =>
  new Problem({
    status: 403,
    body: {
      error: {
        title: 'Forbidden',
        message:
          'You do not have access to this page. Please contact the account owner of this help desk for further help.',
      },
    },
  });

/** Plain text sent as text/html: no JSON, on purpose. */
export const tooManyRequests = (retryAfterSeconds: number, what: string): Problem =>
  new Problem({
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds), 'content-type': 'text/html; charset=utf-8' },
    body: `Number of allowed ${what} per minute exceeded`,
  });

/** A counter that starts again at fixed intervals. */
interface Window {
  startedAt: number;
  used: number;
}

export interface Limit {
  key: string;
  limit: number;
  windowMs: number;
  /** Endpoint name of the header `zendesk-ratelimit-<name>`; left out for the account's own limit. */
  name?: string;
  what: string;
}

/** Counts calls per key and window; a call beyond the limit is refused and not counted. */
export class RateLimits {
  readonly #windows = new Map<string, Window>();

  /** Takes one call from every limit. @param headers get the calls that are left, also when the call is refused. @throws Problem 429 */
  take(limits: readonly Limit[], now: number, headers: Record<string, string>): void {
    const windows = limits.map((limit) => {
      const window = this.#window(limit, now);
      return { ...limit, window, resets: Math.max(1, Math.ceil((window.startedAt + limit.windowMs - now) / 1000)) };
    });
    const reached = windows.filter(({ window, limit }) => window.used >= limit);
    for (const { name, limit, window, resets } of windows) {
      if (reached.length === 0) window.used += 1;
      const left = Math.max(0, limit - window.used);
      if (name !== undefined)
        headers[`zendesk-ratelimit-${name}`] = `total=${limit}; remaining=${left}; resets=${resets}`;
      else {
        headers['x-rate-limit'] = headers['ratelimit-limit'] = String(limit);
        headers['x-rate-limit-remaining'] = headers['ratelimit-remaining'] = String(left);
        headers['ratelimit-reset'] = String(resets);
      }
    }
    const [longest] = reached.toSorted((a, b) => b.resets - a.resets);
    if (longest !== undefined) throw tooManyRequests(longest.resets, longest.what);
  }

  #window(limit: Limit, now: number): Window {
    const known = this.#windows.get(limit.key);
    if (known !== undefined && now >= known.startedAt && now < known.startedAt + limit.windowMs) return known;
    const fresh = { startedAt: now, used: 0 };
    this.#windows.set(limit.key, fresh);
    return fresh;
  }
}

export type NewWebhook = Omit<Webhook, 'id' | 'turn' | 'invocations'>;

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  jobs: Jobs;
  user: User;
  /** `https://sub.zendesk.com` of the links in answers; here the address the caller used. */
  base: string;
  /** When the request came; `clock` for work done later. */
  now: number;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Tells the webhooks. */
  announce: (ticket: Ticket, actorId: number, happened: readonly Happening[]) => void;
  addWebhook: (webhook: NewWebhook) => Webhook;
  /** Takes one call from each limit that an endpoint has besides the account's limit. @throws Problem 429 */
  limit: (limits: readonly Limit[]) => void;
}

/**
 * A list as the vendor pages it: `page[size]` gives cursor paging (at most 100 a page), `page` or nothing offset paging.
 * `all`: without page parameters the whole list comes at once.
 */
export function paged(context: Context, key: string, items: readonly object[], all = false): object {
  const { query, path } = context.req;
  const size = query.get('page[size]');
  if (size !== null) {
    const limit = Number(size);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw badRequest('page[size] must be between 1 and 100');
    const after = query.get('page[after]');
    const from = after === null ? 0 : Number(Buffer.from(after, 'base64url').toString('utf8'));
    if (!Number.isInteger(from) || from < 0) throw badRequest('page[after] is not valid');
    const more = from + limit < items.length;
    const cursor = Buffer.from(String(from + limit)).toString('base64url');
    const next = `${context.base}${path}?page[size]=${limit}&page[after]=${cursor}`;
    return {
      [key]: items.slice(from, from + limit),
      meta: { has_more: more, after_cursor: more ? cursor : null, before_cursor: null },
      links: { next: more ? next : null, prev: null },
    };
  }
  if (all) return { [key]: items, next_page: null, previous_page: null, count: items.length };
  const page = Number(query.get('page') ?? '1');
  const perPage = Math.min(100, Number(query.get('per_page') ?? '100') || 100);
  if (!Number.isInteger(page) || page < 1 || page > 100)
    throw badRequest('Invalid page: offset paging stops at 100 pages');
  const more = page * perPage < items.length;
  const at = (number: number): string => `${context.base}${path}?page=${number}&per_page=${perPage}`;
  return {
    [key]: items.slice((page - 1) * perPage, page * perPage),
    next_page: more ? at(page + 1) : null,
    previous_page: page > 1 ? at(page - 1) : null,
    count: items.length,
  };
}

/** The ids in a show_many or update_many request. @throws Problem 400: there are none, or more than 100, or a text is no id */
export function idsOf(context: Context): number[] {
  const ids = (context.req.query.get('ids') ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  if (ids.length === 0) throw badRequest('ids is required');
  if (ids.length > 100) throw badRequest('ids: at most 100 are allowed');
  if (ids.some((text) => !/^\d+$/.test(text))) throw badRequest('ids must be numbers');
  return [...new Set(ids.map(Number))];
}

/** @throws Problem 403 */
export function adminOnly({ user }: Context): void {
  if (user.role !== 'admin') throw forbidden();
}

/** The JSON object of a request; the vendor reads none without a JSON content type. @throws Problem 400 */
export function objectOf(req: StandinRequest): Record<string, unknown> {
  const isJson = req.headers['content-type']?.toLowerCase().startsWith('application/json') === true;
  const parsed = z.record(z.string(), z.unknown()).safeParse(isJson ? jsonBody(req) : undefined);
  if (!parsed.success) throw badRequest('The request body must be a JSON object sent as application/json');
  return parsed.data;
}

/** What stands under `key` in the body. @throws Problem 400 */
export function bodyOf<Schema extends z.ZodType>({ req }: Context, key: string, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(objectOf(req)[key]);
  if (parsed.success) return parsed.data;
  const path = [key, ...(parsed.error.issues[0]?.path ?? [])].join('.');
  throw badRequest(`You passed an invalid value for the ${path} attribute.`);
}
