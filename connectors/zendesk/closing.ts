import type { RecordState } from '../../core/connector/contract.ts';

/** The input of a ticket's state. */
export interface TicketFacts {
  /** new, open, pending, hold, solved, closed; deleted in exports. */
  status: string;
  tags: readonly string[];
  /** The requester, who would be asked; undefined for a deleted user; 'unread' if not read. */
  requester: Requester | undefined | 'unread';
  /** How often it was reopened; undefined where Zendesk sent no metric set. */
  reopens?: number | undefined;
  solvedAt?: Date | undefined;
  /** The ticket's last change. */
  changedAt: Date;
}

interface Requester {
  /** end-user, agent, admin */
  role?: string | null | undefined;
  active?: boolean | null | undefined;
  suspended?: boolean | null | undefined;
}

/** The meaning of a webhook's event. `name` is the name of a ticket event (`status_changed`), statuses are in capitals. */
type EventMeaning = { is: 'closed' | 'changed' | 'restored' } | { is: 'ignored'; why: string };

/**
 * The state of a ticket. Solved and closed both count as closed: the move from solved to closed, days later, is the same closing, as
 * is a change of the custom status. Reopening and closing again is another closing.
 *
 * A closing is named after the number of reopenings before it. Where Zendesk sends no metric set all closings have the name of the
 * first: a ticket that is solved again may then not ask again, but no customer is asked twice about one closing.
 *
 * closeloop's tags (`fb_…`) do not matter: a follow-up ticket begins with the tags of its parent.
 * Source of the cases: facts on Zendesk, section 2.
 */
export function closingOf(ticket: TicketFacts): RecordState {
  const why = whyNever(ticket);
  if (!isDone(ticket.status)) return why === gone ? { is: 'out', why } : { is: 'open' };
  if (why !== undefined) return { is: 'out', why };
  const { reopens = 0, solvedAt, changedAt } = ticket;
  return { is: 'closed', closing: `r${reopens}`, closedAt: solvedAt ?? changedAt };
}

const gone = 'the ticket was deleted';

function whyNever({ status, tags, requester }: TicketFacts): string | undefined {
  if (status === 'deleted' || status === 'scrubbed') return gone;
  // Merged away: it lives on as another ticket, which has a closing of its own. Merging closes at once, so a solved ticket
  // with this tag is a follow-up to a merged one and has it from there.
  if (tags.includes('closed_by_merge') && status !== 'solved') return 'the ticket was merged into another one';
  if (requester === 'unread') return undefined;
  if (requester === undefined) return 'the requester does not exist any more';
  if (requester.active === false) return 'the requester was deleted';
  // Marking a ticket as spam suspends its requester.
  if (requester.suspended === true) return 'the requester is suspended (spam)';
  // Side conversations and tickets between colleagues.
  if (requester.role !== 'end-user') return 'the requester is not a customer but an agent';
  return undefined;
}

/** Archiving moves old closed tickets to slower storage and changes nothing about them. */
const isDone = (status: string): boolean => ['solved', 'closed', 'archived'].includes(status.toLowerCase());
const isWorkedOn = (status: string): boolean => ['new', 'open', 'pending', 'hold'].includes(status.toLowerCase());

/** Events after which a waiting request may be wrong: the worker reads the ticket. */
const upsets = new Set(['merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam']);

/** Events that closeloop's own write-backs cause. None of a status, as closeloop writes none. */
const echoes = new Set(['custom_field_changed', 'tags_changed', 'comment_added']);

/**
 * The actor doesn't decide: other software that solves tickets may act as the same user. The kind of change decides.
 * @param byUs the event's actor is the user that closeloop acts as
 */
export function meaningOf(event: { name: string; previous: string; current: string }, byUs = false): EventMeaning {
  const { name, previous, current } = event;
  if (upsets.has(name)) return { is: 'changed' };
  // The ticket has its old state again: perhaps closed, and its customer not asked yet.
  if (name === 'undeleted') return { is: 'restored' };
  if (name !== 'status_changed') {
    return ignored(byUs && echoes.has(name) ? 'the echo of what we wrote' : 'neither opens nor closes a ticket');
  }
  if (current === 'ARCHIVED') return ignored('archiving changes nothing');
  if (isDone(current)) return isDone(previous) ? ignored('the ticket was closed before') : { is: 'closed' };
  if (isWorkedOn(current) && !isDone(previous)) return ignored('the ticket was not closed before');
  // Reopened, deleted, or an unknown status.
  return { is: 'changed' };
}

const ignored = (why: string): EventMeaning => ({ is: 'ignored', why });
