import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { boundedFetch } from '../../core/connector/send.ts';
import type { HubSpotApi } from './client.ts';
import { credentialsOf } from './credentials.ts';
import { refresher } from './oauth.ts';
import { paths } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { received, shaped } from './transport.ts';

const PrivateApp = z.object({ appId: z.coerce.string() });
const Introspection = z.object({ app_id: z.coerce.string().optional() });
const timeoutMs = 30_000;

/**
 * The app that the credentials belong to; undefined where HubSpot doesn't tell. Neither way is promised for every kind
 * of app, so a refusal means nothing. Source: HubSpot, private apps (token info) and OAuth (introspection).
 */
export async function appIdOf(
  settings: HubSpotSettings,
  api: HubSpotApi,
  ports: ConnectorPorts,
): Promise<string | undefined> {
  const { accessToken, clientId = '', clientSecret = '', baseUrl } = settings;
  try {
    if (accessToken !== undefined) {
      const options = { body: { tokenKey: accessToken }, answers: [401, 403] };
      const answer = await api.attempt('POST', paths.tokenInfo, PrivateApp, options);
      return answer.ok ? answer.body.appId : undefined;
    }
    const token = await credentialsOf(settings, refresher(settings, ports, timeoutMs), ports).current();
    const place = `POST ${paths.token}/introspect`;
    await ports.budget.take();
    const { ok, json } = await received(place, () =>
      boundedFetch(ports.fetch, timeoutMs)(`${baseUrl}${paths.token}/introspect`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          client_id: clientId,
          client_secret: clientSecret,
          token,
          token_type_hint: 'access_token',
        }).toString(),
      }),
    );
    return ok ? shaped(place, Introspection, json).app_id : undefined;
  } catch {
    return undefined;
  }
}
