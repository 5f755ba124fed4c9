import { refOf } from '../journey/refs.ts';
import { journeyPath } from '../operations/alerts/words.ts';
import type { Place } from '../support/journey-pages.ts';

/** The address of a journey's page, or of an action on it. */
export function journeyAt(source: string, id: string, action = ''): string {
  return `${journeyPath(refOf(source, id))}${action === '' ? '' : `/${action}`}`;
}

/** The address of the page that explains why a journey's customer was asked or not. */
export function whyAt(ref: string): string {
  return `/why?${new URLSearchParams({ journey: ref })}`;
}

/** The address of an erasure's page, without personal data. */
export function erasureAt(source: string, id: string): string {
  return `/people/erasures/${source}/${encodeURIComponent(id)}`;
}

/** Adds the query to the path, without empty values. */
export function pathTo(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The address of the list of journeys with this filter. */
export function listAt(query: Readonly<Record<string, string | undefined>>): string {
  return pathTo('/journeys', query);
}

/** The field that says that an action is meant for all journeys of its filter. */
export const allOf = 'all';

/** The address of the page on which a person confirms an action for all journeys that match the filter. */
export function manyAt(action: string, filter: Readonly<Record<string, string | undefined>>): string {
  return pathTo(`/many/${action}`, { ...filter, [allOf]: 'yes' });
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of the answers that fit this filter. @param values of custom fields, by name */
export function answersAt(query: Query, values: Query = {}): string {
  const fields = Object.entries(values).map(([field, value]) => [`${fieldPrefix}${field}`, value] as const);
  return pathTo('/answers', { ...query, ...Object.fromEntries(fields) });
}

/** The prefix of a custom field's name in a query. */
export const fieldPrefix = 'in.';

/** The address of a follow-up's page, or of an action on it. */
export function followUpAt(source: string, id: string, action = ''): string {
  return `/follow-ups/${source}/${encodeURIComponent(id)}${action === '' ? '' : `/${action}`}`;
}

export function writePlace({ at, ref }: Place): string {
  return `${at}~${ref}`;
}

/** Reads a place that `writePlace` wrote; undefined for any other text. */
export function readPlace(text: string | undefined): Place | undefined {
  const [, at, ref] = /^(\d{1,16})~(.+)$/s.exec(text ?? '') ?? [];
  return at === undefined || ref === undefined ? undefined : { at: Number(at), ref };
}

/** The address of the login page, which leads to `to` after the login. */
export function loginAt(to: string): string {
  return to === '/' ? '/login' : `/login?${new URLSearchParams({ to })}`;
}

const here = 'http://page.invalid';

/** The address without its host, or `/` where it leads to another host: a visitor may have put anything into it. */
export function localAddress(to: string): string {
  const url = URL.parse(to, here);
  return url?.origin === here ? `${url.pathname.replace(/^\/+/, '/')}${url.search}` : '/';
}
