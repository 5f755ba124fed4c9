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

export interface FetchedToken {
  token: string;
  lifeMs: number;
}

/**
 * Tokens of the client_credentials grant, which knows no refresh token: a new one is fetched when three quarters of the
 * life of the old one are over, and when Zendesk refuses it. Callers that come meanwhile share one fetch.
 */
export function oauthTokens(fetchToken: () => Promise<FetchedToken>, now: () => Date): Credentials {
  let held: { credential: Credential; renewAt: number } | undefined;
  let pending: Promise<Credential> | undefined;

  const renew = async (): Promise<Credential> => {
    const asked = now().getTime();
    const { token, lifeMs } = await fetchToken();
    const credential: Credential = { authorization: `Bearer ${token}`, nodeApi: { token, oauth: true } };
    held = { credential, renewAt: asked + lifeMs * 0.75 };
    return credential;
  };
  return {
    current: async () => {
      if (held !== undefined && now().getTime() < held.renewAt) return held.credential;
      pending ??= renew().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    refused: (credential) => {
      // Somebody else may have fetched a newer one meanwhile, which deserves its own chance.
      if (held?.credential === credential) held = undefined;
      return true;
    },
  };
}
