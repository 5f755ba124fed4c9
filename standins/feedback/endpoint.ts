import { Problem, type StandinResponse } from '../kit/message.ts';
import type { Account, Campaign } from './definitions.ts';
import type { Store } from './store.ts';
import { parseDay } from './zone.ts';

/** An error response of the service (specification 7): `detail` with a string, or parameter names with arrays of messages. */
export const problem = (
  status: number,
  body: string | Record<string, string[]>,
  headers: Record<string, string> = {},
): Problem => new Problem({ status, headers, body: typeof body === 'string' ? { detail: body } : body });

export const notFound = (): Problem => problem(404, 'Not found.');
export const noCampaign = (): Problem => problem(404, 'No Campaign matches the given query.');
export const forbidden = (): Problem => problem(403, 'You do not have permission to perform this action.');

/** One wrong parameter. */
export const invalid = (name: string, message: string): Problem => problem(400, { [name]: [message] });

export const notAChoice = (value: string): string =>
  `Select a valid choice. ${value} is not one of the available choices.`;

/** A request that has passed the general rules: path, key, method, body format. */
export interface Call {
  account: Account;
  store: Store;
  /** Path parameters, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Parsed JSON; undefined when there was no body. */
  body: unknown;
  /** Epoch milliseconds on the stand-in's clock. */
  now: number;
  /** The request's public address, for paging. */
  url: URL;
}

export interface Endpoint {
  /** The name under which calls are counted, whatever the wire form: "campaigns.list". */
  name: string;
  method: string;
  /** Relative to `/api`. `:id` and `:campaign` are digits, any other `:name` is one segment. */
  path: string;
  run(call: Call): StandinResponse;
}

export const endpoint = (name: string, method: string, path: string, run: Endpoint['run']): Endpoint => ({
  name,
  method,
  path,
  run,
});

/** A date parameter as day number; undefined when it wasn't given. */
export function dayParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const day = parseDay(text);
  if (day === undefined) throw invalid(name, 'Enter a valid date. Use YYYY-MM-DD.');
  return day;
}

/** The id of a feedback request, from a query, a path or a JSON body. */
export function longNumber(given: unknown, name: string): bigint {
  if (typeof given === 'string' && /^\d{1,40}$/.test(given)) return BigInt(given);
  if (typeof given === 'number' && Number.isSafeInteger(given)) return BigInt(given);
  throw invalid(name, 'A valid integer is required.');
}

/** Any other whole number: nothing but a request has a long id. */
export function wholeNumber(given: unknown, name: string): number {
  const number = Number(longNumber(given, name));
  if (Number.isSafeInteger(number)) return number;
  throw notFound();
}

/** For the campaign endpoints: a campaign that isn't there, is a draft or is another account's is 404. */
export function visibleCampaign(call: Call, id: number): Campaign {
  const campaign = call.store.campaigns.get(id);
  if (campaign === undefined || campaign.account !== call.account || campaign.state === 'draft') throw noCampaign();
  return campaign;
}

/** For operations on feedback requests: another account's campaign, or one that isn't active, is 403. */
export function activeCampaign(call: Call, id: number): Campaign {
  const campaign = call.store.campaigns.get(id);
  if (campaign === undefined) throw noCampaign();
  if (campaign.account !== call.account) throw forbidden();
  if (campaign.state === 'draft') throw noCampaign();
  if (campaign.state === 'inactive') throw forbidden();
  return campaign;
}

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
