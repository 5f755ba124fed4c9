/** Two help desks, one of which gets no notes and no tags, and a CRM. */
export type Vendor = 'desk' | 'plain' | 'crm';
/** What the configuration calls their accounts. */
export const sources = { desk: 'support', plain: 'plain', crm: 'crm' } as const;
/** What the first help desk is called in the configuration from the middle of the load on. */
export const renamedDesk = 'helpdesk';
/** Matches the reference of a journey of a help desk, which no rename changes: the number of its record. Numbers are unique over all vendors. */
export const deskRef = new RegExp(`^(?:${sources.desk}|${sources.plain})/(\\d+)\\.\\d+$`);

/** The rules of policy.ts. A record names its rule in its subject. */
export const rules = [
  'once',
  'each',
  'slow',
  'tongues',
  'hours',
  'capped',
  'trial',
  'rare',
  'patient',
  'latest',
] as const;
export type RuleName = (typeof rules)[number];
/** `nothing`: no rule takes it. */
export const subjects = [...rules, 'nothing'] as const;
export const flags = ['', 'no_survey', 'vip'] as const;
/** From closing to asking, so that much can change in between. */
export const slowDelayMs = 5_000;

/** What rules see of a record. */
export interface TicketFacts {
  subject: (typeof subjects)[number];
  store: string;
  flag: (typeof flags)[number];
}

/** What rules see of a customer. */
export interface PersonFacts {
  email: string;
  language: 'en' | 'et' | 'fi';
  /** IANA */
  zone: string;
}

export type Act =
  | { do: 'close' }
  | { do: 'reopen' }
  | { do: 'edit'; to: Partial<TicketFacts> }
  /** From the first of the record's people to the second. */
  | { do: 'hand over' }
  /** The facts of whom the record belongs to at this moment change. */
  | { do: 'move'; to: Partial<PersonFacts> }
  /** The customer asks the vendor to be forgotten. */
  | { do: 'forget' };

/** A record that is created just before the first of its acts. */
export interface PlannedRecord {
  id: number;
  vendor: Vendor;
  rule: RuleName;
  ticket: TicketFacts;
  /** The customer, and who the record may be handed over to. Several records may have the same customer. */
  people: readonly [PersonFacts, ...PersonFacts[]];
  /** When its life begins. The load waits for the kills, so that this may be later by the clock; what follows keeps its distance. */
  at: number;
  acts: readonly (Act & { afterMs: number })[];
  /** Of the customer to a request about this record; none: never. The second one is a change of mind. */
  answers: { afterMs: number; grade: number; comment?: string }[];
}

/** Every address that a customer of the record may ever have. */
export function addressesOf({ people, acts }: Pick<PlannedRecord, 'people' | 'acts'>): string[] {
  const moved = acts.flatMap((act) => (act.do === 'move' && act.to.email !== undefined ? [act.to.email] : []));
  return [...people.map(({ email }) => email), ...moved];
}
