import { invalid, problem } from './problem.ts';

/** At most this many records per request (specification 8). */
export const pageSize = 1000;

export interface Page<Item> {
  count: number;
  next: string | null;
  previous: string | null;
  results: Item[];
}

/**
 * One page of `items`, in their order. Touches that page's items only.
 * A page after the last is 404, as for any object that isn't there; the specification shows no answer for it.
 * @param url The address of this very request; `next` and `previous` keep everything of it but the page.
 */
export function paged<From, Item>(items: readonly From[], url: URL, show: (item: From) => Item): Page<Item> {
  const asked = url.searchParams.get('page') ?? '1';
  if (!/^[1-9]\d{0,8}$/.test(asked)) throw invalid('page', 'A valid integer of at least 1 is required.');
  const page = Number(asked);
  const pages = Math.max(1, Math.ceil(items.length / pageSize));
  if (page > pages) throw problem(404, 'Invalid page.');
  const address = (other: number): string => {
    const result = new URL(url);
    result.searchParams.set('page', String(other));
    return result.href;
  };
  return {
    count: items.length,
    next: page < pages ? address(page + 1) : null,
    previous: page > 1 ? address(page - 1) : null,
    results: items.slice((page - 1) * pageSize, page * pageSize).map(show),
  };
}
