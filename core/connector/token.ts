import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ConnectorPorts } from './contract.ts';

/** The credentials of calls. */
export interface Credentials {
  current(): Promise<string>;
  /** A token for a second attempt after the vendor refused this token; undefined if there is no other token. */
  instead(refused: string): Promise<string | undefined>;
}

/** A fetched token; with `refreshToken` if the vendor replaced the refresh token. */
export interface GrantedToken {
  token: string;
  refreshToken?: string | undefined;
  lifeMs: number;
}

/** A token that is valid until a person replaces it in the configuration. */
export function staticToken(token: string): Credentials {
  return { current: async () => token, instead: async () => undefined };
}

/** Parts of a `VendorAccount`. */
interface BasicCredentials {
  credentials: Credentials;
  authorize: (token: string) => Record<string, string>;
}

/** Sends user and password, or key and secret, with every call (RFC 7617): `createVendorApi({ ...basicCredentials(key, secret), … })`. */
export function basicCredentials(user: string, password: string): BasicCredentials {
  return {
    credentials: staticToken(Buffer.from(`${user}:${password}`).toString('base64')),
    authorize: (token) => ({ authorization: `Basic ${token}` }),
  };
}

/** A token is renewed after this share of its lifetime. */
const usedUp = 0.75;

/** Tokens of a grant without refresh tokens. Each token is renewed before it expires; concurrent callers share one request. */
export function clientCredentials(fetchToken: () => Promise<GrantedToken>, now: () => Date): Credentials {
  let held: { token: string; renewAt: number } | undefined;
  let pending: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const asked = now().getTime();
    const { token, lifeMs } = await fetchToken();
    held = { token, renewAt: asked + lifeMs * usedUp };
    return token;
  }

  async function current(): Promise<string> {
    if (held !== undefined && now().getTime() < held.renewAt) return held.token;
    pending ??= renew().finally(() => {
      pending = undefined;
    });
    return await pending;
  }

  return {
    current,
    async instead(refused) {
      // Another caller may have fetched a newer token meanwhile.
      if (held?.token === refused) held = undefined;
      return await current();
    },
  };
}

/** The state that all processes share. `of` identifies the configured refresh token from which the stored tokens come. */
const Stored = z.object({ of: z.string(), refreshToken: z.string(), accessToken: z.string(), renewAt: z.number() });
type Stored = z.output<typeof Stored>;

/**
 * Access tokens for which closeloop exchanges a refresh token. Only one process at a time does this, as the vendor may replace the refresh
 * token: the new refresh token is stored in the vault before the access token is used, and the other processes find both there. A new refresh
 * token in the configuration (a person connected the account again) invalidates the stored tokens.
 * @param name the name in the source's vault
 */
export function refreshedToken(
  { name, configured }: { name: string; configured: string },
  refresh: (refreshToken: string) => Promise<GrantedToken>,
  { vault, now }: Pick<ConnectorPorts, 'vault' | 'now'>,
): Credentials {
  const of = createHash('sha256').update(configured).digest('hex').slice(0, 16);
  let held: Stored | undefined;
  let pending: Promise<Stored> | undefined;
  const good = ({ accessToken, renewAt }: Stored, refused?: string): boolean =>
    accessToken !== refused && now().getTime() < renewAt;

  async function stored(): Promise<Stored | undefined> {
    const text = await vault.get(name);
    const found = text === undefined ? undefined : Stored.safeParse(JSON.parse(text)).data;
    return found?.of === of ? found : undefined;
  }

  const store = (token: Stored) => vault.set(name, JSON.stringify(token));

  const renew = (refused?: string): Promise<Stored> =>
    vault.locked(name, async () => {
      const known = await stored();
      if (known && good(known, refused)) return known;
      // Stores before the exchange: if the vault can't store, this has to fail before the vendor replaces the only valid refresh token.
      if (known === undefined) await store({ of, refreshToken: configured, accessToken: '', renewAt: 0 });
      const askedAt = now().getTime();
      const last = known?.refreshToken ?? configured;
      const { token: accessToken, refreshToken = last, lifeMs } = await refresh(last);
      const token = { of, refreshToken, accessToken, renewAt: askedAt + lifeMs * usedUp };
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
      // A renewal that another caller began earlier may have returned the refused token.
      return token === refused ? get(refused) : token;
    },
  };
}

/** The response of a token endpoint. Source: RFC 6749, section 5.1. */
export const TokenGrant = z
  .object({
    access_token: z.string().min(1),
    refresh_token: z.string().min(1).nullish(),
    expires_in: z.number().positive().nullish(),
  })
  .transform(({ access_token, refresh_token, expires_in }) => ({
    token: access_token,
    refreshToken: refresh_token ?? undefined,
    /** The token's lifetime; undefined if the vendor does not say. */
    lifeMs: expires_in == null ? undefined : expires_in * 1000,
  }));
