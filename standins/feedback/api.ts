import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { createRouter, methodsAt } from '../kit/router.ts';
import { campaignEndpoints } from './campaign-endpoints.ts';
import { contactEndpoints } from './contact-endpoints.ts';
import type { Account, ApiKey } from './definitions.ts';
import { notFound, problem } from './endpoint.ts';
import type { OperationsForm } from './operations-form.ts';
import { requestEndpoints } from './request-endpoints.ts';
import type { Store } from './store.ts';

const refused = (detail: string): Problem => problem(401, detail, { 'www-authenticate': 'Token' });

/**
 * Whose request this is, by its Authorization header.
 * @throws Problem 401 with one of the four details of specification 5.
 */
export function accountOf(header: string | undefined, keys: ReadonlyMap<string, ApiKey>, now: number): Account {
  if (header === undefined || !header.startsWith('Token')) {
    throw refused('Authentication credentials were not provided.');
  }
  // Exactly one space: anything else is part of a key that doesn't exist. A deleted key is simply no longer there.
  const key = header.startsWith('Token ') ? keys.get(header.slice('Token '.length)) : undefined;
  if (key === undefined) throw refused('Invalid token.');
  if (!key.active) throw refused('Inactive API key.');
  if (key.expiresAt !== null && key.expiresAt <= now) throw refused('Expired API token.');
  return key.account;
}

/** Where the API lives on the stand-in; "the base address ends with the path prefix /api". */
export const prefix = '/api';

interface ApiSettings {
  store: Store;
  form: OperationsForm;
  /** The public base address, ending in /api, for `next` and `previous`; left out: the Host header's. */
  baseUrl: string | undefined;
  /** Epoch milliseconds. */
  now: () => number;
  /** Told the name of every endpoint called, whatever comes of the call; "unknown" and "redirect" where there is none. */
  count: (name: string) => void;
}

/**
 * The REST API: general rules first (path, key, method, body format, in this order), then the endpoint.
 * HTTPS is not ours to serve: the stand-in listens on loopback only, where plain HTTP is allowed.
 */
export function createApi(settings: ApiSettings): (req: StandinRequest) => StandinResponse {
  const { store } = settings;
  const routes = [...requestEndpoints(settings.form), ...campaignEndpoints, ...contactEndpoints].map((endpoint) => ({
    ...endpoint,
    template: templateOf(endpoint.path),
  }));
  const find = createRouter(routes);

  const answer = (req: StandinRequest): StandinResponse => {
    const path = req.path.slice(prefix.length);
    const found = find(req.method, path);
    const methods = methodsAt(find, routes, path);
    settings.count(found?.route.name ?? (path === '/appeals' ? 'redirect' : 'unknown'));
    if (methods.length === 0) {
      if (path !== '/appeals') throw notFound();
      throw problem(301, 'The address ends with a slash.', { location: publicUrl(req, '/appeals/').href });
    }
    const now = settings.now();
    const account = accountOf(req.headers.authorization, store.keys, now);
    if (found === undefined) throw problem(405, `Method "${req.method}" not allowed.`, { allow: methods.join(', ') });
    const url = publicUrl(req, path);
    return found.route.run({ account, store, params: found.params, query: req.query, body: jsonBody(req), now, url });
  };

  const publicUrl = (req: StandinRequest, path: string): URL => {
    const base = settings.baseUrl?.replace(/\/$/, '') ?? `http://${req.headers.host ?? '127.0.0.1'}${prefix}`;
    const url = new URL(base + path);
    url.search = req.query.toString();
    return url;
  };

  return (req) => {
    try {
      return answer(req);
    } catch (error) {
      if (error instanceof Problem) return error.response;
      throw error;
    }
  };
}

/** Paths match exactly, slash or no slash at the end included. */
function templateOf(path: string): string {
  return path
    .replaceAll('.', '\\.')
    .replace(/:(\w+)/g, (_, name: string) =>
      name === 'id' || name === 'campaign' ? `{${name}:\\d{1,40}}` : `{${name}}`,
    );
}

/** @throws Problem 415 for a body that isn't JSON or isn't declared as JSON (general rule 3). */
function jsonBody(req: StandinRequest): unknown {
  if (req.raw.length === 0) return undefined;
  const type = req.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw problem(415, `Unsupported media type "${type}" in request.`);
  }
  try {
    return JSON.parse(req.raw.toString('utf8'));
  } catch {
    throw problem(415, 'The body is not JSON.');
  }
}
