/** What a call carries as X-Shopify-Access-Token. */
export interface Credentials {
  current(): Promise<string>;
  /** Shopify refused this one. Is there a chance with another? */
  refused(token: string): boolean;
}

/** The token of a custom app: for good. */
export function permanentToken(token: string): Credentials {
  return { current: async () => token, refused: () => false };
}

export interface FetchedToken {
  token: string;
  lifeMs: number;
}

/**
 * Tokens of the client_credentials grant: for a day, with no refresh token. A new one is fetched when three quarters of the life of
 * the old one are over, and when Shopify refuses it. Callers that come meanwhile share one fetch.
 */
export function dailyTokens(fetchToken: () => Promise<FetchedToken>, now: () => Date): Credentials {
  let held: { token: string; renewAt: number } | undefined;
  let pending: Promise<string> | undefined;

  const renew = async (): Promise<string> => {
    const asked = now().getTime();
    const { token, lifeMs } = await fetchToken();
    held = { token, renewAt: asked + lifeMs * 0.75 };
    return token;
  };
  return {
    current: async () => {
      if (held !== undefined && now().getTime() < held.renewAt) return held.token;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    refused: (token) => {
      // Somebody else may have fetched a newer one meanwhile, which deserves its own chance.
      if (held?.token === token) held = undefined;
      return true;
    },
  };
}
