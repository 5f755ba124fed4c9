import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { batchAnswer, bodyOf, type Context, checkSize, invalid, notFound, page, scopeFor, typeOf } from './context.ts';
import { accountZone } from './defaults.ts';
import { singular } from './definitions.ts';
import { shuffled, viewOwner, viewPipeline } from './views.ts';

const version = '{version:\\d{4}-\\d{2}}';

export const otherRoutes: Route<Context>[] = [
  route('POST', `/crm/associations/${version}/{type:[a-z0-9-]+}/{to}/batch/read`, contactsOf),
  route('GET', `/crm/owners/${version}`, listOwners),
  route('GET', `/crm/pipelines/${version}/{type:[a-z0-9-]+}`, listPipelines),
  route('GET', `/account-info/${version}/details`, accountDetails),
  route('POST', '/oauth/v2/private-apps/get/access-token-info', tokenInfo),
  route('POST', '/oauth/{version:\\d{4}-\\d{2}}/token/introspect', introspect),
  route('GET', `/crm/associations/${version}/{type:[a-z0-9-]+}/{to}/labels`, listLabels),
  route('POST', `/crm/objects/${version}/feedback_submissions/search`, findFeedback),
];

/** Ids of the other side are numbers. */
function contactsOf(context: Context, params: Params): StandinResponse {
  const type = contactsOnly(context, params);
  return readAssociations(context, {
    of: (id) =>
      context.store
        .contactsHere(type, Number(id))
        .map(([toObjectId, associationTypes]) => ({ toObjectId, associationTypes })),
    none: (id) => ({
      message: `No contact is associated with ${singular[type]} ${id}.`,
      context: { fromObjectId: [id], fromObjectType: [singular[type]], toObjectType: ['contact'] },
    }),
  });
}

/** @throws Problem 404 for other associations than those of tickets and deals with contacts, 403 */
function contactsOnly({ need }: Context, { type: from, to }: Params): 'tickets' | 'deals' {
  const type = typeOf(from);
  if (typeOf(to) !== 'contacts' || type === 'contacts')
    throw notFound('only contacts of tickets and deals are known here');
  need(scopeFor(type, 'read'));
  need('crm.objects.contacts.read');
  return type;
}

const associated = z.object({ inputs: z.array(z.object({ id: z.string(), after: z.string().optional() })) });

/** An id without associations is an error in a 207, not an empty list, and so is an id that was merged away. */
export function readAssociations(
  context: Context,
  { of, none }: { of: (id: string) => readonly object[]; none: (id: string) => { message: string; context: object } },
): StandinResponse {
  const { inputs } = bodyOf(context, associated);
  checkSize(inputs, 1_000);
  const results: object[] = [];
  const errors: object[] = [];
  for (const { id, after = '0' } of inputs) {
    const { items, paging } = page(of(id), Number(after), context.settings.associationPage);
    if (items.length > 0) results.push({ from: { id }, to: shuffled(items, context.random), ...paging });
    else {
      const category = { category: 'OBJECT_NOT_FOUND', subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND' };
      errors.push({ status: 'error', ...category, ...none(id) });
    }
  }
  return batchAnswer(context, results, errors);
}

function listOwners(context: Context): StandinResponse {
  context.need('crm.objects.owners.read');
  const { query } = context.req;
  const limit = Number(query.get('limit') ?? '100');
  const from = Number(query.get('after') ?? '0');
  if (!Number.isInteger(limit) || limit < 1 || limit > 500 || !Number.isInteger(from))
    throw invalid('limit or after is not valid');
  const wanted = query.get('archived') === 'true';
  const owners = [...context.store.owners.values()].filter((owner) => owner.archived === wanted);
  const { items, paging } = page(owners, from, limit);
  return ok({ results: items.map(viewOwner), ...paging });
}

function listPipelines(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return ok({ results: context.store.pipelines[type].map(viewPipeline) });
}

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

function accountDetails({ need, account: { portalId } }: Context): StandinResponse {
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
  const { req, now, scopes } = context;
  const { oauth, portalId, appId } = context.account;
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
function introspect({ req, now, settings, account: { oauth, portalId, appId } }: Context): StandinResponse {
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
  return ok({ results: context.store.labels[contactsOnly(context, params)] });
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
