import { z } from 'zod';
import type { Route } from '../router.ts';
import type { StandinResponse } from '../server.ts';
import type { Context } from './context.ts';
import { viewJob } from './jobs.ts';
import type { User, Webhook } from './model.ts';
import { idsOf, paged } from './paging.ts';
import { badRequest, forbidden, recordNotFound } from './problem.ts';
import { objectOf } from './ticket-body.ts';
import { viewCustomStatuses, viewField, viewGroup, viewOrganization, viewSystemFields, viewUser } from './views.ts';

const userBody = z.object({ user: z.looseObject({ user_fields: z.record(z.string(), z.unknown()).optional() }) });
const webhookBody = z.object({
  webhook: z.looseObject({
    name: z.string(),
    endpoint: z.string(),
    http_method: z.string(),
    request_format: z.string(),
    status: z.enum(['active', 'inactive']),
    subscriptions: z.array(z.string()).default([]),
  }),
});

export const otherRoutes: Route<Context>[] = [
  {
    method: 'GET',
    template: '/api/v2/users/me',
    answer: ({ user, base }) => ({ status: 200, body: { user: viewUser(user, base) } }),
  },
  {
    method: 'GET',
    template: '/api/v2/users/show_many',
    answer: (context) => many(context, 'users', context.store.users, viewUser),
  },
  {
    method: 'GET',
    template: '/api/v2/users/{id:\\d+}',
    answer: (context, { id }) => ({ status: 200, body: { user: viewUser(userOf(context, id), context.base) } }),
  },
  { method: 'PUT', template: '/api/v2/users/{id:\\d+}', answer: (context, { id }) => updateUser(context, id) },
  {
    method: 'GET',
    template: '/api/v2/users/{id:\\d+}/identities',
    answer: (context, { id }) => ({ status: 200, body: paged(context, 'identities', identities(userOf(context, id))) }),
  },
  {
    method: 'GET',
    template: '/api/v2/groups',
    answer: (context) => ({
      status: 200,
      body: paged(
        context,
        'groups',
        [...context.store.groups.values()].map((group) => viewGroup(group, context.base)),
      ),
    }),
  },
  {
    method: 'GET',
    template: '/api/v2/groups/{id:\\d+}',
    answer: (context, { id }) => one(context, 'group', context.store.groups, id, viewGroup),
  },
  {
    method: 'GET',
    template: '/api/v2/organizations/show_many',
    answer: (context) => many(context, 'organizations', context.store.organizations, viewOrganization),
  },
  {
    method: 'GET',
    template: '/api/v2/organizations/{id:\\d+}',
    answer: (context, { id }) => one(context, 'organization', context.store.organizations, id, viewOrganization),
  },
  {
    method: 'GET',
    template: '/api/v2/ticket_fields',
    answer: (context) => ({
      status: 200,
      body: paged(
        context,
        'ticket_fields',
        [
          ...viewSystemFields(context.base),
          ...[...context.store.fields.values()].map((field) => viewField(field, context.base)),
        ],
        true,
      ),
    }),
  },
  {
    method: 'GET',
    template: '/api/v2/ticket_fields/{id:\\d+}',
    answer: (context, { id }) => one(context, 'ticket_field', context.store.fields, id, viewField),
  },
  {
    method: 'GET',
    template: '/api/v2/custom_statuses',
    answer: () => ({ status: 200, body: { custom_statuses: viewCustomStatuses() } }),
  },
  { method: 'GET', template: '/api/v2/job_statuses/show_many', answer: showJobs },
  { method: 'GET', template: '/api/v2/job_statuses/{id}', answer: showJob },
  {
    method: 'GET',
    template: '/api/v2/webhooks',
    answer: (context) => ({ status: 200, body: paged(context, 'webhooks', context.store.webhooks.map(viewWebhook)) }),
  },
  { method: 'POST', template: '/api/v2/webhooks', answer: createWebhook },
  {
    method: 'GET',
    template: '/api/v2/webhooks/{id}',
    answer: (context, { id }) => ({ status: 200, body: { webhook: viewWebhook(webhookOf(context, id)) } }),
  },
  { method: 'DELETE', template: '/api/v2/webhooks/{id}', answer: deleteWebhook },
  {
    method: 'GET',
    template: '/api/v2/webhooks/{id}/signing_secret',
    answer: (context, { id }) => ({
      status: 200,
      body: { signing_secret: { algorithm: 'SHA256', secret: webhookOf(context, id).secrets.at(-1) } },
    }),
  },
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
  return { status: 200, body: { [key]: found, next_page: null, previous_page: null, count: found.length } };
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
  return { status: 200, body: { [key]: view(item, context.base) } };
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
  for (const [key, value] of Object.entries(parsed.data.user.user_fields ?? {})) {
    if (Object.hasOwn(user.userFields, key)) user.userFields[key] = value;
  }
  user.updatedAt = context.now;
  return { status: 200, body: { user: viewUser(user, context.base) } };
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
  return { status: 200, body: { job_status: viewJob(job, context.base) } };
}

function showJobs(context: Context): StandinResponse {
  const ids = (context.req.query.get('ids') ?? '').split(',').filter((id) => id !== '');
  if (ids.length === 0) throw badRequest('ids is required');
  if (ids.length > 100) throw badRequest('ids: at most 100 are allowed');
  const jobs = ids.flatMap((id) => {
    const job = context.jobs.get(id);
    return job === undefined ? [] : [viewJob(job, context.base)];
  });
  return { status: 200, body: { job_statuses: jobs, next_page: null, previous_page: null, count: jobs.length } };
}

function webhookOf({ store, user }: Context, id: string | undefined): Webhook {
  if (user.role !== 'admin') throw forbidden();
  const webhook = store.webhooks.find((candidate) => candidate.id === id);
  if (webhook === undefined) throw recordNotFound();
  return webhook;
}

function createWebhook(context: Context): StandinResponse {
  if (context.user.role !== 'admin') throw forbidden();
  const parsed = webhookBody.safeParse(objectOf(context.req));
  if (!parsed.success) throw badRequest('You passed an invalid value for the webhook attribute.');
  const { name, endpoint, http_method, request_format, status, subscriptions } = parsed.data.webhook;
  const events = subscriptions.filter((one) => one !== 'conditional_ticket_events');
  if (
    events.length > 0 &&
    (http_method !== 'POST' || request_format !== 'json' || events.length < subscriptions.length)
  ) {
    throw badRequest('A webhook subscribed to events is POST and json, and not connected to triggers.');
  }
  const webhook = context.addWebhook({ name, url: endpoint, subscriptions, active: status === 'active' });
  return { status: 201, body: { webhook: viewWebhook(webhook) } };
}

function deleteWebhook(context: Context, { id }: Readonly<Record<string, string>>): StandinResponse {
  const webhook = webhookOf(context, id);
  context.store.webhooks = context.store.webhooks.filter((candidate) => candidate !== webhook);
  return { status: 204 };
}

function viewWebhook({ id, name, url, active, subscriptions }: Webhook): object {
  return {
    id,
    name,
    endpoint: url,
    http_method: 'POST',
    request_format: 'json',
    status: active ? 'active' : 'inactive',
    subscriptions,
  };
}
