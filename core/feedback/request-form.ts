import { type Contact, contactKey, normaliseContact } from '../contact.ts';
import { neverSent } from '../errors.ts';
import type { CustomValue } from '../mapping/field-value.ts';
import { isBlank } from '../visible-text.ts';
import type { InstantReader } from './instants.ts';
import type { Operations } from './operations.ts';

/* Builds requests and reads records in the forms of the table in `operations.ts`. Pure. */

/** A feedback request, whatever the service calls its fields. An empty text becomes null. `Instant`: the type of instants. */
export interface FeedbackRequest<Instant = Date> {
  id: string;
  campaign: number | null;
  phone: string | null;
  email: string | null;
  identifier: string | null;
  scheduled: Instant | null;
  status: string | null;
  grade: number | null;
  comment: string | null;
  customFields: Record<string, unknown>;
}

/** Whether this is the status of a request that was cancelled before it was sent. */
export function isCancelled(status: string | null): boolean {
  return status !== null && /^cancel/i.test(status);
}

/** Whether the request shows no contact, or a mask in its place: the form of a mask is not specified. */
export function isMasked({ phone, email, identifier }: FeedbackRequest): boolean {
  if (phone === null && email === null && identifier === null) return true;
  const isNoPhone = phone !== null && !/\d{7}/.test(phone.replace(/[\s().-]/g, ''));
  const isNoEmail = email !== null && !/^[^*\s]+@[^*\s]+$/.test(email);
  const isNoIdentifier = identifier !== null && !/[\p{L}\p{N}]/u.test(identifier);
  return isNoPhone || isNoEmail || isNoIdentifier;
}

/** Whether the request goes to this contact. @param key the contact's key */
export function isTo(request: FeedbackRequest, key: string): boolean {
  const { phone, email, identifier } = request;
  return (
    (phone !== null && contactKey({ kind: 'phone', value: phone }) === key) ||
    (email !== null && contactKey({ kind: 'email', value: email }) === key) ||
    (identifier !== null && contactKey({ kind: 'identifier', value: identifier }) === key)
  );
}

export interface NewRequest {
  campaign: number;
  contact: Contact;
  /** When the service sends the request. Left out: after the campaign's `send_delay`. */
  scheduled?: Date | undefined;
  customFields: Readonly<Record<string, CustomValue>>;
}

/** `path` continues the base address and may hold a query. */
export interface CallForm {
  method: string;
  path: string;
  /** The body as JSON. Undefined: no body is sent, and no Content-Type. */
  body: JsonObject | undefined;
}

interface JsonObject {
  [key: string]: unknown;
}

/** A value and its place in the body; null: not sent. */
type Placed = readonly [place: string | null, value: unknown];

export function createForm(table: Operations, request: NewRequest): CallForm {
  const { method, path, body, constants } = table.create;
  const contact = normaliseContact(request.contact);
  const placed: Placed[] = [
    [body.campaign, request.campaign],
    [body[contact.kind], contact.value],
    [body.scheduled, request.scheduled?.toISOString()],
  ];
  if (Object.keys(request.customFields).length > 0) {
    placed.push([body.customFields, customFieldsForm(table, request.customFields)]);
  }
  return form(method, fill(path, { campaign: String(request.campaign) }), constants, placed);
}

/** The call of an operation on one feedback request. */
export function commandForm(
  { method, path, body, constants }: Pick<Operations['get'], 'method' | 'path' | 'body' | 'constants'>,
  id: string,
  ...given: Placed[]
): CallForm {
  return form(method, fill(path, { id }), constants, [[body.id, id], ...given]);
}

/**
 * A query for the list of feedback requests. Only `campaign` and paging are specified: the other filters are sent only where
 * `list.filters` names a parameter for them, so the caller still has to check each record.
 */
export interface RequestQuery {
  campaign?: number | undefined;
  /** Where to begin in the list; the first page is 1. */
  page?: number | undefined;
  /** YYYY-MM-DD, like the two below. */
  changedSince?: string | undefined;
  dateFrom?: string | undefined;
  dateTo?: string | undefined;
  contact?: Contact | undefined;
  status?: string | undefined;
}

/** The day before an instant, for the dates of a query: a day of margin, as the service's days are in its own time zone. */
export function dayBefore(at: Date): string {
  return new Date(at.getTime() - 86_400_000).toISOString().slice(0, 10);
}

/** Query parameters of GET /appeals/, in order. */
export function listParameters(table: Operations, query: RequestQuery): [name: string, value: string][] {
  const values: Record<string, string | undefined> = {
    '{campaign}': query.campaign?.toString(),
    '{changedSince}': query.changedSince,
    '{dateFrom}': query.dateFrom,
    '{dateTo}': query.dateTo,
    '{contact}': query.contact === undefined ? undefined : normaliseContact(query.contact).value,
    '{status}': query.status,
  };
  const parameters: [string, string][] = [];
  if (query.campaign !== undefined) parameters.push(['campaign', String(query.campaign)]);
  if (query.page !== undefined && query.page > 1) parameters.push(['page', String(query.page)]);
  for (const [name, template] of Object.entries(table.list.filters)) {
    const needed = template.match(/\{[^}]*\}/g) ?? [];
    if (needed.some((placeholder) => values[placeholder] === undefined)) continue;
    parameters.push([name, template.replace(/\{[^}]*\}/g, (placeholder) => values[placeholder] ?? '')]);
  }
  return parameters;
}

type ParsedRecord<Instant = Date> =
  | { ok: true; request: FeedbackRequest<Instant> }
  /** The service's names of the wrong places, and the expected kind of value; never a value. */
  | { ok: false; mismatches: string[] };

/**
 * Reads records, one after the other.
 * @param at the place of the record within the response: `create.record`, `get.record` or `list.record`
 */
export function recordReader<Instant>(
  table: Operations,
  at: string,
  instantOf: InstantReader<Instant>,
): (answer: unknown) => ParsedRecord<Instant> {
  const places = table.record;
  const named = areNames(places) ? places : undefined;
  return (answer) => {
    const raw = valueAt(answer, at);
    const values = named !== undefined && isObject(raw) ? valuesNamed(raw, named) : valuesAt(raw, places);
    const read = {
      id: idIn(values.id),
      campaign: numberIn(values.campaign),
      phone: textIn(values.phone),
      email: textIn(values.email),
      identifier: textIn(values.identifier),
      scheduled: instantOf(values.scheduled),
      status: textIn(values.status),
      grade: numberIn(values.grade),
      comment: textIn(values.comment),
      customFields: customFieldsIn(values.customFields, table),
    };
    if (isWhole(read)) return { ok: true, request: read };
    const wrong = Object.entries(places).filter(([name]) => Reflect.get(read, name) === undefined);
    return { ok: false, mismatches: wrong.map(([, place]) => [at, place].filter(Boolean).join('.')) };
  };
}

type FieldPlaces = Operations['record'];

/** The values of a record, not checked yet. */
type Values = Record<keyof FieldPlaces, unknown>;

function valuesAt(raw: unknown, places: FieldPlaces): Values {
  const of = (place: string | null) => (place === null ? undefined : valueAt(raw, place));
  return {
    id: of(places.id),
    campaign: of(places.campaign),
    phone: of(places.phone),
    email: of(places.email),
    identifier: of(places.identifier),
    scheduled: of(places.scheduled),
    status: of(places.status),
    grade: of(places.grade),
    comment: of(places.comment),
    customFields: of(places.customFields),
  };
}

/** Whether all values are in the record's top level, under names that no object inherits. */
function areNames(places: FieldPlaces): places is Record<keyof FieldPlaces, string> {
  return Object.values(places).every((place) => place && !place.includes('.') && !(place in Object.prototype));
}

/**
 * As `valuesAt`, for records with all values in the top level, at a third of the cost: V8 caches for each line the name that it read
 * last.
 */
function valuesNamed(raw: JsonObject, places: Record<keyof FieldPlaces, string>): Values {
  return {
    id: raw[places.id],
    campaign: raw[places.campaign],
    phone: raw[places.phone],
    email: raw[places.email],
    identifier: raw[places.identifier],
    scheduled: raw[places.scheduled],
    status: raw[places.status],
    grade: raw[places.grade],
    comment: raw[places.comment],
    customFields: raw[places.customFields],
  };
}

type Read<Instant> = { [Name in keyof FeedbackRequest<Instant>]: FeedbackRequest<Instant>[Name] | undefined };

/** Whether each value was read. The values are named one by one, as a loop takes longer and exports have millions of records. */
function isWhole<Instant>(read: Read<Instant>): read is FeedbackRequest<Instant> {
  const { id, campaign, phone, email, identifier, scheduled, status, grade, comment, customFields } = read;
  const isSent = id !== undefined && campaign !== undefined && scheduled !== undefined && status !== undefined;
  const isTo = phone !== undefined && email !== undefined && identifier !== undefined;
  return isSent && isTo && grade !== undefined && comment !== undefined && customFields !== undefined;
}

// Each function reads a value of the response: null if there is none, undefined if the value is of another kind.

/** A text, or a whole number. `jsonBody` gives a number beyond 2^53 as text, as a rounded number would be the id of another request. */
function idIn(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  return typeof value === 'string' && value !== '' && !/^-\d+$/.test(value) ? value : undefined;
}

/** Some services send decimals as text. No campaign and no grade is beyond 2^53, where numbers are rounded. */
function numberIn(value: unknown): number | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^-?\d+(?:\.\d+)?$/.test(value)) return undefined;
  return Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER ? Number(value) : undefined;
}

/** An invisible text, null and an absent key all mean that there is no text. */
function textIn(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  return isBlank(value) ? null : value;
}

function customFieldsIn(value: unknown, table: Operations): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) return isObject(value) ? value : undefined;
  const { name, value: held } = table.customFields;
  const named = value.map((entry): [unknown, unknown] => [valueAt(entry, name), valueAt(entry, held)]);
  return Object.fromEntries(named.flatMap(([key, one]) => (typeof key === 'string' ? [[key, one]] : [])));
}

function customFieldsForm(table: Operations, values: NewRequest['customFields']): unknown {
  const { layout, name, value } = table.customFields;
  if (layout === 'object') return { ...values };
  return Object.entries(values).map(([key, held]) =>
    bodyOf([
      [name, key],
      [value, held],
    ]),
  );
}

function form(method: string, path: string, constants: Readonly<Record<string, unknown>>, placed: Placed[]): CallForm {
  const body = bodyOf([...Object.entries(constants), ...placed]);
  return { method, path, body: Object.keys(body).length === 0 ? undefined : body };
}

function bodyOf(placed: readonly Placed[]): JsonObject {
  const body: JsonObject = {};
  for (const [place, value] of placed) if (place !== null && value !== undefined) put(body, place, value);
  return body;
}

/** `place` comes from the checked table, so it can't name a prototype. With '' the value's own keys are put beside the other keys. */
function put(body: JsonObject, place: string, value: unknown): void {
  if (place === '') {
    if (isObject(value)) for (const [key, held] of Object.entries(value)) define(body, key, held);
    return;
  }
  const path = place.split('.');
  const last = path.pop() ?? place;
  let at = body;
  for (const segment of path) {
    const next = at[segment];
    const inner: JsonObject = isObject(next) ? next : {};
    at[segment] = inner;
    at = inner;
  }
  define(at, last, value);
}

/** Sets a property. A custom field may have any name, `__proto__` included. */
function define(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, writable: true });
  else target[key] = value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueAt(root: unknown, place: string): unknown {
  if (place === '') return root;
  if (!place.includes('.')) return isObject(root) && Object.hasOwn(root, place) ? root[place] : undefined;
  let at = root;
  for (const segment of place.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, segment)) return undefined;
    at = at[segment];
  }
  return at;
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/:([A-Za-z]\w*)/g, (_whole, name: string) => pathSegment(values[name] ?? ''));
}

/** An empty value or a dot segment, encoded or not, would change the path. */
function pathSegment(value: string): string {
  if (value !== '' && value !== '.' && value !== '..' && value.isWellFormed()) return encodeURIComponent(value);
  const message = 'The id of the feedback request is empty or one that no address can name: give the id of its record.';
  throw neverSent(message, 'permanent');
}
