import { type FetchedToken, renewedToken } from '../../core/connector/token.ts';

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

/** Tokens of the client_credentials grant: for a day, with no refresh token. */
export function dailyTokens(fetchToken: () => Promise<FetchedToken<string>>, now: () => Date): Credentials {
  const kept = renewedToken(fetchToken, now);
  return {
    current: kept.current,
    refused: (token) => {
      kept.refused(token);
      return true;
    },
  };
}
