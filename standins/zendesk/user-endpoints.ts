import { z } from 'zod';
import type { StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { KeyedField } from './admin.ts';
import type { Context } from './context.ts';
import { viewJob } from './jobs.ts';
import type { User } from './model.ts';
import { badRequest } from './problem.ts';
import { objectOf } from './ticket-body.ts';

const body = z.object({
  users: z
    .array(z.looseObject({ id: z.int().positive(), user_fields: z.record(z.string(), z.unknown()).optional() }))
    .min(1)
    .max(100),
});

export const userRoutes: Route<Context>[] = [route('PUT', '/api/v2/users/update_many', updateManyUsers)];

/** User fields only; what is wrong with a user shows in the job's result for them. */
function updateManyUsers(context: Context): StandinResponse {
  context.limit([
    { key: 'user-updates', limit: 1, windowMs: 1_000, name: 'users-update-account', what: 'user updates' },
  ]);
  const parsed = body.safeParse(objectOf(context.req));
  if (!parsed.success) throw badRequest('users must be an array of 1 to 100 objects that have an id');
  const work = parsed.data.users.map(({ id, user_fields = {} }, index) => () => {
    const user = context.store.users.get(id);
    if (user?.active !== true) return { index, id, success: false, error: 'UserNotFound', status: 'Failed' };
    if (!takesAll(context, user_fields)) return { index, id, success: false, error: 'RecordInvalid', status: 'Failed' };
    setUserFields(context, user, user_fields);
    return { index, id, action: 'update', status: 'Updated', success: true };
  });
  const { job, headers } = context.jobs.start(work, context.store.settings, context.sleep);
  return { status: 200, headers, body: { job_status: viewJob(job, context.base) } };
}

/** A number field refuses what is no number of its kind. */
function takesAll({ store }: Context, given: Readonly<Record<string, unknown>>): boolean {
  const whole = [...store.admin.userFields.values()].filter(({ type }) => type === 'integer');
  return whole.every(({ key }) => given[key] == null || Number.isInteger(Number(given[key])));
}

/** Unknown keys and option values that don't exist are dropped without a word. */
export function setUserFields({ store, clock }: Context, user: User, given: Readonly<Record<string, unknown>>): void {
  const fields = new Map([...store.admin.userFields.values()].map((field) => [field.key, field]));
  for (const [key, value] of Object.entries(given)) {
    const field = fields.get(key);
    const taken = field === undefined ? value : keyedValue(field, value);
    if (Object.hasOwn(user.userFields, key) && taken !== undefined) user.userFields[key] = taken;
  }
  user.updatedAt = clock();
}

/** What a field, found by its key, makes of a value; undefined where the value isn't taken. Dates come back with a time. */
export function keyedValue(field: KeyedField, value: unknown): unknown {
  if (!field.active) return undefined;
  if (value === null || value === '') return field.type === 'checkbox' ? false : null;
  switch (field.type) {
    case 'dropdown':
      return field.options.some((option) => option.value === value) ? value : undefined;
    case 'integer':
    case 'decimal':
      return Number.isFinite(Number(value)) ? Number(value) : undefined;
    case 'date':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? `${value.slice(0, 10)}T00:00:00+00:00`
        : undefined;
    default:
      return value;
  }
}
