import { z } from 'zod';
import { ok, type Problem, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, invalid, notFound, problem, scopeFor, typeOf } from './context.ts';
import { type ObjectType, type Property, propertyType } from './definitions.ts';
import { viewProperty } from './views.ts';

const properties = '/crm/properties/{version:\\d{4}-\\d{2}}/{type:[a-z0-9-]+}';

const fieldTypes: Readonly<Record<string, readonly string[]>> = {
  string: ['text', 'textarea', 'html', 'phonenumber', 'file'],
  number: ['number', 'calculation_equation'],
  enumeration: ['select', 'radio', 'checkbox', 'booleancheckbox'],
  bool: ['booleancheckbox'],
  date: ['date'],
  datetime: ['date'],
};

const options = z.array(
  z.object({ label: z.string().min(1), value: z.string(), displayOrder: z.number().int(), hidden: z.boolean() }),
);
const newGroup = z.object({ name: z.string().min(1), label: z.string().min(1) });
const newProperty = z.object({
  name: z.string(),
  label: z.string().min(1),
  type: propertyType,
  fieldType: z.string(),
  groupName: z.string(),
  description: z.string().default(''),
  options: options.default([]),
});
/** Without a name: that is for ever. */
const changedProperty = z.object({
  label: z.string().min(1).exactOptional(),
  type: newProperty.shape.type.exactOptional(),
  fieldType: z.string().exactOptional(),
  groupName: z.string().exactOptional(),
  description: z.string().exactOptional(),
  options: options.exactOptional(),
});

/** Definitions of properties and their groups. Reading takes the object's read scope, changing the schema's. */
export const propertyRoutes: Route<Context>[] = [
  route('POST', `${properties}/groups`, createGroup),
  route('GET', properties, listProperties),
  route('POST', properties, createProperty),
  route('PATCH', `${properties}/{name}`, changeProperty),
];

/** `?archived=true` lists the deleted properties instead. */
function listProperties(context: Context, params: Params): StandinResponse {
  const type = readable(context, params);
  const { store, req } = context;
  const listed = req.query.get('archived') === 'true' ? store.archivedProperties : store.properties;
  const results = [...listed[type].values()].map((one) => viewProperty(one, store.pipelines[type]));
  return ok({ results });
}

/** The name of a deleted property brings that property back, as it was. */
function createProperty(context: Context, params: Params): StandinResponse {
  const type = changeable(context, params);
  const given = bodyOf(context, newProperty);
  const { store } = context;
  if (!/^[a-z][a-z0-9_]{0,99}$/.test(given.name))
    throw invalid('The name must start with a letter and hold only a-z, 0-9 and _, at most 100');
  if (store.properties[type].has(given.name))
    throw alreadyExists(`A property named '${given.name}' already exists.`, 'Properties.PROPERTY_WITH_NAME_EXISTS');
  const made = {
    ...given,
    readOnly: false,
    sensitive: false,
    hubspotDefined: false,
    calculated: false,
    archived: false,
  };
  checkDefinition(context, type, made);
  const property = store.archivedProperties[type].get(given.name) ?? made;
  property.archived = false;
  store.archivedProperties[type].delete(given.name);
  store.properties[type].set(given.name, property);
  return { status: 201, body: viewProperty(property, []) };
}

/** Given fields replace the stored fields, the list of options as a whole. */
function changeProperty(context: Context, params: Params): StandinResponse {
  const type = changeable(context, params);
  const property = named(context, type, params);
  if (property.hubspotDefined) throw invalid(`${property.name} is defined by HubSpot and can't be changed`);
  const changed = { ...property, ...bodyOf(context, changedProperty) };
  checkDefinition(context, type, changed);
  Object.assign(property, changed);
  return ok(viewProperty(property, context.store.pipelines[type]));
}

function checkDefinition({ store }: Context, type: ObjectType, property: Property): void {
  const { fieldType, groupName, options } = property;
  if (fieldTypes[property.type]?.includes(fieldType) !== true)
    throw invalid(`fieldType ${fieldType} does not fit type ${property.type}`);
  if (!store.groups[type].has(groupName)) throw invalid(`There is no property group ${groupName}`);
  const values = options.map((option) => option.value);
  if (new Set(values).size < values.length) throw invalid('Two options have the same value');
  if (fieldType === 'booleancheckbox' && values.toSorted().join() !== 'false,true')
    throw invalid('A single checkbox has exactly the options true and false');
}

function createGroup(context: Context, params: Params): StandinResponse {
  const type = changeable(context, params);
  const { name, label } = bodyOf(context, newGroup);
  if (context.store.groups[type].has(name))
    throw alreadyExists(`A group named '${name}' already exists.`, 'Properties.GROUP_WITH_NAME_EXISTS');
  context.store.groups[type].set(name, label);
  return { status: 201, body: { name, label, displayOrder: -1, archived: false } };
}

function readable(context: Context, params: Params): ObjectType {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  return type;
}

function changeable(context: Context, params: Params): ObjectType {
  const type = typeOf(params.type);
  context.need(type === 'tickets' ? 'tickets' : `crm.schemas.${type}.write`, `crm.schemas.${type}.write`);
  return type;
}

function named({ store }: Context, type: ObjectType, params: Params): Property {
  const property = store.properties[type].get(params.name ?? '');
  if (property === undefined) throw notFound();
  return property;
}

function alreadyExists(message: string, subCategory: string): Problem {
  return problem(409, 'OBJECT_ALREADY_EXISTS', message, { subCategory });
}
