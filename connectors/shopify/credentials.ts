import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { type Credentials, clientCredentials, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorCall } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { responseRules } from './responses.ts';
import { addressOf, type ShopifySettings } from './settings.ts';

const aDayMs = 86_400_000;

const refused = {
  kind: 'config',
  problem: 'the app gets no token',
  remedy:
    'an owner of the shop must check that the app is installed, of the same organisation as the shop, and that clientId and ' +
    'clientSecret are its current ones (Dev Dashboard > app > Settings)',
} as const;

/** The permanent token of a custom app, or tokens of the client_credentials grant, which last a day. */
export function credentialsOf(settings: ShopifySettings, ports: ConnectorPorts): Credentials {
  const { shop, accessToken, clientId: client_id, clientSecret: client_secret } = settings;
  if (accessToken !== undefined) return staticToken(accessToken);
  if (client_id === undefined || client_secret === undefined) {
    throw new CloseloopError(`Shopify ${shop}: accessToken is missing`, { kind: 'config' });
  }
  const { table } = responseRules(ports.random);
  const rules = { table: { ...table, 400: refused, 401: refused } };
  const api = createVendorApi({ name: `Shopify ${shop}`, baseUrl: addressOf(settings), rules }, ports);
  const call: VendorCall = {
    method: 'POST',
    path: '/admin/oauth/access_token',
    place: 'token',
    body: { client_id, client_secret, grant_type: 'client_credentials' },
  };
  return clientCredentials(async () => {
    const { token, lifeMs = aDayMs } = await api.call(call, TokenGrant);
    return { token, lifeMs };
  }, ports.now);
}
