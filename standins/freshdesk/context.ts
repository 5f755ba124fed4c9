import type { z } from 'zod';
import { jsonBody, Problem, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import type { FreshdeskAccount } from './account.ts';
import type { Agent, Ticket } from './definitions.ts';

interface FieldError {
  field: string;
  message: string;
  code: string;
}

export const invalid = (...errors: FieldError[]): Problem =>
  new Problem({ status: 400, body: { description: 'Validation failed', errors } });

export const problem = (status: number, code: string, message: string): Problem =>
  new Problem({ status, body: { code, message } });

/** Without a body. */
export const notFound = (): Problem => new Problem({ status: 404, body: '' });

export const denied = (): Problem => problem(403, 'access_denied', 'You are not authorized to perform this action.');

export function notAllowed(method: string): Problem {
  const message = `${method} method is not allowed. It should be one of these method(s): GET`;
  return new Problem({ status: 405, headers: { allow: 'GET' }, body: { code: 'method_not_allowed', message } });
}

/** @throws Problem 400, with an error for each property that is no good */
export function valid<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(given);
  if (error === undefined) return data as z.output<Schema>;
  throw invalid(
    ...error.issues.flatMap((issue): FieldError[] => {
      const at = issue.path.join('.');
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((key) => ({
          ...{ field: at === '' ? key : `${at}.${key}`, message: 'Unexpected/invalid field in request' },
          code: 'invalid_field',
        }));
      if (issue.code !== 'invalid_type') return [{ field: at, message: 'It is not valid', code: 'invalid_value' }];
      const code = issue.input === undefined ? 'missing_field' : 'datatype_mismatch';
      return [{ field: at, message: `It should be a/an ${issue.expected}`, code }];
    }),
  );
}

/** @throws Problem 400, 415 */
export function validBody<Schema extends z.ZodType>(req: StandinRequest, schema: Schema): z.output<Schema> {
  if (req.headers['content-type']?.startsWith('application/json') !== true)
    throw problem(415, 'unsupported_media_type', 'Content-Type header is set to an unsupported type.');
  const body = jsonBody(req);
  if (typeof body !== 'object' || body === null)
    throw problem(400, 'invalid_json', 'Request body has invalid json format');
  return valid(schema, body);
}

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  query: Record<string, string>;
  account: FreshdeskAccount;
  agent: Agent;
  now: number;
  /** What the call costs beside its one credit. */
  spend(credits: number): void;
}

/** Whether the key's agent may see it. */
export function sees({ agent: { id, scope, groupIds } }: Context, { groupId, responderId }: Ticket): boolean {
  return scope === 1 || responderId === id || (scope === 2 && groupId !== null && groupIds.includes(groupId));
}

/** One page as a bare array; `link` while there is more. @param view of a row; the rows come as they are without */
export function listed<Row extends object>(
  { req, query: { page = '1', per_page = '30' } }: Context,
  rows: readonly Row[],
  view: (row: Row) => object = (row) => row,
): StandinResponse {
  const [at, size] = [Number(page), Number(per_page)];
  const wrong = (field: string) =>
    invalid({ field, message: 'It should be a Positive Integer', code: 'invalid_value' });
  if (!Number.isInteger(at) || at < 1) throw wrong('page');
  if (!Number.isInteger(size) || size < 1 || size > 100) throw wrong('per_page');
  const next = new URLSearchParams(req.query);
  next.set('page', String(at + 1));
  const link = `<http://${req.headers.host ?? 'acme.freshdesk.com'}${req.path}?${next}>; rel="next"`;
  return {
    status: 200,
    headers: rows.length > at * size ? { link } : {},
    body: rows.slice((at - 1) * size, at * size).map(view),
  };
}
