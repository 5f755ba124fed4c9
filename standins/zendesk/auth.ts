import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { formOrJsonBody, ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { forbidden, invalidToken, unauthenticated } from './context.ts';
import type { Credentials, User } from './definitions.ts';
import { apiUserId, type Store } from './store.ts';

const resources = [
  'tickets',
  'users',
  'auditlogs',
  'organizations',
  'hc',
  'apps',
  'triggers',
  'automations',
  'targets',
  'webhooks',
];
const scopes = new Set([
  'read',
  'write',
  'impersonate',
  ...resources.flatMap((name) => [`${name}:read`, `${name}:write`]),
]);
const tokenRequest = z.object({
  grant_type: z.string().optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  scope: z.union([z.string(), z.array(z.unknown())]).optional(),
  expires_in: z.coerce.number().optional(),
});

/** POST /oauth/tokens, grant client_credentials only. No refresh token; lifetime 300 to 172,800 s, 1,800 by default. */
export function issueToken(store: Store, credentials: Credentials, req: StandinRequest, now: number): StandinResponse {
  const parsed = tokenRequest.safeParse(formOrJsonBody(req));
  if (!parsed.success) return oauthError(400, 'invalid_request', 'The request is missing a required parameter');
  const { grant_type, client_id, client_secret, scope = 'read write', expires_in = 1_800 } = parsed.data;
  if (client_id !== credentials.clientId || client_secret !== credentials.clientSecret) {
    return oauthError(401, 'invalid_client', 'Client authentication failed due to unknown client or bad secret');
  }
  if (grant_type !== 'client_credentials') {
    return oauthError(400, 'unsupported_grant_type', 'The authorization grant type is not supported');
  }
  if (!Number.isInteger(expires_in) || expires_in < 300 || expires_in > 172_800) {
    return oauthError(400, 'invalid_request', 'expires_in must be between 300 and 172800');
  }
  // An array is taken without a word, and the token is then good for nothing.
  const wanted = typeof scope === 'string' ? scope.split(/\s+/).filter((one) => one !== '') : [];
  if (wanted.some((one) => !scopes.has(one))) return oauthError(400, 'invalid_scope', 'The requested scope is invalid');
  const { clientScopes } = store.admin.settings;
  if (clientScopes !== undefined && wanted.some((one) => !clientScopes.includes(one)))
    return oauthError(400, 'invalid_scope', 'The requested scope is invalid');
  const token = randomBytes(32).toString('hex');
  store.tokens.set(token, { userId: apiUserId, scopes: wanted, expiresAt: now + expires_in * 1000 });
  return ok({ access_token: token, token_type: 'bearer', scope: wanted.join(' '), expires_in });
}

/**
 * Who calls. `resource` names the scope of its own an endpoint has, if any; `read` and `write` cover everything.
 * @throws Problem 401, 403
 */
export function authenticate(
  store: Store,
  credentials: Credentials,
  req: StandinRequest,
  resource: string | undefined,
  now: number,
): User {
  const [scheme = '', value = ''] = (req.headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() === 'basic') return basicUser(store, credentials, value);
  if (scheme.toLowerCase() !== 'bearer') throw unauthenticated();
  const token = store.tokens.get(value);
  if (token === undefined || token.expiresAt <= now) throw invalidToken();
  const owner = store.users.get(token.userId);
  if (owner === undefined || !owner.active || owner.suspended || owner.role === 'end-user') throw invalidToken();
  const need = req.method === 'GET' ? 'read' : 'write';
  if (token.scopes.includes(need)) return owner;
  if (resource === undefined || !token.scopes.includes(`${resource}:${need}`)) throw forbidden();
  return owner;
}

function basicUser(store: Store, { apiToken }: Credentials, encoded: string): User {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const mark = text.indexOf(':');
  const name = text.slice(0, mark);
  if (!name.endsWith('/token') || text.slice(mark + 1) !== apiToken) throw unauthenticated();
  const email = name.slice(0, -'/token'.length).toLowerCase();
  const user = [...store.users.values()].find((one) => one.email?.toLowerCase() === email);
  if (user === undefined || user.role === 'end-user' || !user.active || user.suspended) throw unauthenticated();
  return user;
}

function oauthError(status: number, error: string, error_description: string): StandinResponse {
  return { status, body: { error, error_description } };
}
