import { z } from 'zod';
import { jsonBody, type StandinResponse } from '../kit/message.ts';
import type { Route } from '../kit/router.ts';
import { type Context, problem } from './context.ts';

/** What can be searched for, and as what. */
type Fields = Readonly<Record<string, 'text' | 'date' | 'flag' | 'number'>>;

interface Searchable {
  /** The answer's key. */
  key: string;
  fields: Fields;
  /** Fields that take `IN`. */
  lists: readonly string[];
  rows: readonly Record<string, unknown>[];
  searchBy: 'day' | 'second';
}

export const conversationFields: Fields = {
  id: 'text',
  created_at: 'date',
  updated_at: 'date',
  state: 'text',
  open: 'flag',
  'source.delivered_as': 'text',
  'statistics.last_close_at': 'date',
  'statistics.last_closed_by_id': 'text',
  'conversation_rating.replied_at': 'date',
  'conversation_rating.score': 'number',
};
/** Neither the ticket's state nor its company. */
export const ticketFields: Fields = {
  id: 'text',
  created_at: 'date',
  updated_at: 'date',
  open: 'flag',
  category: 'text',
};
export const contactFields: Fields = {
  id: 'text',
  email: 'text',
  external_id: 'text',
  role: 'text',
  updated_at: 'date',
};

const Single = z.strictObject({ field: z.string(), operator: z.string(), value: z.unknown() });
type Query = z.output<typeof Single> | { operator: 'AND' | 'OR'; value: Query[] };
const Query: z.ZodType<Query> = z.union([
  Single,
  z.strictObject({ operator: z.enum(['AND', 'OR']), value: z.lazy(() => z.array(Query)) }),
]);
const Body = z.strictObject({
  query: Query,
  pagination: z.strictObject({ per_page: z.int().min(1).optional(), starting_after: z.string().nullish() }).default({}),
  /** Taken, and ignored. */
  sort: z.unknown().optional(),
});

/** The endpoint of a search in what `searched` gives. */
export const searchRoute = (
  template: string,
  searched: (context: Context) => Omit<Searchable, 'searchBy'>,
): Route<Context> => ({
  method: 'POST',
  template,
  answer: (context) => search({ ...searched(context), searchBy: context.settings.searchBy }, jsonBody(context.req)),
});

/** A page of a search. Records that change meanwhile may come twice, or not. */
function search(what: Searchable, body: unknown): StandinResponse {
  const parsed = Body.safeParse(body);
  if (!parsed.success) throw problem(400, 'data_invalid', 'The query is malformed');
  const { query, pagination } = parsed.data;
  const { per_page: perPage = 20, starting_after: after } = pagination;
  if (perPage > 150) throw problem(400, 'invalid_per_page', 'per_page over 150');
  const matches = compile(query, what, 0);
  const found = what.rows.filter(matches);
  const start = after == null ? 0 : startOf(after);
  const page = found.slice(start, start + perPage);
  const end = start + perPage;
  const next = end < found.length && { next: { page: end / perPage + 1, starting_after: cursorOf(end) } };
  const pages = {
    type: 'pages',
    page: start / perPage + 1,
    per_page: perPage,
    total_pages: Math.ceil(found.length / perPage),
  };
  return {
    status: 200,
    body: { type: 'list', pages: { ...pages, ...next }, total_count: found.length, [what.key]: page },
  };
}

const cursorOf = (start: number): string => Buffer.from(`[${start}]`).toString('base64');

function startOf(cursor: string): number {
  const [, start] = /^\[(\d+)\]$/.exec(Buffer.from(cursor, 'base64').toString()) ?? [];
  if (start === undefined) throw problem(400, 'data_invalid', 'starting_after is invalid');
  return Number(start);
}

type Row = Record<string, unknown>;

/** Two levels, fifteen conditions in each group. */
function compile(query: Query, what: Searchable, depth: number): (row: Row) => boolean {
  if ('field' in query) return condition(query, what);
  if (depth >= 2 || query.value.length === 0 || query.value.length > 15)
    throw problem(400, 'data_invalid', 'Too many filters, or nested too deep');
  const all = query.value.map((one) => compile(one, what, depth + 1));
  return (row) => (query.operator === 'AND' ? all.every((is) => is(row)) : all.some((is) => is(row)));
}

function condition(
  { field, operator, value }: z.output<typeof Single>,
  { fields, lists, searchBy }: Searchable,
): (row: Row) => boolean {
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === undefined) throw problem(400, 'invalid_field', 'Field not searchable');
  const refuse = () => problem(400, 'data_invalid', 'Operator or value type not accepted');
  if (operator === 'IN') {
    if (!lists.includes(field) || !Array.isArray(value) || value.length > 100) throw refuse();
    return (row) => value.includes(at(row, field));
  }
  if (kind === 'date') {
    const bound = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).safeParse(value);
    if (!bound.success || !['=', '>', '<'].includes(operator)) throw refuse();
    const unit = (seconds: number) => (searchBy === 'day' ? Math.floor(seconds / 86_400) : seconds);
    return (row) => {
      const held = at(row, field);
      if (typeof held !== 'number') return false;
      const [a, b] = [unit(held), unit(bound.data)];
      return operator === '>' ? a > b : operator === '<' ? a < b : a === b;
    };
  }
  if (operator !== '=' && operator !== '!=') throw refuse();
  if (kind === 'flag' && typeof value !== 'boolean') throw refuse();
  if (kind === 'text' && typeof value !== 'string') throw refuse();
  return (row) => (at(row, field) === value) === (operator === '=');
}

const renamed: Readonly<Record<string, string>> = {
  'conversation_rating.replied_at': 'conversation_rating.updated_at',
  'conversation_rating.score': 'conversation_rating.rating',
};

function at(row: Row, field: string): unknown {
  return (renamed[field] ?? field)
    .split('.')
    .reduce<unknown>(
      (here, name) =>
        typeof here === 'object' && here !== null ? Object.entries(here).find(([key]) => key === name)?.[1] : undefined,
      row,
    );
}
