import { z } from 'zod';
import type { ResponseRules } from '../../core/connector/classify.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { type Credentials, refreshedToken, staticToken, TokenGrant } from '../../core/connector/token.ts';
import { createVendorApi, type VendorApi } from '../../core/connector/vendor-api.ts';
import { CloseloopError } from '../../core/errors.ts';
import { paths } from './objects.ts';
import { isAboutRequest, responseRules } from './responses.ts';
import type { HubSpotSettings } from './settings.ts';

/** HubSpot's tokens live 30 minutes, as every response says. */
const usualLifeMs = 1_800_000;

/** The permanent token of an app with static auth, or tokens that an OAuth app trades its refresh token for. */
export function credentialsOf(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs?: number): Credentials {
  const { accessToken, clientId = '', clientSecret = '', refreshToken: configured } = settings;
  if (accessToken !== undefined) return staticToken(accessToken);
  if (configured === undefined) {
    throw new CloseloopError('HubSpot: accessToken is missing', { kind: 'config' }, { outcome: 'never-sent' });
  }
  const api = tokenApi(settings, ports, timeoutMs);
  const refresh = async (refresh_token: string) => {
    const form = { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret, refresh_token };
    const { lifeMs = usualLifeMs, ...granted } = await api.call(
      { method: 'POST', path: paths.token, form },
      TokenGrant,
    );
    return { ...granted, lifeMs };
  };
  return refreshedToken({ name: 'hubspot-oauth', configured }, refresh, ports);
}

/** Calls to the token endpoints, which carry no token. */
export function tokenApi(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs?: number): VendorApi {
  const { baseUrl } = settings;
  const rules = tokenRules(responseRules(settings, ports.now));
  return createVendorApi({ name: 'HubSpot', baseUrl, rules, ...(timeoutMs !== undefined && { timeoutMs }) }, ports);
}

const text = z.string().optional().catch(undefined);
const Refused = z.object({ error: text, status: text }).catch({});

/** The refusals by which the account revoked the access. */
const revoked = new Set(['invalid_grant', 'BAD_REFRESH_TOKEN', 'BAD_HUB', 'access_denied']);

/** The remedy. Other refusals than revocations are errors in the configuration, which reconnecting doesn't correct. */
const tokenRules = (rules: ResponseRules): ResponseRules => ({
  ...rules,
  meaningOf(response, path) {
    const { status, json } = response;
    if (!isAboutRequest(status) && status !== 401 && status !== 403) return rules.meaningOf?.(response, path);
    const { error = '', status: code = '' } = Refused.parse(json);
    return revoked.has(error) || revoked.has(code)
      ? {
          kind: 'config',
          problem: 'HubSpot no longer accepts the refresh token',
          remedy:
            "an admin of the HubSpot account must reconnect the app (open its install link); put the new refresh token into the source's refreshToken",
        }
      : {
          kind: 'config',
          problem: 'HubSpot refused the token request',
          remedy: "check clientId and clientSecret: they are on the app's Auth page",
        };
  },
});
