import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, invalid, page, scopeFor, typeOf } from './context.ts';
import type { CrmRecord, Property } from './definitions.ts';
import { viewRecord } from './views.ts';

const filter = z.object({
  propertyName: z.string(),
  /** The operators of the vendor's search that closeloop uses, and similar operators. */
  operator: z.enum(['LT', 'LTE', 'GT', 'GTE', 'EQ', 'HAS_PROPERTY']),
  value: z.string().optional(),
});
type Filter = z.output<typeof filter>;

// All keys are to be sent.
const searchBody = z.object({
  filterGroups: z.array(z.object({ filters: z.array(filter).min(1).max(6) })).max(5),
  sorts: z.array(z.object({ propertyName: z.string(), direction: z.enum(['ASCENDING', 'DESCENDING']) })).max(1),
  properties: z.array(z.string()),
  limit: z.number().int().min(1).max(200),
  after: z.union([z.string(), z.number()]),
});

const mostFilters = 18;
const longestBody = 3_000;
const furthest = 10_000;

export const searchRoutes: Route<Context>[] = [
  route('POST', '/crm/objects/{version:\\d{4}-\\d{2}}/{type:[a-z0-9-]+}/search', search),
];

/** Deleted records and fresh changes are not found; no more than 10,000 results can be paged through. */
function search(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  context.need(scopeFor(type, 'read'));
  if (context.req.raw.toString('utf8').length > longestBody)
    throw invalid(`The request body is longer than ${longestBody} characters`);
  const { filterGroups, sorts, properties, limit, after } = bodyOf(context, searchBody);
  if (filterGroups.reduce((sum, { filters }) => sum + filters.length, 0) > mostFilters)
    throw invalid(`At most ${mostFilters} filters are allowed`);
  const from = after === '' ? 0 : Number(after);
  if (!Number.isInteger(from) || from < 0) throw invalid('after is not valid');
  if (from + limit > furthest) throw invalid(`Paging past ${furthest} results is not possible`);
  const known = context.store.properties[type];
  const named = [...filterGroups.flatMap(({ filters }) => filters), ...sorts].map(({ propertyName }) => propertyName);
  const unknown = named.find((name) => !known.has(name));
  if (unknown !== undefined) throw invalid(`There is no property named "${unknown}"`);

  const visibleUntil = context.now - context.settings.searchLagMs;
  const fits = (record: CrmRecord, one: Filter): boolean => {
    const property = known.get(one.propertyName);
    return property !== undefined && matches(property, record.properties.get(one.propertyName), one);
  };
  const found = [...context.store.records[type].values()].filter(
    (record) =>
      !record.archived &&
      record.updatedAt <= visibleUntil &&
      (filterGroups.length === 0 || filterGroups.some(({ filters }) => filters.every((one) => fits(record, one)))),
  );
  const [sort] = sorts;
  const property = known.get(sort?.propertyName ?? 'createdate');
  const sign = sort?.direction === 'DESCENDING' ? -1 : 1;
  const key = (record: CrmRecord): number | string =>
    property === undefined ? 0 : comparable(property, record.properties.get(property.name) ?? '');
  found.sort((a, b) => sign * compare(key(a), key(b)) || a.id - b.id);
  const { items, paging } = page(found, from, limit);
  const results = items.map((record) => viewRecord(context.store, record, { properties }, context.random));
  return ok({ total: found.length, results, ...paging });
}

function matches(property: Property, held: string | undefined, { operator, value }: Filter): boolean {
  if (operator === 'HAS_PROPERTY') return held !== undefined;
  if (value === undefined) throw invalid(`${operator} needs a value`);
  if (held === undefined) return false;
  const order = compare(comparable(property, held), comparable(property, value));
  switch (operator) {
    case 'LT':
      return order < 0;
    case 'LTE':
      return order <= 0;
    case 'GT':
      return order > 0;
    case 'GTE':
      return order >= 0;
    case 'EQ':
      return order === 0;
  }
}

/** Instants compare as epoch ms, as which filters give them. */
function comparable({ type }: Property, value: string): number | string {
  if (value === '') return Number.NEGATIVE_INFINITY;
  if (type === 'number') return Number(value);
  if (type !== 'datetime' && type !== 'date') return value;
  return /^-?\d{1,15}$/.test(value) ? Number(value) : Date.parse(value);
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
