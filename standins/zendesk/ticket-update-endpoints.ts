import { z } from 'zod';
import { ok, Problem, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { badRequest, type Context, idsOf, objectOf, recordInvalid } from './context.ts';
import { type Ticket, ticketDefinition } from './definitions.ts';
import { viewJob } from './jobs.ts';
import { checkStamp, readTicketBody, visibleTicket } from './ticket-body.ts';
import { changeTicket, type Patch } from './ticket-change.ts';
import { viewAudit, viewTicket } from './views.ts';

const one = '/api/v2/tickets/{id:\\d+}';
const tagsBody = z.object({
  tags: z.array(z.string()),
  safe_update: z.unknown().optional(),
  updated_stamp: z.string().optional(),
});
const failure = z.object({
  error: z.string(),
  description: z.string(),
  details: z.record(z.string(), z.array(z.object({ description: z.string() }))).optional(),
});

/** What can be written on tickets: one at a time, its tags alone, or many in a job. */
export const updateRoutes: Route<Context>[] = [
  route('POST', '/api/v2/tickets', createFollowUp),
  route('PUT', '/api/v2/tickets/update_many', updateMany),
  route('PUT', one, (context, { id }) => update(context, Number(id))),
  route('PUT', `${one}/tags`, (context, { id }) => addTags(context, Number(id))),
];

function update(context: Context, id: number): StandinResponse {
  takeUpdate(context, id);
  const ticket = visibleTicket(context.store, id);
  const body = objectOf(context.req);
  const { patch, warn, stamp } = readTicketBody(body.ticket, 'single');
  checkStamp(ticket, stamp);
  const audit = apply(context, ticket, patch);
  return {
    status: 200,
    headers: warning([...Object.keys(body).filter((key) => key !== 'ticket'), ...warn]),
    body: { ticket: viewTicket(context.store, ticket, context.base), audit },
  };
}

const creation = z.object({
  via_followup_source_id: z.number().int(),
  subject: z.string().default(''),
  tags: z.array(z.string()).default([]),
});

/** Two hours. */
const keyKeptMs = 7_200_000;

/** Only follow-ups of closed tickets. A key that came before gives the same ticket again, and with another body a 400. */
function createFollowUp(context: Context): StandinResponse {
  const { store, req } = context;
  const body = objectOf(req);
  const key = req.headers['idempotency-key'] ?? '';
  const before = key === '' ? undefined : store.created.get(key);
  if (before !== undefined && context.clock() - before.at < keyKeptMs) {
    if (before.body !== JSON.stringify(body))
      throw badRequest('Request parameters are different from the first request');
    const again = viewTicket(store, store.ticket(before.id), context.base);
    return { status: 201, headers: { 'x-idempotency-lookup': 'hit' }, body: { ticket: again } };
  }
  const given = z.record(z.string(), z.unknown()).safeParse(body.ticket).data ?? {};
  const parsed = creation.safeParse(given);
  if (!parsed.success) throw badRequest('this stand-in creates follow-up tickets only');
  const { via_followup_source_id: sourceId, ...wanted } = parsed.data;
  const source = visibleTicket(store, sourceId);
  if (source.status !== 'closed')
    throw recordInvalid({ via_followup_source_id: [{ description: 'Via followup source: is not closed' }] });
  const { via_followup_source_id: _, subject: _1, tags: _2, ...rest } = given;
  const { patch, warn } = readTicketBody(rest, 'single');
  const { requesterId, brandId, formId } = source;
  const followUp = { ...wanted, status: 'new', rel: 'follow_up', requesterId, brandId, formId };
  const made = store.addTicket(ticketDefinition.parse(followUp), context.clock());
  apply(context, made, patch);
  source.followUpIds.push(made.id);
  if (key !== '') store.created.set(key, { id: made.id, body: JSON.stringify(body), at: context.clock() });
  const headers = { ...warning(warn), ...(key !== '' && { 'x-idempotency-lookup': 'miss' }) };
  return { status: 201, headers, body: { ticket: viewTicket(store, made, context.base) } };
}

function addTags(context: Context, id: number): StandinResponse {
  takeUpdate(context, id);
  const ticket = visibleTicket(context.store, id);
  const body = objectOf(context.req);
  const parsed = tagsBody.safeParse(body);
  if (!parsed.success) throw badRequest('tags must be an array of strings');
  if (Object.hasOwn(body, 'safe_update')) checkStamp(ticket, parsed.data.updated_stamp ?? '');
  apply(context, ticket, { addTags: parsed.data.tags });
  return ok({ tags: ticket.tags });
}

/** `?ids=` with one `ticket`, or `tickets` with an id each; what is wrong with a ticket shows in its result only. */
function updateMany(context: Context): StandinResponse {
  const body = objectOf(context.req);
  const orders = context.req.query.has('ids')
    ? idsOf(context).map((id) => ({ id, ticket: body.ticket }))
    : perTicket(body.tickets);
  // Read once now, so that a malformed body is refused at once, and again per ticket in the job.
  const warn = orders.flatMap(({ ticket }) => readWarnings(ticket));
  const work = orders.map(
    ({ id, ticket }, index) =>
      () =>
        resultOf(context, id, ticket, index),
  );
  const { job, headers } = context.jobs.start(work, context.store.settings, context.sleep);
  return { status: 200, headers: { ...headers, ...warning(warn) }, body: { job_status: viewJob(job, context.base) } };
}

function perTicket(given: unknown): { id: number; ticket: unknown }[] {
  const parsed = z
    .array(z.looseObject({ id: z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]) }))
    .safeParse(given);
  if (!parsed.success || parsed.data.length === 0)
    throw badRequest('tickets must be an array of objects that have an id');
  if (parsed.data.length > 100) throw badRequest('tickets: at most 100 are allowed');
  return parsed.data.map((ticket) => ({ id: ticket.id, ticket }));
}

function readWarnings(ticket: unknown): string[] {
  try {
    return readTicketBody(ticket, 'bulk').warn;
  } catch (error) {
    if (error instanceof Problem && error.response.status !== 400) return [];
    throw error;
  }
}

function resultOf(context: Context, id: number, given: unknown, index: number): object {
  try {
    const ticket = visibleTicket(context.store, id);
    const { patch, stamp } = readTicketBody(given, 'bulk');
    checkStamp(ticket, stamp);
    apply(context, ticket, patch);
    return { index, id, action: 'update', status: 'Updated', success: true };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const {
      error: name,
      description,
      details,
    } = failure.catch({ error: 'BadRequest', description: 'Bad request' }).parse(error.response.body);
    const lines = Object.values(details ?? {})
      .flat()
      .map((line) => line.description);
    return {
      index,
      id,
      action: 'update',
      status: 'Failed',
      success: false,
      error: name,
      details: lines.length === 0 ? description : lines.join(' '),
    };
  }
}

/** 30 in 10 minutes per user and ticket, and the account's own budget of ticket updates per minute. */
function takeUpdate(context: Context, id: number): void {
  const { store, user } = context;
  context.limit([
    {
      key: 'ticket-updates',
      limit: store.settings.ticketUpdatesPerMinute,
      windowMs: 60_000,
      name: 'tickets-update',
      what: 'ticket updates',
    },
    {
      key: `ticket-update:${user.id}:${id}`,
      limit: 30,
      windowMs: 600_000,
      name: 'tickets-update-per-ticket',
      what: 'updates of one ticket',
    },
  ]);
}

function apply(context: Context, ticket: Ticket, patch: Patch): object {
  const { audit, happened } = changeTicket(
    context.store,
    ticket,
    patch,
    { userId: context.user.id, channel: 'api' },
    context.clock(),
  );
  context.announce(ticket, context.user.id, happened);
  return viewAudit(audit);
}

function warning(keys: readonly string[]): Record<string, string> {
  const unique = [...new Set(keys)];
  return unique.length === 0
    ? {}
    : {
        'x-zendesk-api-warn': `Removed restricted keys ${JSON.stringify(unique)} from parameters according to whitelist`,
      };
}
