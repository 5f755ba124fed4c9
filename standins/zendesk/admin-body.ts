import type { z } from 'zod';
import type { Context } from './context.ts';
import { badRequest, forbidden } from './problem.ts';
import { objectOf } from './ticket-body.ts';

/** @throws Problem 403 */
export function adminOnly({ user }: Context): void {
  if (user.role !== 'admin') throw forbidden();
}

/** What stands under `key` in the body. @throws Problem 400 */
export function bodyOf<Schema extends z.ZodType>({ req }: Context, key: string, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(objectOf(req)[key]);
  if (parsed.success) return parsed.data;
  const path = [key, ...(parsed.error.issues[0]?.path ?? [])].join('.');
  throw badRequest(`You passed an invalid value for the ${path} attribute.`);
}
