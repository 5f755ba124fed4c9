import { type Invalid, recordInvalid } from './context.ts';
import {
  type Audit,
  type AuditEvent,
  customStatusIds,
  type FieldValue,
  type Happening,
  type Status,
  type Ticket,
} from './definitions.ts';
import { tagsOf, takeValue, valueFromTags } from './fields.ts';
import type { Store } from './store.ts';

export interface Actor {
  userId: number;
  channel: 'web' | 'api' | 'rule' | 'system';
}

/** The wanted change. A part that is left out, or undefined, does not change. */
export interface Patch {
  subject?: string | undefined;
  status?: Status | undefined;
  priority?: string | null | undefined;
  type?: string | null | undefined;
  requesterId?: number | undefined;
  assigneeId?: number | null | undefined;
  groupId?: number | null | undefined;
  organizationId?: number | null | undefined;
  externalId?: string | null | undefined;
  /** Replaces all tags. */
  tags?: string[] | undefined;
  addTags?: string[] | undefined;
  removeTags?: string[] | undefined;
  fields?: { id: number; value: unknown }[] | undefined;
  comment?: { body: string; public?: boolean | undefined; authorId?: number | undefined } | undefined;
  metadata?: Record<string, unknown> | undefined;
}

const editableWhenClosed = new Set(['subject', 'priority', 'tags', 'addTags', 'removeTags', 'fields', 'metadata']);
const plainKeys = [
  ['subject', 'subject', 'subject_changed'],
  ['priority', 'priority', 'priority_changed'],
  ['type', 'type', 'type_changed'],
  ['requesterId', 'requester_id', 'requester_changed'],
  ['assigneeId', 'assignee_id', 'agent_assignment_changed'],
  ['groupId', 'group_id', 'group_assignment_changed'],
  ['organizationId', 'organization_id', 'organization_changed'],
  ['externalId', 'external_id', 'external_id_changed'],
] as const;
const upperCase = new Set(['priority', 'type']);

/** Applies a change whole or not at all. @throws Problem 422 */
export function changeTicket(
  store: Store,
  ticket: Ticket,
  patch: Patch,
  actor: Actor,
  now: number,
): { audit: Audit; happened: Happening[] } {
  if (ticket.status === 'closed' && actor.channel !== 'system') refuseUnlessEditable(store, patch, actor);
  const { tags, fields } = tagsAndFields(store, ticket, patch);
  const assigneeId = patch.assigneeId === undefined ? ticket.assigneeId : patch.assigneeId;
  const status = nextStatus(store, ticket, patch);
  checkStatus(store, ticket, status, assigneeId, fields);

  const events: AuditEvent[] = [];
  const happened: Happening[] = [];
  const changed = (field: string, previous: unknown, value: unknown): void => {
    events.push({ id: store.nextId(), type: 'Change', field_name: field, value, previous_value: previous });
  };

  if (patch.comment !== undefined) {
    const author = store.users.get(patch.comment.authorId ?? actor.userId);
    const isPublic = patch.comment.public ?? ticket.isPublic;
    const id = store.nextId();
    const { body } = patch.comment;
    events.push({
      id,
      type: 'Comment',
      author_id: author?.id ?? actor.userId,
      body,
      html_body: `<p>${body}</p>`,
      plain_body: body,
      public: isPublic,
      attachments: [],
    });
    const isStaff = author !== undefined && author.role !== 'end-user';
    happened.push({
      type: 'comment_added',
      event: {
        comment: {
          id: String(id),
          body,
          is_public: isPublic,
          author: { id: String(author?.id ?? actor.userId), is_staff: isStaff, name: author?.name ?? '' },
        },
      },
    });
    if (isPublic && isStaff) {
      ticket.metrics.replies += 1;
      store.mails.push({ ticketId: ticket.id, at: now });
    }
  }
  for (const [key, field, type] of plainKeys) {
    const value = patch[key];
    if (value === undefined || value === ticket[key]) continue;
    changed(field, ticket[key], value);
    happened.push({ type, event: { current: wire(value, field), previous: wire(ticket[key], field) } });
    Object.assign(ticket, { [key]: value });
  }
  const added = tags.filter((tag) => !ticket.tags.includes(tag));
  const removed = ticket.tags.filter((tag) => !tags.includes(tag));
  if (added.length > 0 || removed.length > 0) {
    changed('tags', ticket.tags, tags);
    happened.push({ type: 'tags_changed', event: { tags_added: added, tags_removed: removed } });
    ticket.tags = tags;
  }
  for (const [id, value] of fields) {
    const previous = ticket.fields.get(id) ?? null;
    if (JSON.stringify(previous) === JSON.stringify(value)) continue;
    changed(String(id), previous, value);
    const field = store.fields.get(id);
    happened.push({
      type: 'custom_field_changed',
      event: { field: { id: String(id), title: field?.title, type: field?.type }, current: value, previous },
    });
    ticket.fields.set(id, value);
  }
  if (status !== ticket.status) changeStatus(ticket, status, now, changed, happened);
  if (events.length > 0) {
    ticket.updatedAt = now;
    ticket.generatedAt = now;
  }
  const audit: Audit = {
    id: store.nextId(),
    ticketId: ticket.id,
    createdAt: now,
    authorId: actor.userId,
    metadata: patch.metadata ?? {},
    channel: actor.channel === 'system' ? 'rule' : actor.channel,
    events,
  };
  // A request that changes nothing is answered with an empty audit and leaves no trace.
  if (events.length > 0) ticket.audits.push(audit);
  return { audit, happened };
}

function changeStatus(
  ticket: Ticket,
  status: Status,
  now: number,
  changed: (field: string, previous: unknown, value: unknown) => void,
  happened: Happening[],
): void {
  const before = ticket.status;
  const wasDone = before === 'solved' || before === 'closed';
  const isDone = status === 'solved' || status === 'closed';
  changed('status', before, status);
  happened.push({ type: 'status_changed', event: { current: status.toUpperCase(), previous: before.toUpperCase() } });
  const custom = customStatusIds[status];
  if (custom !== ticket.customStatusId) {
    changed('custom_status_id', ticket.customStatusId, custom);
    happened.push({
      type: 'custom_status_changed',
      event: { current: String(custom), previous: String(ticket.customStatusId) },
    });
    ticket.customStatusId = custom;
  }
  ticket.status = status;
  ticket.metrics.statusUpdatedAt = now;
  if (wasDone && !isDone) ticket.metrics.reopens += 1;
  if (!wasDone && isDone) ticket.metrics.solvedAt = now;
}

function refuseUnlessEditable(store: Store, patch: Patch, actor: Actor): void {
  const isAdmin = store.users.get(actor.userId)?.role === 'admin';
  const allowed = Object.entries(patch).every(([key, value]) => value === undefined || editableWhenClosed.has(key));
  if (store.settings.modifyClosedTickets && isAdmin && allowed) return;
  throw recordInvalid({ status: [{ description: 'Status: closed prevents ticket update' }] });
}

function nextStatus(store: Store, ticket: Ticket, patch: Patch): Status {
  if (patch.status !== undefined) return patch.status;
  const author = patch.comment?.authorId === undefined ? undefined : store.users.get(patch.comment.authorId);
  const waits = ticket.status === 'pending' || ticket.status === 'hold' || ticket.status === 'solved';
  return author?.role === 'end-user' && waits ? 'open' : ticket.status;
}

function checkStatus(
  store: Store,
  ticket: Ticket,
  status: Status,
  assigneeId: number | null,
  fields: ReadonlyMap<number, FieldValue>,
): void {
  if (status === ticket.status) return;
  if (status === 'new')
    throw recordInvalid({ status: [{ description: 'Status: is not valid', error: 'InvalidValue' }] });
  if (status !== 'solved') return;
  if (assigneeId === null) {
    throw recordInvalid({
      base: [{ description: 'Assignee: is required when solving a ticket', error: 'BlankValue' }],
    });
  }
  const missing: Invalid[string] = [];
  for (const field of store.fields.values()) {
    const value = fields.get(field.id) ?? ticket.fields.get(field.id) ?? null;
    if (!field.required || !field.active || (value !== null && value !== false)) continue;
    missing.push({
      description: `${field.title}: is required when solving a ticket`,
      error: 'BlankValue',
      ticket_field_id: field.id,
      ticket_field_type: 'FieldText',
    });
  }
  if (missing.length > 0) throw recordInvalid({ base: missing });
}

/** Option values and tags are one thing seen twice: tags move fields, then fields move tags. */
function tagsAndFields(
  store: Store,
  ticket: Ticket,
  patch: Patch,
): { tags: string[]; fields: Map<number, FieldValue> } {
  const fields = new Map<number, FieldValue>();
  let tags = normaliseTags(patch.tags ?? ticket.tags);
  tags = normaliseTags([...tags, ...(patch.addTags ?? [])]);
  const gone = new Set(normaliseTags(patch.removeTags ?? []));
  tags = tags.filter((tag) => !gone.has(tag));
  if (patch.tags !== undefined || patch.addTags !== undefined || patch.removeTags !== undefined) {
    for (const field of store.fields.values()) {
      const value = valueFromTags(field, ticket.fields.get(field.id), tags);
      if (value !== undefined) fields.set(field.id, value);
    }
  }
  for (const { id, value } of patch.fields ?? []) {
    const field = store.fields.get(id);
    if (field === undefined) continue;
    const taken = takeValue(field, value);
    if (taken.do === 'refuse') throw recordInvalid(taken.details);
    if (taken.do === 'drop') continue;
    const before = tagsOf(field, fields.get(id) ?? ticket.fields.get(id));
    const after = tagsOf(field, taken.value);
    tags = normaliseTags([...tags.filter((tag) => !before.includes(tag)), ...after]);
    fields.set(id, taken.value);
  }
  return { tags, fields };
}

/** Lower case, split at white space, each once. */
function normaliseTags(tags: readonly string[]): string[] {
  return [...new Set(tags.flatMap((tag) => tag.toLowerCase().split(/\s+/)).filter((tag) => tag !== ''))];
}

function wire(value: string | number | null, field: string): string | null {
  if (value === null) return null;
  return upperCase.has(field) ? String(value).toUpperCase() : String(value);
}
