import type { Context } from './context.ts';
import { badRequest } from './problem.ts';

/**
 * A list as the vendor pages it: `page[size]` gives cursor paging (at most 100 a page), `page` or nothing offset paging.
 * `all`: without page parameters the whole list comes at once.
 */
export function paged(context: Context, key: string, items: readonly object[], all = false): object {
  const { query, path } = context.req;
  const size = query.get('page[size]');
  if (size !== null) {
    const limit = Number(size);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw badRequest('page[size] must be between 1 and 100');
    const after = query.get('page[after]');
    const from = after === null ? 0 : Number(Buffer.from(after, 'base64url').toString('utf8'));
    if (!Number.isInteger(from) || from < 0) throw badRequest('page[after] is not valid');
    const more = from + limit < items.length;
    const cursor = Buffer.from(String(from + limit)).toString('base64url');
    const next = `${context.base}${path}?page[size]=${limit}&page[after]=${cursor}`;
    return {
      [key]: items.slice(from, from + limit),
      meta: { has_more: more, after_cursor: more ? cursor : null, before_cursor: null },
      links: { next: more ? next : null, prev: null },
    };
  }
  if (all) return { [key]: items, next_page: null, previous_page: null, count: items.length };
  const page = Number(query.get('page') ?? '1');
  const perPage = Math.min(100, Number(query.get('per_page') ?? '100') || 100);
  if (!Number.isInteger(page) || page < 1 || page > 100)
    throw badRequest('Invalid page: offset paging stops at 100 pages');
  const more = page * perPage < items.length;
  const at = (number: number): string => `${context.base}${path}?page=${number}&per_page=${perPage}`;
  return {
    [key]: items.slice((page - 1) * perPage, page * perPage),
    next_page: more ? at(page + 1) : null,
    previous_page: page > 1 ? at(page - 1) : null,
    count: items.length,
  };
}

/** The ids of a show_many or update_many. @throws Problem 400 for none, for more than 100, and for what is no id */
export function idsOf(context: Context): number[] {
  const ids = (context.req.query.get('ids') ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  if (ids.length === 0) throw badRequest('ids is required');
  if (ids.length > 100) throw badRequest('ids: at most 100 are allowed');
  if (ids.some((text) => !/^\d+$/.test(text))) throw badRequest('ids must be numbers');
  return [...new Set(ids.map(Number))];
}
