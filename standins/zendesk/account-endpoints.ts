import type { Route } from '../router.ts';
import type { StandinResponse } from '../server.ts';
import type { Context } from './context.ts';
import { viewKeyedField } from './field-endpoints.ts';
import { paged } from './paging.ts';
import { recordNotFound } from './problem.ts';
import { iso } from './views.ts';

/** What the account is like: its settings, the caller's token, custom objects. For agents. */
export const accountRoutes: Route<Context>[] = [
  { method: 'GET', template: '/api/v2/account/settings', answer: settings },
  { method: 'GET', template: '/api/v2/oauth/tokens/current', answer: currentToken },
  {
    method: 'GET',
    template: '/api/v2/custom_objects/{key}',
    answer: (context, { key }) => {
      const { title } = objectOf(context, key);
      const custom_object = { key, title, title_pluralized: `${title}s`, include_in_list_view: true };
      return { status: 200, body: { custom_object } };
    },
  },
  {
    method: 'GET',
    template: '/api/v2/custom_objects/{key}/fields',
    answer: (context, { key }) => {
      const fields = objectOf(context, key).fields.map(viewKeyedField);
      return { status: 200, body: paged(context, 'custom_object_fields', fields) };
    },
  },
];

function settings({ store }: Context): StandinResponse {
  return {
    status: 200,
    body: {
      settings: {
        active_features: { customer_satisfaction: store.admin.settings.customerSatisfaction, ticket_forms: true },
        api: { accepted_api_agreement: true, api_token_access: String(store.settings.legacyTokens) },
        tickets: { comments_public_by_default: true, tagging: true },
      },
    },
  };
}

/** Of the bearer token itself; a legacy API token has no such thing. */
function currentToken({ req, store, now }: Context): StandinResponse {
  const token = store.tokens.get((req.headers.authorization ?? '').replace(/^bearer /i, ''));
  if (token === undefined) throw recordNotFound();
  const { userId, scopes, expiresAt } = token;
  return {
    status: 200,
    body: { token: { id: 1, user_id: userId, scopes, expires_at: iso(expiresAt), used_at: iso(now) } },
  };
}

function objectOf({ store }: Context, key: string | undefined) {
  const found = store.admin.customObjects.get(key ?? '');
  if (found === undefined) throw recordNotFound();
  return found;
}
