import { renewedToken } from '../../core/connector/token.ts';

interface FetchedToken<Token> {
  token: Token;
  lifeMs: number;
}

/** What a call carries. The second form is the one `zendesk-node-api` wants. */
export interface Credential {
  authorization: string;
  nodeApi: { token: string; oauth: true } | { token: string; email: string };
}

export interface Credentials {
  current(): Promise<Credential>;
  /** Zendesk refused this one. Is there a chance with another? */
  refused(credential: Credential): boolean;
}

/** Legacy: an API token never changes. */
export function apiToken(email: string, token: string): Credentials {
  const authorization = `Basic ${Buffer.from(`${email}/token:${token}`).toString('base64')}`;
  const credential = { authorization, nodeApi: { token, email } };
  return { current: async () => credential, refused: () => false };
}

/** Tokens of the client_credentials grant, which knows no refresh token. */
export function oauthTokens(fetchToken: () => Promise<FetchedToken<string>>, now: () => Date): Credentials {
  const kept = renewedToken(async (): Promise<FetchedToken<Credential>> => {
    const { token, lifeMs } = await fetchToken();
    return { token: { authorization: `Bearer ${token}`, nodeApi: { token, oauth: true } }, lifeMs };
  }, now);
  return {
    current: kept.current,
    refused: (credential) => {
      kept.refused(credential);
      return true;
    },
  };
}
