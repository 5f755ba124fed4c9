import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { singular } from './model.ts';
import { invalid, notFound } from './problem.ts';
import { bodyOf, scopeFor, typeOf } from './request-body.ts';
import { shuffled, viewOwner, viewPipeline } from './views.ts';

const version = '{version:\\d{4}-\\d{2}}';
const pipelines = `/crm/pipelines/${version}/{type:[a-z0-9-]+}`;
const inputs = z.object({ inputs: z.array(z.object({ id: z.string(), after: z.string().optional() })) });

export const otherRoutes: Route<Context>[] = [
  route('POST', `/crm/associations/${version}/{type:[a-z0-9-]+}/{to}/batch/read`, readAssociations),
  route('GET', `/crm/owners/${version}`, listOwners),
  route('GET', `/crm/owners/${version}/{id}`, showOwner),
  route('GET', pipelines, (context, params) => ok({ results: pipelinesOf(context, params).map(viewPipeline) })),
  route('GET', `${pipelines}/{id}`, showPipeline),
];

/** An id without associations is an error in a 207, not an empty list, and so is an id that was merged away. Ids of the other side are numbers. */
function readAssociations(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  if (typeOf(params.to) !== 'contacts' || type === 'contacts')
    throw notFound('only contacts of tickets and deals are known here');
  context.need(scopeFor(type, 'read'));
  context.need('crm.objects.contacts.read');
  const given = bodyOf(context, inputs).inputs;
  if (given.length === 0 || given.length > 1000) throw invalid('The number of inputs must be between 1 and 1000');
  const results: object[] = [];
  const errors: object[] = [];
  for (const { id, after = '0' } of given) {
    const contacts = /^\d{1,15}$/.test(id) ? context.store.contactsHere(type, Number(id)) : [];
    if (contacts.length > 0) {
      const until = Number(after) + context.settings.associationPage;
      const page = contacts.slice(Number(after), until);
      const to = page.map(([toObjectId, associationTypes]) => ({ toObjectId, associationTypes }));
      const paging = until < contacts.length ? { paging: { next: { after: String(until) } } } : {};
      results.push({ from: { id }, to: shuffled(to, context.random), ...paging });
      continue;
    }
    errors.push({
      status: 'error',
      category: 'OBJECT_NOT_FOUND',
      subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
      message: `No contact is associated with ${singular[type]} ${id}.`,
      context: { fromObjectId: [id], fromObjectType: [singular[type]], toObjectType: ['contact'] },
    });
  }
  const at = new Date(context.now).toISOString();
  const body = { status: 'COMPLETE', results: shuffled(results, context.random), startedAt: at, completedAt: at };
  return errors.length === 0 ? ok(body) : { status: 207, body: { ...body, numErrors: errors.length, errors } };
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
  const more = from + limit < owners.length;
  const results = owners.slice(from, from + limit).map(viewOwner);
  return ok({ results, ...(more ? { paging: { next: { after: String(from + limit) } } } : {}) });
}

function showOwner(context: Context, { id = '' }: Params): StandinResponse {
  context.need('crm.objects.owners.read');
  const owner = context.store.owners.get(id);
  if (owner === undefined || owner.archived !== (context.req.query.get('archived') === 'true')) throw notFound();
  return ok(viewOwner(owner));
}

function pipelinesOf(context: Context, params: Params): Context['store']['pipelines']['tickets'] {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return context.store.pipelines[type];
}

function showPipeline(context: Context, params: Params): StandinResponse {
  const pipeline = pipelinesOf(context, params).find((one) => one.id === params.id);
  if (pipeline === undefined) throw notFound();
  return ok(viewPipeline(pipeline));
}
