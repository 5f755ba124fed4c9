import { z } from 'zod';
import { toSecond } from '../kit/message.ts';
import { badRequest, recordInvalid, recordNotFound, updateConflict } from './context.ts';
import { statuses, type Ticket } from './definitions.ts';
import type { Store } from './store.ts';
import type { Patch } from './ticket-change.ts';

/** Keys that a ticket update knows. Keys on which this stand-in doesn't act are taken without effect. */
const known = new Set(
  `id subject comment status custom_status_id priority type requester_id assignee_id assignee_email group_id organization_id
  collaborator_ids additional_collaborators followers email_ccs external_id problem_id due_at tags custom_fields fields metadata
  safe_update updated_stamp brand_id ticket_form_id sharing_agreement_ids attribute_value_ids requester macro_ids`.split(
    /\s+/,
  ),
);
const bulkOnly = new Set(['additional_tags', 'remove_tags']);

const idLike = z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]);
const customFields = z.union([
  z.array(z.object({ id: idLike, value: z.unknown() })),
  z
    .record(z.string(), z.unknown())
    .transform((map) => Object.entries(map).map(([id, value]) => ({ id: Number(id), value }))),
]);
const ticketBody = z.object({
  subject: z.string().optional(),
  comment: z
    .union([
      z.string().transform((body) => ({ body, html_body: undefined, public: undefined, author_id: undefined })),
      z.object({
        body: z.string().optional(),
        html_body: z.string().optional(),
        public: z.boolean().optional(),
        author_id: idLike.optional(),
      }),
    ])
    .optional(),
  status: z.string().optional(),
  priority: z.string().nullable().optional(),
  type: z.string().nullable().optional(),
  requester_id: idLike.optional(),
  assignee_id: idLike.nullable().optional(),
  group_id: idLike.nullable().optional(),
  organization_id: idLike.nullable().optional(),
  external_id: z.string().nullable().optional(),
  tags: z.union([z.array(z.string()), z.string().transform((text) => text.split(/[\s,]+/))]).optional(),
  additional_tags: z.array(z.string()).optional(),
  remove_tags: z.array(z.string()).optional(),
  custom_fields: customFields.optional(),
  fields: customFields.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  safe_update: z.unknown().optional(),
  updated_stamp: z.string().optional(),
});

/** `warn`: top-level keys dropped without effect, for the header X-Zendesk-API-Warn. */
interface ReadBody {
  patch: Patch;
  warn: string[];
  /** Present when `safe_update` was sent, whatever its value: `false` counts as true. */
  stamp?: string;
}

/** @throws Problem 400 for a malformed body, 422 for values no ticket takes */
export function readTicketBody(given: unknown, form: 'single' | 'bulk'): ReadBody {
  const object = z.record(z.string(), z.unknown()).safeParse(given);
  if (!object.success)
    throw badRequest(
      'You passed an invalid value for the ticket attribute. Invalid parameter: ticket must be an object',
    );
  const dropped = Object.keys(object.data).filter((key) => !known.has(key) && !(form === 'bulk' && bulkOnly.has(key)));
  const kept = Object.fromEntries(Object.entries(object.data).filter(([key]) => !dropped.includes(key)));
  const parsed = ticketBody.safeParse(kept);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') ?? 'ticket';
    throw badRequest(`You passed an invalid value for the ${path} attribute.`);
  }
  const body = parsed.data;
  const status = oneOf('status', body.status, statuses);
  const priority = oneOf('priority', body.priority, ['low', 'normal', 'high', 'urgent'] as const);
  const type = oneOf('type', body.type, ['question', 'incident', 'problem', 'task'] as const);
  const fields = body.custom_fields ?? body.fields;
  const text = body.comment?.body ?? body.comment?.html_body;
  if (text !== undefined && text.length > 65_536)
    throw recordInvalid({ comment: [{ description: 'Comment: is too long' }] });
  const patch: Patch = {
    subject: body.subject,
    status: status ?? undefined,
    priority,
    type,
    requesterId: body.requester_id,
    assigneeId: body.assignee_id,
    groupId: body.group_id,
    organizationId: body.organization_id,
    externalId: body.external_id,
    tags: body.tags,
    addTags: body.additional_tags,
    removeTags: body.remove_tags,
    fields: fields?.map(({ id, value }) => ({ id, value: value ?? null })),
    metadata: body.metadata,
    comment: text ? { body: text, public: body.comment?.public, authorId: body.comment?.author_id } : undefined,
  };
  const safe = Object.hasOwn(object.data, 'safe_update');
  return { patch, warn: dropped, ...(safe ? { stamp: body.updated_stamp ?? '' } : {}) };
}

/** @throws Problem 404 */
export function visibleTicket(store: Store, id: number): Ticket {
  const ticket = store.tickets.get(id);
  if (ticket === undefined || ticket.gone !== 'no') throw recordNotFound();
  return ticket;
}

/** @throws Problem 409 when the ticket changed after the stamp */
export function checkStamp(ticket: Ticket, stamp: string | undefined): void {
  if (stamp === undefined) return;
  const at = Date.parse(stamp);
  if (Number.isNaN(at) || toSecond(at) !== toSecond(ticket.updatedAt)) throw updateConflict();
}

function oneOf<Value extends string>(
  field: string,
  given: string | null | undefined,
  allowed: readonly Value[],
): Value | null | undefined {
  if (given === undefined || given === null) return given;
  const found = allowed.find((one) => one === given);
  if (found === undefined)
    throw recordInvalid({ [field]: [{ description: `${field}: ${given} is not valid`, error: 'InvalidValue' }] });
  return found;
}
