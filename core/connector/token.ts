import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ConnectorPorts } from './contract.ts';

/** The token that calls carry. */
export interface Credentials {
  current(): Promise<string>;
  /** The vendor refused this one: another, worth a second attempt; undefined where there is none. */
  instead(refused: string): Promise<string | undefined>;
}

/** A token that was fetched; `refreshToken` where the vendor replaced the one that it was traded for. */
export interface GrantedToken {
  token: string;
  refreshToken?: string | undefined;
  lifeMs: number;
}

/** One that holds until a person replaces it in the configuration. */
export function staticToken(token: string): Credentials {
  return { current: async () => token, instead: async () => undefined };
}

/** Fetched anew when so much of its life is over. */
const usedUp = 0.75;

/**
 * Tokens of a grant that knows no refresh token, each fetched anew before its life is over: in time for every caller. Those that
 * come while one is fetched share it.
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
      // Somebody else may have fetched a newer one meanwhile, which deserves its own chance.
      if (held?.token === refused) held = undefined;
      return await current();
    },
  };
}

/** What all processes share. `of` names the refresh token of the configuration that all this came from. */
const Stored = z.object({ of: z.string(), refreshToken: z.string(), accessToken: z.string(), renewAt: z.number() });
type Stored = z.output<typeof Stored>;

/**
 * Access tokens that are traded for a refresh token. One process at a time trades it, and the vendor may replace it: the new one
 * is in the vault before anything is done with the access token, and the others find both there. Should the configuration
 * get another refresh token (somebody connected the account anew), what was stored no longer counts.
 * @param name of what is stored, in the source's vault
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
      // A vault that takes nothing has to say so before the vendor replaces the one token that is good.
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
      // A renewal that others had begun may have found nothing wrong with it.
      return token === refused ? get(refused) : token;
    },
  };
}

/** What a token endpoint answers. Source: RFC 6749, section 5.1. */
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
