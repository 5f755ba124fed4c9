import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotSettings } from './settings.ts';

/** What a call carries as its bearer token. */
export interface Credentials {
  current(): Promise<string>;
  /** HubSpot answered 401 to this token: another one worth a second attempt, or undefined. */
  instead(refused: string): Promise<string | undefined>;
}

/** A new access token, and the refresh token to use next time if HubSpot has replaced it. */
export interface Granted {
  accessToken: string;
  refreshToken?: string;
  lifeMs: number;
}

/** Trades a refresh token for an access token: one call. */
export type Refresh = (refreshToken: string) => Promise<Granted>;

const vaultName = 'hubspot-oauth';

/** What all processes share. `of` names the refresh token of the configuration that all this came from. */
const Stored = z.object({ of: z.string(), refreshToken: z.string(), accessToken: z.string(), renewAt: z.number() });
type Stored = z.output<typeof Stored>;

export function credentialsOf(settings: HubSpotSettings, refresh: Refresh, ports: ConnectorPorts): Credentials {
  const { accessToken, refreshToken } = settings;
  if (refreshToken !== undefined) return oauthTokens(refreshToken, refresh, ports);
  if (accessToken !== undefined) return { current: async () => accessToken, instead: async () => undefined };
  throw new CloseloopError('HubSpot: accessToken is missing', { kind: 'config' }, { outcome: 'never-sent' });
}

/**
 * Access tokens of an OAuth app, renewed when three quarters of their life are over. One process at a time trades the
 * refresh token, which HubSpot may replace: the new one is in the vault before anything is done with the access token,
 * and the others find both there. Should the configuration get another refresh token (somebody connected the account
 * anew), what was stored no longer counts.
 */
export function oauthTokens(
  configured: string,
  refresh: Refresh,
  { vault, now }: Pick<ConnectorPorts, 'vault' | 'now'>,
): Credentials {
  const of = createHash('sha256').update(configured).digest('hex').slice(0, 16);
  let held: Stored | undefined;
  let pending: Promise<Stored> | undefined;
  const good = ({ accessToken, renewAt }: Stored, refused?: string): boolean =>
    accessToken !== refused && now().getTime() < renewAt;

  async function stored(): Promise<Stored | undefined> {
    const text = await vault.get(vaultName);
    const found = text === undefined ? undefined : Stored.safeParse(JSON.parse(text)).data;
    return found?.of === of ? found : undefined;
  }

  const store = (token: Stored) => vault.set(vaultName, JSON.stringify(token));

  const renew = (refused?: string): Promise<Stored> =>
    vault.locked(vaultName, async () => {
      const known = await stored();
      if (known && good(known, refused)) return known;
      // A vault that takes nothing has to say so before HubSpot replaces the one token that is good.
      if (known === undefined) await store({ of, refreshToken: configured, accessToken: '', renewAt: 0 });
      const askedAt = now().getTime();
      const last = known?.refreshToken ?? configured;
      const { accessToken, refreshToken = last, lifeMs } = await refresh(last);
      const token = { of, refreshToken, accessToken, renewAt: askedAt + lifeMs * 0.75 };
      await store(token);
      return token;
    });

  async function get(refused?: string): Promise<string> {
    if (held && good(held, refused)) return held.accessToken;
    pending ??= renew(refused).finally(() => {
      pending = undefined;
    });
    held = await pending;
    return held.accessToken;
  }

  return {
    current: () => get(),
    async instead(refused) {
      const token = await get(refused);
      // a renewal that others had begun may have found nothing wrong with it
      return token === refused ? get(refused) : token;
    },
  };
}
