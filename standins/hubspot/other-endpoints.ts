import { z } from 'zod';
import type { Params, Route } from '../router.ts';
import type { StandinResponse } from '../server.ts';
import type { Context } from './context.ts';
import { accountZone } from './defaults.ts';
import { singular } from './model.ts';
import { invalid, notFound, Problem } from './problem.ts';
import { bodyOf, scopeFor, typeOf } from './request-body.ts';
import { shuffled, viewOwner, viewPipeline, viewProperty } from './views.ts';

const version = '{version:\\d{4}-\\d{2}}';
const properties = `/crm/properties/${version}/{type:[a-z0-9-]+}`;
const pipelines = `/crm/pipelines/${version}/{type:[a-z0-9-]+}`;
const fieldTypes: Readonly<Record<string, readonly string[]>> = {
  string: ['text', 'textarea', 'html', 'phonenumber', 'file'],
  number: ['number', 'calculation_equation'],
  enumeration: ['select', 'radio', 'checkbox', 'booleancheckbox'],
  bool: ['booleancheckbox'],
  date: ['date'],
  datetime: ['date'],
};

const inputs = z.object({ inputs: z.array(z.object({ id: z.string(), after: z.string().optional() })) });
const newGroup = z.object({ name: z.string().min(1), label: z.string().min(1) });
const newProperty = z.object({
  name: z.string(),
  label: z.string().min(1),
  type: z.enum(['string', 'number', 'enumeration', 'datetime', 'date', 'bool']),
  fieldType: z.string(),
  groupName: z.string(),
  description: z.string().default(''),
  options: z
    .array(z.object({ label: z.string(), value: z.string(), displayOrder: z.number().int(), hidden: z.boolean() }))
    .default([]),
});

export const otherRoutes: Route<Context>[] = [
  {
    method: 'POST',
    template: `/crm/associations/${version}/{type:[a-z0-9-]+}/{to}/batch/read`,
    answer: readAssociations,
  },
  { method: 'GET', template: `/crm/owners/${version}`, answer: listOwners },
  { method: 'GET', template: `/crm/owners/${version}/{id}`, answer: showOwner },
  {
    method: 'GET',
    template: pipelines,
    answer: (context, params) => ({ status: 200, body: { results: pipelinesOf(context, params).map(viewPipeline) } }),
  },
  { method: 'GET', template: `${pipelines}/{id}`, answer: showPipeline },
  { method: 'GET', template: `${properties}/groups`, answer: listGroups },
  { method: 'POST', template: `${properties}/groups`, answer: createGroup },
  { method: 'GET', template: properties, answer: listProperties },
  { method: 'POST', template: properties, answer: createProperty },
  { method: 'GET', template: `${properties}/{name}`, answer: showProperty },
  { method: 'GET', template: `/account-info/${version}/details`, answer: accountDetails },
];

/** None is an error in a 207, not an empty list; so is an id that was merged away. Ids of the other side are numbers. */
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
  return errors.length === 0
    ? { status: 200, body }
    : { status: 207, body: { ...body, numErrors: errors.length, errors } };
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
  return { status: 200, body: { results, ...(more ? { paging: { next: { after: String(from + limit) } } } : {}) } };
}

function showOwner(context: Context, { id = '' }: Params): StandinResponse {
  context.need('crm.objects.owners.read');
  const owner = context.store.owners.get(id);
  if (owner === undefined || owner.archived !== (context.req.query.get('archived') === 'true')) throw notFound();
  return { status: 200, body: viewOwner(owner) };
}

function pipelinesOf(context: Context, params: Params): Context['store']['pipelines']['tickets'] {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return context.store.pipelines[type];
}

function showPipeline(context: Context, params: Params): StandinResponse {
  const pipeline = pipelinesOf(context, params).find((one) => one.id === params.id);
  if (pipeline === undefined) throw notFound();
  return { status: 200, body: viewPipeline(pipeline) };
}

function listProperties(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return {
    status: 200,
    body: {
      results: [...context.store.properties[type].values()].map((one) =>
        viewProperty(one, context.store.pipelines[type]),
      ),
    },
  };
}

function showProperty(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  const property = context.store.properties[type].get(params.name ?? '');
  if (property === undefined) throw notFound();
  return { status: 200, body: viewProperty(property, context.store.pipelines[type]) };
}

function createProperty(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(type === 'tickets' ? 'tickets' : `crm.schemas.${type}.write`, `crm.schemas.${type}.write`);
  const given = bodyOf(context, newProperty);
  if (!/^[a-z][a-z0-9_]{0,99}$/.test(given.name))
    throw invalid('The name must start with a letter and hold only a-z, 0-9 and _, at most 100');
  if (fieldTypes[given.type]?.includes(given.fieldType) !== true)
    throw invalid(`fieldType ${given.fieldType} does not fit type ${given.type}`);
  if (!context.store.groups[type].has(given.groupName)) throw invalid(`There is no property group ${given.groupName}`);
  const isBool = given.fieldType === 'booleancheckbox';
  if (
    isBool &&
    given.options
      .map((option) => option.value)
      .sort()
      .join() !== 'false,true'
  )
    throw invalid('A single checkbox has exactly the options true and false');
  if (context.store.properties[type].has(given.name))
    throw alreadyExists(`A property named '${given.name}' already exists.`, 'Properties.PROPERTY_WITH_NAME_EXISTS');
  const property = { ...given, readOnly: false, sensitive: false, hubspotDefined: false };
  context.store.properties[type].set(given.name, property);
  return { status: 201, body: viewProperty(property, []) };
}

function listGroups(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return {
    status: 200,
    body: { results: [...context.store.groups[type]].map(([name, label]) => viewGroup(name, label)) },
  };
}

function createGroup(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(type === 'tickets' ? 'tickets' : `crm.schemas.${type}.write`, `crm.schemas.${type}.write`);
  const { name, label } = bodyOf(context, newGroup);
  if (context.store.groups[type].has(name))
    throw alreadyExists(`A group named '${name}' already exists.`, 'Properties.GROUP_WITH_NAME_EXISTS');
  context.store.groups[type].set(name, label);
  return { status: 201, body: viewGroup(name, label) };
}

function viewGroup(name: string, label: string): object {
  return { name, label, displayOrder: -1, archived: false };
}

function alreadyExists(message: string, subCategory: string): Problem {
  return new Problem(409, 'OBJECT_ALREADY_EXISTS', message, { subCategory });
}

function accountDetails({ need, portalId }: Context): StandinResponse {
  need('oauth');
  return {
    status: 200,
    body: {
      portalId,
      accountType: 'STANDARD',
      timeZone: accountZone,
      companyCurrency: 'EUR',
      additionalCurrencies: [],
      utcOffset: '+02:00',
      utcOffsetMilliseconds: 7_200_000,
      uiDomain: 'app-eu1.hubspot.com',
      dataHostingLocation: 'eu1',
    },
  };
}
