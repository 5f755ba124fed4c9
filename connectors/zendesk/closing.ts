import type { RecordState } from '../../core/connector/contract.ts';

/** The input of a ticket's state. */
export interface TicketFacts {
  /** new, open, pending, hold, solved, closed; deleted in exports. */
  status: string;
  tags: readonly string[];
  externalId?: string | null | undefined;
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

const ours = 'closeloop ';
/** The external id of a ticket that closeloop makes. @param marker of the action that makes it */
export const externalIdOf = (marker: string): string => `${ours}${marker}`.slice(0, 255);

function whyNever({ status, tags, requester, externalId }: TicketFacts): string | undefined {
  if (status === 'deleted' || status === 'scrubbed') return gone;
  // What closeloop does because of an answer asks nobody again.
  if (externalId?.startsWith(ours)) return 'closeloop made the ticket, to follow up on a closed one';
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
export const isDone = (status: string): boolean => ['solved', 'closed', 'archived'].includes(status.toLowerCase());
