import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { viewJob } from './jobs.ts';
import type { User } from './model.ts';
import { idsOf, paged } from './paging.ts';
import { badRequest, recordNotFound } from './problem.ts';
import { objectOf } from './ticket-body.ts';
import { setUserFields } from './user-endpoints.ts';
import { viewGroup, viewOrganization, viewUser } from './views.ts';

const userBody = z.object({ user: z.looseObject({ user_fields: z.record(z.string(), z.unknown()).optional() }) });

export const otherRoutes: Route<Context>[] = [
  route('GET', '/api/v2/users/me', ({ user, base }) => ok({ user: viewUser(user, base) })),
  route('GET', '/api/v2/users/show_many', (context) => many(context, 'users', context.store.users, viewUser)),
  route('GET', '/api/v2/users/{id:\\d+}', (context, { id }) =>
    ok({ user: viewUser(userOf(context, id), context.base) }),
  ),
  route('PUT', '/api/v2/users/{id:\\d+}', (context, { id }) => updateUser(context, id)),
  route('GET', '/api/v2/users/{id:\\d+}/identities', (context, { id }) =>
    ok(paged(context, 'identities', identities(userOf(context, id)))),
  ),
  route('GET', '/api/v2/groups', (context) =>
    ok(
      paged(
        context,
        'groups',
        [...context.store.groups.values()].map((group) => viewGroup(group, context.base)),
      ),
    ),
  ),
  route('GET', '/api/v2/groups/{id:\\d+}', (context, { id }) =>
    one(context, 'group', context.store.groups, id, viewGroup),
  ),
  route('GET', '/api/v2/organizations/show_many', (context) =>
    many(context, 'organizations', context.store.organizations, viewOrganization),
  ),
  route('GET', '/api/v2/organizations/{id:\\d+}', (context, { id }) =>
    one(context, 'organization', context.store.organizations, id, viewOrganization),
  ),
  route('GET', '/api/v2/job_statuses/show_many', showJobs),
  route('GET', '/api/v2/job_statuses/{id}', showJob),
];

function many<Item>(
  context: Context,
  key: string,
  map: ReadonlyMap<number, Item>,
  view: (item: Item, base: string) => object,
): StandinResponse {
  const found = idsOf(context).flatMap((id) => {
    const item = map.get(id);
    return item === undefined ? [] : [view(item, context.base)];
  });
  return ok({ [key]: found, next_page: null, previous_page: null, count: found.length });
}

function one<Item>(
  context: Context,
  key: string,
  map: ReadonlyMap<number, Item>,
  id: string | undefined,
  view: (item: Item, base: string) => object,
): StandinResponse {
  const item = map.get(Number(id));
  if (item === undefined) throw recordNotFound();
  return ok({ [key]: view(item, context.base) });
}

function userOf({ store }: Context, id: string | undefined): User {
  const user = store.users.get(Number(id));
  if (user === undefined) throw recordNotFound();
  return user;
}

/** User fields only, by key; 5 a minute per user and one a second for the account. */
function updateUser(context: Context, id: string | undefined): StandinResponse {
  context.limit([
    { key: `user-update:${id}`, limit: 5, windowMs: 60_000, name: 'users-update', what: 'updates of one user' },
    { key: 'user-updates', limit: 1, windowMs: 1_000, name: 'users-update-account', what: 'user updates' },
  ]);
  const user = userOf(context, id);
  const parsed = userBody.safeParse(objectOf(context.req));
  if (!parsed.success) throw badRequest('You passed an invalid value for the user attribute.');
  setUserFields(context, user, parsed.data.user.user_fields ?? {});
  return ok({ user: viewUser(user, context.base) });
}

function identities(user: User): object[] {
  const list = [
    { type: 'email', value: user.email, verified: user.verified },
    { type: 'phone_number', value: user.sharedPhoneNumber ? null : user.phone, verified: true },
  ];
  return list
    .filter((identity) => identity.value !== null)
    .map((identity, index) => ({
      id: user.id * 10 + index,
      user_id: user.id,
      ...identity,
      primary: true,
      deliverable_state: 'deliverable',
      undeliverable_count: 0,
    }));
}

function showJob(context: Context, { id }: Readonly<Record<string, string>>): StandinResponse {
  const job = context.jobs.get(id ?? '');
  if (job === undefined) throw recordNotFound();
  return ok({ job_status: viewJob(job, context.base) });
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
