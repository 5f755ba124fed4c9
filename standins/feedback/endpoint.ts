import type { StandinResponse } from '../kit/message.ts';
import type { Account, Campaign } from './model.ts';
import { forbidden, invalid, noCampaign, notFound } from './problem.ts';
import type { Store } from './store.ts';
import { parseDay } from './zone.ts';

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
