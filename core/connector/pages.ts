import type { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import type { ResponseHeaders } from '../ports.ts';
import type { VendorAccount, VendorApi, VendorCall } from './vendor-api.ts';

/** The most pages of a list that is read to its end. */
const mostPages = 10_000;
/** The longest cursor or address: all cursors are kept in memory while the list is read. */
export const longestNext = 8_192;

/**
 * Guards the reading of a list against a vendor that names the same next page again, or new pages without end. Call it with the
 * cursor or address of each next page.
 * @param list for the message: 'Zendesk acme: audits'
 * @throws CloseloopError permanent
 */
export function pageWatch(list: string, most = mostPages): (next: string) => void {
  const seen = new Set<string>();
  return (next) => {
    if (next.length > longestNext) throw endless(list, `are called by more than ${longestNext} characters`);
    if (seen.has(next)) throw endless(list, 'lead in a circle');
    if (seen.size >= most) throw endless(list, `have no end (${most} so far)`);
    seen.add(next);
  };
}

type Address = Pick<VendorAccount, 'name' | 'baseUrl'>;

/**
 * Reads one page of a list whose responses name the next page in a `Link` header (RFC 8288). Returns the page and the path of the next page,
 * undefined after the last. @throws CloseloopError permanent for a next page at another address, to which no credentials may go
 */
export async function linkedPage<S extends z.ZodType>(
  api: VendorApi,
  account: Address,
  call: VendorCall,
  schema: S,
): Promise<{ page: z.output<S>; next: string | undefined }> {
  const response = await api.exchange(call);
  await api.accept(call, response);
  return { page: api.parse(call, response, schema), next: nextPath(response.headers, account, call.path) };
}

/** Reads every page of a list with `Link` headers. */
export async function* linkedPages<S extends z.ZodType>(
  api: VendorApi,
  account: Address,
  call: VendorCall,
  schema: S,
): AsyncGenerator<z.output<S>> {
  const watch = pageWatch(account.name);
  for (let path: string | undefined = call.path; path !== undefined; ) {
    const found: { page: z.output<S>; next: string | undefined } = await linkedPage(
      api,
      account,
      { ...call, path },
      schema,
    );
    if (found.next !== undefined) watch(found.next);
    yield found.page;
    path = found.next;
  }
}

/** The path in `rel="next"`, relative to the base address. */
function nextPath(headers: ResponseHeaders, { name, baseUrl }: Address, path: string): string | undefined {
  const links = [...(headers.get('link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g)];
  const [, target] = links.find(([, , parameters = '']) => isNext.test(parameters)) ?? [];
  if (target === undefined) return undefined;
  const address = URL.parse(target, baseUrl + path);
  const base = new URL(baseUrl);
  const root = base.pathname.replace(/\/$/, '');
  if (address?.origin !== base.origin || !address.pathname.startsWith(`${root}/`))
    throw endless(name, 'lead elsewhere');
  return address.pathname.slice(root.length) + address.search;
}

const isNext = /;\s*rel\s*=\s*(?:next(?=[\s;,]|$)|"(?:[^"]*\s)?next(?:\s[^"]*)?")/i;

/**
 * Every entry of a list with numbered pages (from 1) that does not name its end: a page that is not full is the last. @param size the size of
 * a full page
 */
export async function numberedPages<Item>(
  list: string,
  size: number,
  read: (page: number) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let page = 1; page <= mostPages; page++) {
    const items = await read(page);
    found.push(...items);
    if (items.length < size) return found;
  }
  throw endless(list, `have no end (${mostPages} so far)`);
}

/** Requests the next page while the caller works on the last one. The caller has to read to the end. */
export async function* readAhead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  for (let next = iterator.next(); ; ) {
    const { done, value } = await next;
    if (done === true) return;
    next = iterator.next();
    // The next turn awaits this promise; the handler only prevents an unhandled rejection.
    next.catch(() => undefined);
    yield value;
  }
}

function endless(list: string, what: string): CloseloopError {
  return new CloseloopError(`${list}: its pages ${what}; the list is incomplete, and was given up.`, {
    kind: 'permanent',
  });
}
