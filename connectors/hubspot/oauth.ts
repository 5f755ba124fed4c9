import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { boundedFetch } from '../../core/connector/send.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Refresh } from './credentials.ts';
import { accountFailure, refusalOf } from './failure.ts';
import { paths } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { received, shaped } from './transport.ts';

/** HubSpot's tokens live 30 minutes; it says so in every answer. */
const usualLifeSeconds = 1800;

const Token = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
  expires_in: z.number().positive().default(usualLifeSeconds),
});

const text = z.string().optional().catch(undefined);
const Refused = z.object({ error: text, status: text }).catch({});

/** The refusals that mean: the account took our access away. */
const revoked = new Set(['invalid_grant', 'BAD_REFRESH_TOKEN', 'BAD_HUB', 'access_denied']);

/** How an OAuth app trades its refresh token: one call, form-encoded, out of the account's budget like any other. */
export function refresher(settings: HubSpotSettings, ports: ConnectorPorts, timeoutMs: number): Refresh {
  const { baseUrl, clientId = '', clientSecret = '', timeZone } = settings;
  const place = `POST ${paths.token}`;

  return async (refreshToken) => {
    await ports.budget.take();
    const { status, ok, headers, json } = await received(place, () =>
      boundedFetch(ports.fetch, timeoutMs)(baseUrl + paths.token, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: clientId,
          client_secret: clientSecret,
          refresh_token: refreshToken,
        }).toString(),
      }),
    );
    if (ok) {
      const { access_token: accessToken, refresh_token, expires_in } = shaped(place, Token, json);
      return { accessToken, lifeMs: expires_in * 1000, ...(refresh_token && { refreshToken: refresh_token }) };
    }
    const waiting = [423, 429, 477].includes(status) || status >= 500 || status < 400;
    const failure = waiting
      ? accountFailure(place, refusalOf(status, {}), headers.get('retry-after'), ports.now(), { timeZone })
      : undefined;
    if (failure?.pauseMs !== undefined) await ports.budget.pause(failure.pauseMs);
    throw failure?.error ?? refused(place, status, Refused.parse(json));
  };
}

/** Who must do what. What isn't surely a revocation is a mistake of ours: a reconnection would not mend it. */
function refused(place: string, status: number, { error, status: code }: z.output<typeof Refused>): CloseloopError {
  const taken = revoked.has(error ?? '') || revoked.has(code ?? '');
  const remedy = taken
    ? "HubSpot no longer accepts the refresh token. An admin of the HubSpot account must reconnect the app (open its install link); put the new refresh token into the source's refreshToken"
    : `HubSpot refused the token request (${status}). Check clientId and clientSecret: they are on the app's Auth page`;
  return new CloseloopError(`HubSpot ${place}: ${remedy}`, { kind: 'config' });
}
