import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ConnectorPorts } from './contract.ts';

/** The token that calls carry. */
export interface Credentials {
  current(): Promise<string>;
  /** A token for a second attempt after the vendor refused this one; undefined where there is none. */
  instead(refused: string): Promise<string | undefined>;
}

/** A fetched token; `refreshToken` where the vendor replaced the refresh token. */
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

/** User and password, or key and secret, in every call (RFC 7617): `createVendorApi({ ...basicCredentials(key, secret), … })`. */
export function basicCredentials(user: string, password: string): BasicCredentials {
  return {
    credentials: staticToken(Buffer.from(`${user}:${password}`).toString('base64')),
    authorize: (token) => ({ authorization: `Basic ${token}` }),
  };
}

/** A token is renewed after this share of its lifetime. */
const usedUp = 0.75;

/**
 * Tokens of a grant without refresh tokens, each renewed before it expires. Concurrent callers share one request.
 */
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

/** What all processes share. `of` identifies the configured refresh token that the stored tokens come from. */
const Stored = z.object({ of: z.string(), refreshToken: z.string(), accessToken: z.string(), renewAt: z.number() });
type Stored = z.output<typeof Stored>;

/**
 * Access tokens that are traded for a refresh token. One process at a time trades it, and the vendor may replace it: the new
 * refresh token is in the vault before the access token is used, and the other processes find both there. A new refresh token in
 * the configuration (a person connected the account anew) invalidates what is stored.
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
      // A vault that can't store has to fail before the vendor replaces the only valid refresh token.
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
      // A renewal that another caller had begun may have kept the refused token.
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
    /** Undefined: the vendor doesn't say. */
    lifeMs: expires_in == null ? undefined : expires_in * 1000,
  }));
