import { z } from 'zod';
import { ok, type StandinResponse, toSecond } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { badRequest, type Context, idsOf, objectOf, paged, there } from './context.ts';
import type { KeyedField, User } from './definitions.ts';
import { viewJob } from './jobs.ts';
import { viewGroup, viewUser } from './views.ts';

const userBody = z.object({ user: z.looseObject({ user_fields: z.record(z.string(), z.unknown()).optional() }) });

export const otherRoutes: Route<Context>[] = [
  route('GET', '/api/v2/users/me', ({ user, base }) => ok({ user: viewUser(user, base) })),
  route('GET', '/api/v2/users/show_many', showUsers),
  route('PUT', '/api/v2/users/{id:\\d+}', (context, { id }) => updateUser(context, id)),
  route('GET', '/api/v2/groups', (context) => {
    const groups = [...context.store.groups.values()].map((group) => viewGroup(group, context.base));
    return ok(paged(context, 'groups', groups));
  }),
  route('GET', '/api/v2/job_statuses/show_many', showJobs),
  route('PUT', '/api/v2/users/update_many', updateManyUsers),
  route('GET', '/api/v2/account/settings', settings),
  route('GET', '/api/v2/oauth/tokens/current', currentToken),
];

function showUsers(context: Context): StandinResponse {
  const { store, base } = context;
  const users = idsOf(context).flatMap((id) => store.users.get(id) ?? []);
  const found = users.map((user) => viewUser(user, base));
  return ok({ users: found, next_page: null, previous_page: null, count: found.length });
}

/** User fields only, by key; 5 a minute per user and one a second for the account. */
function updateUser(context: Context, id: string | undefined): StandinResponse {
  context.limit([
    { key: `user-update:${id}`, limit: 5, windowMs: 60_000, name: 'users-update', what: 'updates of one user' },
    { key: 'user-updates', limit: 1, windowMs: 1_000, name: 'users-update-account', what: 'user updates' },
  ]);
  const user = there(context.store.users.get(Number(id)));
  const parsed = userBody.safeParse(objectOf(context.req));
  if (!parsed.success) throw badRequest('You passed an invalid value for the user attribute.');
  setUserFields(context, user, parsed.data.user.user_fields ?? {});
  return ok({ user: viewUser(user, context.base) });
}

function showJobs(context: Context): StandinResponse {
  const ids = (context.req.query.get('ids') ?? '').split(',').filter((id) => id !== '');
  if (ids.length === 0) throw badRequest('ids is required');
  if (ids.length > 100) throw badRequest('ids: at most 100 are allowed');
  const jobs = ids.flatMap((id) => {
    const job = context.jobs.get(id);
    return job === undefined ? [] : [viewJob(job, context.base)];
  });
  return ok({ job_statuses: jobs, next_page: null, previous_page: null, count: jobs.length });
}

function settings({ store }: Context): StandinResponse {
  return ok({
    settings: {
      active_features: { customer_satisfaction: store.admin.settings.customerSatisfaction, ticket_forms: true },
      api: { accepted_api_agreement: true, api_token_access: 'true' },
      tickets: { comments_public_by_default: true, tagging: true },
    },
  });
}

/** Tells about the bearer token itself; a legacy API token has no such record. */
function currentToken({ req, store, now }: Context): StandinResponse {
  const token = store.tokens.get((req.headers.authorization ?? '').replace(/^bearer /i, ''));
  const { userId, scopes, expiresAt } = there(token);
  return ok({ token: { id: 1, user_id: userId, scopes, expires_at: toSecond(expiresAt), used_at: toSecond(now) } });
}

const body = z.object({
  users: z
    .array(z.looseObject({ id: z.int().positive(), user_fields: z.record(z.string(), z.unknown()).optional() }))
    .min(1)
    .max(100),
});

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
