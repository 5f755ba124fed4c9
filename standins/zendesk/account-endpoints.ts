import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { recordNotFound } from './problem.ts';
import { iso } from './views.ts';

/** What the account is like: its settings, the caller's token. For agents. */
export const accountRoutes: Route<Context>[] = [
  route('GET', '/api/v2/account/settings', settings),
  route('GET', '/api/v2/oauth/tokens/current', currentToken),
];

function settings({ store }: Context): StandinResponse {
  return ok({
    settings: {
      active_features: { customer_satisfaction: store.admin.settings.customerSatisfaction, ticket_forms: true },
      api: { accepted_api_agreement: true, api_token_access: String(store.settings.legacyTokens) },
      tickets: { comments_public_by_default: true, tagging: true },
    },
  });
}

/** Tells about the bearer token itself; a legacy API token has no such record. */
function currentToken({ req, store, now }: Context): StandinResponse {
  const token = store.tokens.get((req.headers.authorization ?? '').replace(/^bearer /i, ''));
  if (token === undefined) throw recordNotFound();
  const { userId, scopes, expiresAt } = token;
  return ok({ token: { id: 1, user_id: userId, scopes, expires_at: iso(expiresAt), used_at: iso(now) } });
}
