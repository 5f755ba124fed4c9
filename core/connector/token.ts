export interface FetchedToken<Token> {
  token: Token;
  lifeMs: number;
}

/** A token that is fetched anew before its life is over, in time for every caller. */
export interface RenewedToken<Token> {
  current(): Promise<Token>;
  /** The other side refused this one: the next `current` fetches another. */
  refused(token: Token): void;
}

/**
 * Tokens of a grant that knows no refresh token: a new one is fetched when three quarters of the life of the old one are
 * over. Callers that come meanwhile share one fetch.
 */
export function renewedToken<Token>(
  fetchToken: () => Promise<FetchedToken<Token>>,
  now: () => Date,
): RenewedToken<Token> {
  let held: { token: Token; renewAt: number } | undefined;
  let pending: Promise<Token> | undefined;

  const renew = async (): Promise<Token> => {
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
    },
  };
}
