import { z } from 'zod';
import { namesOf } from '../../core/connector/check.ts';
import type { RecordState } from '../../core/connector/contract.ts';
import { flag, listOf, orElse, text } from '../../core/entries.ts';
import type { FreshdeskSettings } from './settings.ts';

export const isId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text);

const id = z.int().positive().transform(String);
const time = orElse(
  z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  undefined,
);
const someId = orElse(id, undefined);

export const Ticket = z.object({
  id,
  subject: text,
  status: z.int(),
  priority: orElse(z.int(), 1),
  type: text,
  source: orElse(z.int(), 0),
  tags: orElse(listOf(z.string()), []),
  created_at: time,
  updated_at: time,
  requester_id: someId,
  responder_id: someId,
  group_id: someId,
  association_type: orElse(z.int(), undefined),
  ...{ deleted: flag, spam: flag, archived: flag },
  custom_fields: z.record(z.string(), z.unknown()).catch({}),
  requester: orElse(z.object({ name: text, email: text, phone: text, mobile: text }), undefined),
  stats: orElse(z.object({ resolved_at: time, closed_at: time, status_updated_at: time }), undefined),
});
export type Ticket = z.output<typeof Ticket>;

const nobody: ReadonlyMap<string, string> = new Map();

type Rules = Pick<FreshdeskSettings, 'closedStatuses' | 'closingBy' | 'askChildren'>;

/** A ticket that is resolved, and later closed by the hourly rule, has one closing: the time of the first change counts. */
function closingOf({ status, stats, updated_at }: Ticket, { closingBy }: Rules): { closing: string; closedAt: Date } {
  const at = closingBy === 'status' ? stats?.status_updated_at : (stats?.resolved_at ?? stats?.closed_at);
  // A closed ticket without these times, as another integration has seen once.
  if (at === undefined) return { closing: `s${status}`, closedAt: updated_at ?? new Date(0) };
  return { closing: at.toISOString(), closedAt: at };
}

/** The state of a ticket. The API shows no difference between a merged ticket and a closed one. */
export function stateOf(ticket: Ticket, rules: Rules, agents: ReadonlyMap<string, string> = nobody): RecordState {
  const { status, source, association_type, requester_id, deleted, spam } = ticket;
  if (deleted) return { is: 'out', why: 'in the trash' };
  if (spam) return { is: 'out', why: 'marked as spam' };
  if (!rules.closedStatuses.includes(status)) return { is: 'open' };
  if (source === 10) return { is: 'out', why: 'an outbound e-mail, which the customer did not begin' };
  if (association_type === 2 && !rules.askChildren) return { is: 'out', why: 'a child ticket (askChildren: false)' };
  if (requester_id === undefined || agents.has(requester_id)) return { is: 'out', why: 'the requester is an agent' };
  return { is: 'closed', ...closingOf(ticket, rules) };
}

/** The input of rules and fields: `ticket.fields.cf_order_no`, `requester.email`, `agent.name`. Unknown values are empty texts or null. */
export interface FreshdeskShape {
  ticket: {
    id: string;
    subject: string;
    /** 4 is Resolved, 5 is Closed. */
    status: number;
    /** 1 (low) to 4 (urgent). */
    priority: number;
    type: string;
    /** 1 e-mail, 2 portal, 3 phone, 7 chat, 9 feedback widget. */
    source: number;
    tags: string[];
    /** ISO 8601, UTC. */
    createdAt: string | null;
    /** Ticket fields, by name: `ticket.fields.cf_order_no`. */
    fields: Record<string, unknown>;
  };
  requester: { id: string; name: string; email: string; phone: string; mobile: string };
  agent: { id: string; name: string };
  group: { id: string; name: string };
}

/** Names of agents and groups, by id. */
export interface Names {
  agents: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
}

export function present(ticket: Ticket, { agents, groups }: Names): FreshdeskShape {
  const { id, subject, status, priority, type, source, tags, created_at, custom_fields: fields } = ticket;
  const { requester_id = '', responder_id = '', group_id = '', requester } = ticket;
  return {
    ticket: { id, subject, status, priority, type, source, tags, createdAt: created_at?.toISOString() ?? null, fields },
    requester: { id: requester_id, ...(requester ?? { name: '', email: '', phone: '', mobile: '' }) },
    agent: { id: responder_id, name: agents.get(responder_id) ?? '' },
    group: { id: group_id, name: groups.get(group_id) ?? '' },
  };
}

/** The names that `check` compares expressions with. */
export const shapeNames = namesOf(present(Ticket.parse({ id: 1, status: 4 }), { agents: nobody, groups: nobody }));
