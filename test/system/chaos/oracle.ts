import type { PersonFacts, TicketFacts, Vendor } from './planned-record.ts';
import { neverFlags, type PolicySettings, type PolicyVersion, type Rule, rulesOf, type Window } from './policy.ts';

// Says what the policy wants, from docs/policy.md alone: nothing here knows how closeloop decides.

/** A record and its customer as a vendor showed them. */
export interface Facts {
  ticket: TicketFacts & { isClosed: boolean };
  /** Undefined: the vendor shows nobody. */
  person: PersonFacts | undefined;
}

export type Wanted =
  | { do: 'skip'; why: string }
  | { do: 'ask'; rule: Rule; campaign: number; contact: string; values: Readonly<Record<string, string>> };

/** Whether, in which campaign, whom and with which values to ask about a record as it was shown. When: `isOpen`, and the rule's delay. */
export function wantedOf(facts: Facts, version: PolicyVersion, vendor: Vendor, settings: PolicySettings): Wanted {
  const { ticket, person } = facts;
  const skip = (why: string): Wanted => ({ do: 'skip', why });
  if (!ticket.isClosed) return skip('the record was open');
  if (neverFlags(version).includes(ticket.flag)) return skip(`never: its flag was ${ticket.flag}`);
  const rule = rulesOf(version, vendor, settings).find(({ name }) => name === ticket.subject);
  if (!rule) return skip(`no rule takes "${ticket.subject}"`);
  if (!person) return skip('it had no customer');
  const campaign = campaignIn(rule, person.language);
  if (campaign === undefined) return skip(`no campaign in language ${person.language}`);
  const values = { Store: version.storeFrom === 'store' ? ticket.store : ticket.subject };
  return { do: 'ask', rule, campaign, contact: rule.test ?? person.email, values };
}

function campaignIn({ campaign }: Rule, language: string): number | undefined {
  return typeof campaign === 'number' ? campaign : (campaign[language] ?? campaign.default);
}

/** Whether a window is open at an instant on the wall clock of a zone. */
export function isOpen({ from, until }: Window, zone: string, at: number): boolean {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(at);
  return from < until ? from <= time && time < until : from <= time || time < until;
}
