import type { RecordState } from '../../core/connector/contract.ts';

/** What decides about a ticket, as it is now. */
export interface TicketFacts {
  /** new, open, pending, hold, solved, closed; deleted in exports. */
  status: string;
  tags: readonly string[];
  /** Whose ticket it is, and who would be asked; undefined: no such user any more; 'unread': not looked at. */
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

/** What a webhook's event means for us. `name` is a ticket event's (`status_changed`), statuses are in capitals. */
type EventMeaning = { is: 'closed' | 'changed' | 'restored' } | { is: 'ignored'; why: string };

/**
 * Which closing counts. Closed is solved or closed: the move from one to the other, days later, is the same closing, and a
 * ticket that is solved with another custom status keeps it too. Reopening and closing again is another.
 *
 * A closing is named after the number of reopenings before it. Where Zendesk sends no metric set we can't tell closings
 * apart and call each the first: a re-solved ticket may then not ask again, but nobody is asked twice for one closing.
 *
 * Our own tags (`fb_…`) say nothing here: a follow-up ticket begins with its parent's.
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

/** Events after which a waiting request may be wrong: reading the ticket will tell. */
const upsets = new Set(['merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam']);

/** What our write-backs make Zendesk tell us. It never tells of a status: we write none. */
const echoes = new Set(['custom_field_changed', 'tags_changed', 'comment_added']);

/**
 * Who did it doesn't matter: the user that we act as may serve other software too, which solves tickets. What matters is
 * what was done. @param byUs The event's actor is the user that we act as.
 */
export function meaningOf(event: { name: string; previous: string; current: string }, byUs = false): EventMeaning {
  const { name, previous, current } = event;
  if (upsets.has(name)) return { is: 'changed' };
  // It is as it was before it was deleted: closed, perhaps, and its customer not asked yet.
  if (name === 'undeleted') return { is: 'restored' };
  if (name !== 'status_changed') {
    return ignored(byUs && echoes.has(name) ? 'the echo of what we wrote' : 'neither opens nor closes a ticket');
  }
  if (current === 'ARCHIVED') return ignored('archiving changes nothing');
  if (isDone(current)) return isDone(previous) ? ignored('the ticket was closed before') : { is: 'closed' };
  if (isWorkedOn(current) && !isDone(previous)) return ignored('the ticket was not closed before');
  // Reopened, deleted, or a status we don't know.
  return { is: 'changed' };
}

const ignored = (why: string): EventMeaning => ({ is: 'ignored', why });
