import { randomUUID } from 'node:crypto';
import { ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';

/** `POST /oauth/{version}/token`, whatever its version. */
export const tokenPath = /^\/oauth\/\d{4}-\d{2}\/token$/;

const lifeSeconds = 1_800;

/** How one account has connected the app: its refresh token, and the access tokens that were given for it. */
export class OAuthGrant {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The refresh token that is valid now. */
  refreshToken: string;
  revoked = false;
  readonly #portalId: number;
  /** Access token → until when. */
  readonly #access = new Map<string, number>();

  constructor(app: { clientId: string; clientSecret: string; refreshToken: string; portalId: number }) {
    this.clientId = app.clientId;
    this.clientSecret = app.clientSecret;
    this.refreshToken = app.refreshToken;
    this.#portalId = app.portalId;
  }

  knows(accessToken: string, now: number): boolean {
    return (this.#access.get(accessToken) ?? 0) > now;
  }

  /** The account removes the app. Access tokens live on for a while at the vendor; here they end too. */
  revoke(): void {
    this.revoked = true;
    this.#access.clear();
  }

  answer({ headers, raw }: Pick<StandinRequest, 'headers' | 'raw'>, now: number): StandinResponse {
    if (headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') !== true)
      return refusal(415, 'invalid_request', 'UNSUPPORTED_MEDIA_TYPE');
    const form = new URLSearchParams(raw.toString('utf8'));
    if (form.get('client_id') !== this.clientId) return refusal(400, 'invalid_client', 'BAD_CLIENT_ID');
    if (form.get('client_secret') !== this.clientSecret) return refusal(400, 'invalid_client', 'BAD_CLIENT_SECRET');
    if (form.get('grant_type') !== 'refresh_token')
      return refusal(400, 'unsupported_grant_type', 'UNSUPPORTED_GRANT_TYPE');
    if (this.revoked || form.get('refresh_token') !== this.refreshToken)
      return refusal(400, 'invalid_grant', 'BAD_REFRESH_TOKEN');
    // Every refresh replaces the refresh token; the old token is no longer valid.
    this.refreshToken = `refresh-${randomUUID()}`;
    const accessToken = `access-${randomUUID()}`;
    this.#access.set(accessToken, now + lifeSeconds * 1000);
    const body = {
      access_token: accessToken,
      refresh_token: this.refreshToken,
      expires_in: lifeSeconds,
      token_type: 'bearer',
      token_use: 'access_token',
      hub_id: this.#portalId,
      user_id: 98_499_705,
      scopes: [],
    };
    return ok(body);
  }
}

function refusal(status: number, error: string, code: string): StandinResponse {
  return { status, body: { status: code, error, error_description: 'refused', message: 'refused' } };
}
