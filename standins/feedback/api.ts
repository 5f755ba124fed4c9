import { Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { campaignEndpoints, surveyEndpoints } from './campaign-endpoints.ts';
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
  const routes = [
    ...requestEndpoints(settings.form),
    ...campaignEndpoints,
    ...contactEndpoints,
    ...surveyEndpoints,
  ].map((endpoint) => ({ endpoint, pattern: patternOf(endpoint.path) }));

  const answer = (req: StandinRequest): StandinResponse => {
    const path = req.path.slice(prefix.length);
    const here = routes.flatMap(({ endpoint, pattern }) => {
      const groups = pattern.exec(path)?.groups;
      return groups === undefined ? [] : [{ endpoint, groups }];
    });
    if (here.length === 0) {
      settings.count(path === '/appeals' ? 'redirect' : 'unknown');
      if (path !== '/appeals') throw notFound();
      throw problem(301, 'The address ends with a slash.', { location: publicUrl(req, '/appeals/').href });
    }
    const found = here.find(({ endpoint }) => endpoint.method === req.method);
    settings.count(found?.endpoint.name ?? 'unknown');
    const now = settings.now();
    const account = accountOf(req.headers.authorization, store.keys, now);
    if (found === undefined) {
      const allow = here.map(({ endpoint }) => endpoint.method).join(', ');
      throw problem(405, `Method "${req.method}" not allowed.`, { allow });
    }
    const params = decoded(found.groups);
    const body = jsonBody(req);
    return found.endpoint.run({ account, store, params, query: req.query, body, now, url: publicUrl(req, path) });
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
function patternOf(path: string): RegExp {
  const source = path
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(
      /:(\w+)/g,
      (_, name: string) => `(?<${name}>${name === 'id' || name === 'campaign' ? '\\d{1,40}' : '[^/]+'})`,
    );
  // The empty group makes `groups` an object for paths without parameters too.
  return new RegExp(`^${source}(?<end>)$`);
}

function decoded(groups: Record<string, string>): Record<string, string> {
  try {
    // A plus sign stays a plus sign: in a path it doesn't stand for a space.
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw notFound();
  }
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
