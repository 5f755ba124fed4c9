import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { jsonBody, ok, Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import type { HubspotAccount } from './account.ts';
import { type CrmRecord, type ObjectType, objectTypeOf, type Settings, type Source } from './definitions.ts';
import type { Store } from './store.ts';
import { shuffled } from './views.ts';

/** The correlation id is added where the answer leaves. */
export const problem = (
  status: number,
  category: string,
  message: string,
  more: Record<string, unknown> = {},
): Problem => new Problem({ status, body: { status: 'error', message, category, ...more } });

export const notFound = (message = 'resource not found'): Problem => problem(404, 'OBJECT_NOT_FOUND', message);

export const invalid = (message: string, more: Record<string, unknown> = {}): Problem =>
  problem(400, 'VALIDATION_ERROR', message, more);

export const unauthenticated = (): Problem =>
  problem(
    401,
    'INVALID_AUTHENTICATION',
    'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
  );

export const missingScopes = (scopes: readonly string[]): Problem =>
  problem(403, 'MISSING_SCOPES', "This app hasn't been granted all required scopes to make this call.", {
    errors: [
      { message: 'One or more of the following scopes are required.', context: { requiredGranularScopes: scopes } },
    ],
  });

/** Has no `category`: the older shape, which this error still has. */
export function rateLimited(policyName: string): Problem {
  const message = `You have reached your ${policyName.toLowerCase()} limit.`;
  const body = { status: 'error', message, errorType: 'RATE_LIMIT', policyName, requestId: randomUUID() };
  return new Problem({ status: 429, body });
}

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  now: number;
  random: () => number;
  account: HubspotAccount;
  /** Of the token; null: all. */
  scopes: readonly string[] | null;
  /** How the app's own writes are marked. */
  source: Source;
  settings: Settings;
  /** @throws Problem 403 unless the token has one of these scopes */
  need: (...oneOf: string[]) => void;
  /** Tells the webhooks that a property of a record changed. */
  changed: (record: CrmRecord, names: readonly string[], source: Source) => void;
}

/** @throws Problem 415 unless JSON is announced, 400 for a body of another shape */
export function bodyOf<Schema extends z.ZodType>({ req }: Context, schema: Schema): z.output<Schema> {
  if (req.headers['content-type']?.toLowerCase().startsWith('application/json') !== true) {
    throw problem(415, 'INVALID_CONTENT_TYPE', 'The content type must be application/json');
  }
  const parsed = schema.safeParse(jsonBody(req));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw invalid(`Invalid input JSON: ${place === '' ? 'the body' : `"${place}"`} ${issue?.message ?? 'is not valid'}`);
}

/** @throws Problem 404 for an object type that isn't there */
export function typeOf(text: string | undefined): ObjectType {
  const type = objectTypeOf(text ?? '');
  if (type === undefined) throw notFound('Unable to infer object type from: the path');
  return type;
}

/** Scopes that allow reading (or writing) a type. Tickets have one scope for everything. */
export function scopeFor(type: ObjectType, to: 'read' | 'write'): string {
  return type === 'tickets' ? 'tickets' : `crm.objects.${type}.${to}`;
}

/** @throws Problem 400: there are no inputs, or too many */
export function checkSize({ length }: readonly unknown[], most: number): void {
  if (length === 0 || length > most) throw invalid(`The number of inputs must be between 1 and ${most}`);
}

/** The results come in no particular order. A response with errors beside the results has status 207. */
export function batchAnswer({ now, random }: Context, results: object[], errors: object[] = []): StandinResponse {
  const at = new Date(now).toISOString();
  const body = { status: 'COMPLETE', results: shuffled(results, random), startedAt: at, completedAt: at };
  return errors.length === 0 ? ok(body) : { status: 207, body: { ...body, numErrors: errors.length, errors } };
}

/** One page of a list, from a place on. `paging` is there if another page follows. */
export function page<Item>(items: readonly Item[], from: number, limit: number) {
  const until = from + limit;
  const paging = until < items.length && { paging: { next: { after: String(until) } } };
  return { items: items.slice(from, until), paging: paging || {} };
}
