import { refOf } from '../journey/refs.ts';
import { journeyPath } from '../operations/page-addresses.ts';
import type { Place } from '../support/journey-pages.ts';

/** Of a journey's page. */
export function journeyAt(source: string, id: string, action = ''): string {
  return `${journeyPath(refOf(source, id))}${action === '' ? '' : `/${action}`}`;
}

/** Of the answer why about a journey's customer. */
export function whyAt(ref: string): string {
  return `/why?${new URLSearchParams({ journey: ref })}`;
}

/** Of an erasure's page: no personal data is in it. */
export function erasureAt(source: string, id: string): string {
  return `/people/erasures/${source}/${encodeURIComponent(id)}`;
}

/** With a query: what is left out, or empty, is not in it. */
export function pathTo(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Of a page of the list. */
export function listAt(query: Readonly<Record<string, string | undefined>>): string {
  return pathTo('/journeys', query);
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of the answers that fit this filter. @param values of custom fields, by name */
export function answersAt(query: Query, values: Query = {}): string {
  const fields = Object.entries(values).map(([field, value]) => [`${fieldPrefix}${field}`, value] as const);
  return pathTo('/answers', { ...query, ...Object.fromEntries(fields) });
}

/** Before the name of a custom field in an address. */
export const fieldPrefix = 'in.';

/** The address of a follow-up's page, or of a deed on it. */
export function followUpAt(source: string, id: string, action = ''): string {
  return `/follow-ups/${source}/${encodeURIComponent(id)}${action === '' ? '' : `/${action}`}`;
}

export function writePlace({ at, ref }: Place): string {
  return `${at}~${ref}`;
}

/** Undefined for what `writePlace` has not written. */
export function readPlace(text: string | undefined): Place | undefined {
  const [, at, ref] = /^(\d{1,16})~(.+)$/s.exec(text ?? '') ?? [];
  return at === undefined || ref === undefined ? undefined : { at: Number(at), ref };
}

/** Of the page to log in, which leads to `to` afterwards. */
export function loginAt(to: string): string {
  return to === '/' ? '/login' : `/login?${new URLSearchParams({ to })}`;
}

const here = 'http://page.invalid';

/** The part of an address that stays on this page, whatever somebody has put into it: `/` for one that leads elsewhere. */
export function localAddress(to: string): string {
  const url = URL.parse(to, here);
  return url?.origin === here ? `${url.pathname.replace(/^\/+/, '/')}${url.search}` : '/';
}
