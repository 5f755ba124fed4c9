import type { StandinRequest } from '../kit/message.ts';
import { introspection } from './account-endpoints.ts';
import type { OAuthGrant } from './oauth.ts';
import { unauthenticated } from './problem.ts';
import { webhookApi } from './webhook-endpoints.ts';

export interface Credentials {
  developerApiKey: string;
  oauth: OAuthGrant;
  /** Static tokens and their scopes; null: whatever the settings say. */
  tokens: Readonly<Record<string, readonly string[] | null>>;
}

/**
 * What the caller of an endpoint may do: scopes, null for all. `usual`: of a token that has none of its own.
 * @throws Problem 401
 */
export function scopesFor(
  endpoint: string,
  { query, headers }: StandinRequest,
  { developerApiKey, oauth, tokens }: Credentials,
  usual: readonly string[] | null,
  now: number,
): readonly string[] | null {
  if (endpoint.startsWith(introspection)) return null;
  if (endpoint.startsWith(webhookApi)) {
    // The key is all there is, and a token beside it is one too many.
    if (query.get('hapikey') !== developerApiKey || headers.authorization !== undefined) throw unauthenticated();
    return null;
  }
  const [scheme = '', token = ''] = (headers.authorization ?? '').split(' ');
  if (scheme.toLowerCase() !== 'bearer') throw unauthenticated();
  if (oauth.knows(token, now)) return usual;
  if (!Object.hasOwn(tokens, token)) throw unauthenticated();
  return tokens[token] ?? usual;
}
