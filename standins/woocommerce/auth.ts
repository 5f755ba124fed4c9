import type { StandinRequest } from '../kit/message.ts';
import type { ApiKey } from './model.ts';
import { unauthorised } from './problem.ts';
import type { Settings } from './settings.ts';

/**
 * The key of a request, by Basic or, where the host drops that header, by the query.
 * @throws Problem 401: no key, a wrong one, or one whose rights or whose user don't reach
 */
export function authorise(
  req: StandinRequest,
  query: URLSearchParams,
  keys: ReadonlyMap<string, ApiKey>,
  settings: Settings,
): void {
  const [key, secret] = credentials(req, query, settings);
  // Without any credentials the API works, as a visitor, who may see nothing.
  if (key === undefined) throw cannot('view', 'list');
  const known = keys.get(key);
  if (known === undefined) {
    throw unauthorised('woocommerce_rest_authentication_error', 'Consumer key is invalid.');
  }
  if (known.secret !== secret) {
    throw unauthorised('woocommerce_rest_authentication_error', 'Consumer secret is invalid.');
  }
  const writes = req.method !== 'GET' && req.method !== 'HEAD';
  if (known.rights === (writes ? 'read' : 'write')) {
    const what = writes ? 'write' : 'read';
    throw unauthorised(
      'woocommerce_rest_authentication_error',
      `The API key provided does not have ${what} permissions.`,
    );
  }
  if (!known.mayEditOrders) throw cannot(writes ? 'edit' : 'view', 'do that to');
}

function cannot(what: 'view' | 'edit', how: string): Error {
  return unauthorised(`woocommerce_rest_cannot_${what}`, `Sorry, you cannot ${how} resources.`);
}

function credentials(
  req: StandinRequest,
  query: URLSearchParams,
  { dropsAuthorization }: Settings,
): [key?: string, secret?: string] {
  const [scheme = '', encoded = ''] = (req.headers.authorization ?? '').split(' ');
  if (!dropsAuthorization && scheme.toLowerCase() === 'basic') {
    const [key, ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    return [key ?? '', secret.join(':')];
  }
  const key = query.get('consumer_key');
  return key === null ? [] : [key, query.get('consumer_secret') ?? ''];
}
