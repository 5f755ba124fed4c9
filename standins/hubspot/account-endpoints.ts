import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { accountZone } from './defaults.ts';
import { invalid, notFound } from './problem.ts';
import { bodyOf, scopeFor, typeOf } from './request-body.ts';

const version = '{version:\\d{4}-\\d{2}}';

const tokenKey = z.object({ tokenKey: z.string().min(1) });
const since = z.object({
  filterGroups: z.tuple([
    z.object({
      filters: z.tuple([
        z.object({
          propertyName: z.literal('hs_createdate'),
          operator: z.literal('GTE'),
          value: z.string().regex(/^\d+$/, 'epoch milliseconds, as text'),
        }),
      ]),
    }),
  ]),
  sorts: z.array(z.unknown()).max(1),
  properties: z.array(z.string()),
  limit: z.number().int().min(1).max(200),
  after: z.union([z.string(), z.number()]),
});

/** Takes the app's id and secret in the body instead of a token. */
export const introspection = '/oauth/{version}/token/introspect';

/** The scopes of a token that nobody has limited. */
const allScopes = [
  'oauth',
  'tickets',
  'crm.objects.contacts.read',
  'crm.objects.contacts.write',
  'crm.schemas.contacts.write',
  'crm.objects.deals.read',
  'crm.objects.deals.write',
  'crm.schemas.deals.write',
  'crm.objects.owners.read',
  'crm.objects.feedback_submissions.read',
];

/** What the account tells of itself. */
export const accountRoutes: Route<Context>[] = [
  route('GET', `/account-info/${version}/details`, accountDetails),
  route('POST', '/oauth/v2/private-apps/get/access-token-info', tokenInfo),
  route('POST', '/oauth/{version:\\d{4}-\\d{2}}/token/introspect', introspect),
  route('GET', `/crm/associations/${version}/{type:[a-z0-9-]+}/{to}/labels`, listLabels),
  route('POST', `/crm/objects/${version}/feedback_submissions/search`, findFeedback),
];

function accountDetails({ need, portalId }: Context): StandinResponse {
  need('oauth');
  return ok({
    portalId,
    accountType: 'STANDARD',
    timeZone: accountZone,
    companyCurrency: 'EUR',
    additionalCurrencies: [],
    utcOffset: '+02:00',
    utcOffsetMilliseconds: 7_200_000,
    uiDomain: 'app-eu1.hubspot.com',
    dataHostingLocation: 'eu1',
  });
}

/** Tells whose the calling token is; nothing about other tokens. Knows tokens of private apps, not those of OAuth. */
function tokenInfo(context: Context): StandinResponse {
  const { req, now, oauth, portalId, appId, scopes } = context;
  const [, own = ''] = (req.headers.authorization ?? '').split(' ');
  if (oauth.knows(own, now)) throw notFound('Not the token of a private app');
  if (bodyOf(context, tokenKey).tokenKey !== own) throw notFound('The token is not known');
  return ok({
    userId: 98_499_705,
    hubId: portalId,
    appId,
    scopes: scopes ?? allScopes,
    isUserToken: false,
  });
}

/** Tells about the app's own tokens; of another token only that it is none of these. */
function introspect({ req, now, oauth, portalId, appId, settings }: Context): StandinResponse {
  const form = new URLSearchParams(req.raw.toString('utf8'));
  if (form.get('client_id') !== oauth.clientId || form.get('client_secret') !== oauth.clientSecret)
    throw invalid('missing or invalid client id or secret');
  if (!oauth.knows(form.get('token') ?? '', now)) return ok({ active: false });
  return ok({
    active: true,
    token_use: 'access_token',
    token_type: 'bearer',
    hub_id: portalId,
    user_id: 98_499_705,
    client_id: oauth.clientId,
    app_id: appId,
    scopes: settings.scopes ?? allScopes,
    is_private_distribution: true,
  });
}

function listLabels(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  if (typeOf(params.to) !== 'contacts' || type === 'contacts')
    throw notFound('only contacts of tickets and deals are known here');
  context.need(scopeFor(type, 'read'));
  context.need('crm.objects.contacts.read');
  return ok({ results: context.store.labels[type] });
}

/** Answers to HubSpot's own surveys: how many there are since a time. */
function findFeedback(context: Context): StandinResponse {
  context.need('crm.objects.feedback_submissions.read');
  context.need('crm.objects.contacts.read');
  const { filterGroups, limit } = bodyOf(context, since);
  const from = Number(filterGroups[0].filters[0].value);
  if (!Number.isSafeInteger(from)) throw invalid('value is not valid');
  const found = context.store.feedback.filter((at) => at >= from);
  const results = found.slice(0, limit).map((at, index) => {
    const created = new Date(at).toISOString();
    return {
      id: String(900_000 + index),
      properties: { hs_createdate: created, hs_lastmodifieddate: created, hs_object_id: String(900_000 + index) },
      createdAt: created,
      updatedAt: created,
      archived: false,
    };
  });
  return ok({ total: found.length, results });
}
