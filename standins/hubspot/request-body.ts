import type { z } from 'zod';
import { jsonBody } from '../kit/message.ts';
import type { Context } from './context.ts';
import { type ObjectType, objectTypeOf } from './model.ts';
import { invalid, notFound, problem } from './problem.ts';

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
