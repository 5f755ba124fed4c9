import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ok, type StandinResponse, toSecond } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { adminOnly, badRequest, bodyOf, type Context, forbidden, paged, there } from './context.ts';
import type { Webhook } from './definitions.ts';
import { eventPrefix } from './webhooks.ts';

const connected = 'conditional_ticket_events';

/** Source: Zendesk's catalogue of ticket events. There is no `updated`, `solved` or `closed`. */
const ticketEvents = new Set(
  `agent_assignment_changed attachment_linked_to_comment attachment_redacted_from_comment brand_changed comment_added
  comment_made_private comment_redacted created csat_received csat_requested custom_field_changed custom_status_changed
  description_changed email_ccs_changed external_id_changed followers_changed form_changed group_assignment_changed
  marked_as_spam merged next_sla_breach_changed ola_policy_changed organization_changed permanently_deleted
  priority_changed problem_link_changed requester_changed schedule_changed sla_policy_changed soft_deleted status_changed
  subject_changed submitter_changed tags_changed task_due_at_changed type_changed undeleted`.split(/\s+/),
);

const fields = {
  name: z.string().min(1),
  description: z.string().optional(),
  endpoint: z.url({ protocol: /^https?$/ }),
  http_method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  request_format: z.enum(['json', 'xml', 'form_encoded']),
  status: z.enum(['active', 'inactive']),
  subscriptions: z.array(z.string()).min(1).optional(),
  authentication: z.record(z.string(), z.unknown()).optional(),
  custom_headers: z.record(z.string(), z.string()).optional(),
};

export const webhookRoutes: Route<Context>[] = [
  route('GET', '/api/v2/webhooks', list),
  route('POST', '/api/v2/webhooks', create),
  route('PATCH', '/api/v2/webhooks/{id}', update),
  route('GET', '/api/v2/webhooks/{id}/signing_secret', (context, { id }) => {
    const secret = webhookOf(context, id).secrets.at(-1);
    return ok({ signing_secret: { algorithm: 'SHA256', secret } });
  }),
  route('GET', '/api/v2/webhooks/{id}/invocations', invocations),
];

function list(context: Context): StandinResponse {
  adminOnly(context);
  const { query } = context.req;
  const name = query.get('filter[name_contains]') ?? '';
  const status = query.get('filter[status]');
  const found = context.store.webhooks
    .filter((webhook) => webhook.name.includes(name))
    .filter((webhook) => status === null || (status === 'active') === webhook.active);
  return ok(cursorPaged(context, 'webhooks', found.map(viewWebhook)));
}

/** These lists know cursor paging only. */
function cursorPaged(context: Context, key: string, items: readonly object[]): object {
  if (!context.req.query.has('page[size]')) context.req.query.set('page[size]', '100');
  return paged(context, key, items);
}

function create(context: Context): StandinResponse {
  adminOnly(context);
  const { store } = context;
  if (store.admin.settings.trial && store.webhooks.length >= 10) throw forbidden();
  const { name, endpoint, http_method, request_format, status, subscriptions, custom_headers } = bodyOf(
    context,
    'webhook',
    z.strictObject(fields),
  );
  if (custom_headers !== undefined && !endpoint.startsWith('https:')) {
    throw badRequest('custom_headers need an https endpoint');
  }
  checkSubscriptions(context, subscriptions ?? [], http_method, request_format);
  const webhook = context.addWebhook({
    name,
    url: endpoint,
    httpMethod: http_method,
    requestFormat: request_format,
    subscriptions: subscriptions ?? [],
    active: status === 'active',
    secrets: [randomBytes(32).toString('base64')],
  });
  return { status: 201, body: { webhook: viewWebhook(webhook) } };
}

function checkSubscriptions(
  { store }: Context,
  subscriptions: readonly string[],
  method: string,
  format: string,
): void {
  const events = subscriptions.filter((one) => one !== connected);
  if (events.length === 0) return;
  if (events.length < subscriptions.length)
    throw badRequest('A webhook subscribed to events is not connected to triggers.');
  if (method !== 'POST' || format !== 'json') throw badRequest('A webhook subscribed to events is POST and json.');
  const unknown = events.filter((one) => {
    const ticket = one.startsWith(`${eventPrefix}ticket.`);
    if (!ticket) return !one.startsWith(eventPrefix);
    return !store.admin.settings.ticketEvents || !ticketEvents.has(one.slice(`${eventPrefix}ticket.`.length));
  });
  if (unknown.length > 0) throw badRequest(`subscriptions: ${unknown.join(', ')} is not a supported event type`);
}

/** The connection method can't be changed. */
function update(context: Context, { id }: Params): StandinResponse {
  const webhook = webhookOf(context, id);
  const body = bodyOf(context, 'webhook', z.strictObject(fields).partial());
  const { name, endpoint, http_method, request_format, status, subscriptions } = body;
  if (subscriptions !== undefined) {
    if (subscriptions.includes(connected) !== webhook.subscriptions.includes(connected))
      throw badRequest('The connection method of a webhook can not be changed.');
    checkSubscriptions(
      context,
      subscriptions,
      http_method ?? webhook.httpMethod,
      request_format ?? webhook.requestFormat,
    );
    webhook.subscriptions = subscriptions;
  }
  if (name !== undefined) webhook.name = name;
  if (endpoint !== undefined) webhook.url = endpoint;
  if (http_method !== undefined) webhook.httpMethod = http_method;
  if (request_format !== undefined) webhook.requestFormat = request_format;
  if (status !== undefined) webhook.active = status === 'active';
  return { status: 204 };
}

/** Seven days of deliveries. */
function invocations(context: Context, { id }: Params): StandinResponse {
  const webhook = webhookOf(context, id);
  const { query } = context.req;
  const status = query.get('filter[status]');
  const recent = webhook.invocations
    .filter((one) => one.at > context.now - 7 * 86_400_000)
    .filter((one) => status === null || one.status === status)
    .sort((a, b) => (query.get('sort') === '-latest_completed_at' ? b.at - a.at : a.at - b.at))
    .map((one) => ({
      id: one.id,
      webhook_id: webhook.id,
      status: one.status,
      created_at: toSecond(one.at),
      latest_completed_at: toSecond(one.at),
    }));
  return ok(cursorPaged(context, 'invocations', recent));
}

function webhookOf(context: Context, id: string | undefined): Webhook {
  adminOnly(context);
  return there(context.store.webhooks.find((candidate) => candidate.id === id));
}

function viewWebhook({ id, name, url, active, subscriptions, httpMethod, requestFormat }: Webhook): object {
  return {
    id,
    name,
    endpoint: url,
    http_method: httpMethod,
    request_format: requestFormat,
    status: active ? 'active' : 'inactive',
    subscriptions,
  };
}
