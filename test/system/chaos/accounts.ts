import type { HubspotStandin } from '../../../standins/hubspot/standin.ts';
import type { ZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { type Act, flags, type PersonFacts, type PlannedRecord, type TicketFacts } from './planned-record.ts';
import { storeField } from './sightings.ts';

/** What people do at one vendor. */
export interface Account {
  add(record: PlannedRecord): void;
  act(record: Pick<PlannedRecord, 'id'>, act: Act): void;
  /** The address that a customer had first, by the vendor's id. */
  addressOf(personId: number): string | undefined;
}

/** The calls of one vendor that an account is made of. */
interface Calls {
  addPerson(facts: PersonFacts): { id: number };
  addTicket(id: number, facts: TicketFacts, personId: number): void;
  close(id: number): void;
  reopen(id: number): void;
  edit(id: number, facts: Partial<TicketFacts>): void;
  handOver(id: number, from: number, to: number): void;
  move(personId: number, facts: Partial<PersonFacts>): void;
  forget(personId: number): void;
}

/** A customer is one person at each vendor, however many records are theirs. */
function accountOf(calls: Calls): Account {
  const people = new Map<string, number>();
  const holders = new Map<number, number>();
  const personOf = (facts: PersonFacts): number => {
    const known = people.get(facts.email);
    if (known !== undefined) return known;
    const { id } = calls.addPerson(facts);
    people.set(facts.email, id);
    return id;
  };
  const second = new Map<number, number>();
  return {
    add({ id, ticket, people: [first, partner] }) {
      const personId = personOf(first);
      holders.set(id, personId);
      if (partner) second.set(id, personOf(partner));
      calls.addTicket(id, ticket, personId);
    },
    act({ id }, act) {
      const holder = holders.get(id);
      if (holder === undefined) throw new Error(`record ${id} is not there yet`);
      const next = second.get(id);
      if (act.do === 'close') calls.close(id);
      else if (act.do === 'reopen') calls.reopen(id);
      else if (act.do === 'edit') calls.edit(id, act.to);
      else if (act.do === 'move') calls.move(holder, act.to);
      else if (act.do === 'forget') calls.forget(holder);
      else if (next !== undefined && next !== holder) {
        calls.handOver(id, holder, next);
        holders.set(id, next);
      }
    },
    addressOf: (personId) => [...people].find(([, id]) => id === personId)?.[0],
  };
}

export function deskAccount(desk: ZendeskStandin, agentId: number): Account {
  const userOf = ({ email, language, zone }: Partial<PersonFacts>) => ({
    ...(email !== undefined && { email }),
    ...(language !== undefined && { locale: language }),
    ...(zone !== undefined && { ianaTimeZone: zone }),
  });
  const tagsOf = (flag: string): string[] => (flag === '' ? [] : [flag]);
  return accountOf({
    addPerson: (facts) => desk.addUser(userOf(facts)),
    addTicket(id, { subject, store, flag }, requesterId) {
      const customFields = { [storeField]: store };
      desk.addTicket({ id, requesterId, assigneeId: agentId, subject, tags: tagsOf(flag), customFields });
    },
    close: (id) => void desk.solve(id),
    reopen: (id) => void desk.reopen(id),
    edit(id, { subject, store, flag }) {
      if (subject !== undefined) void desk.edit({ id, subject });
      if (store !== undefined) void desk.setField({ id, fieldId: storeField, value: store });
      if (flag === undefined) return;
      const others = desk.ticket(id).tags.filter((tag) => !flags.some((one) => one === tag));
      void desk.setTags({ id, tags: [...others, ...tagsOf(flag)] });
    },
    handOver: (id, _from, to) => void desk.edit({ id, requesterId: to }),
    move: (id, facts) => void desk.changeUser({ id, ...userOf(facts) }),
    forget() {
      throw new Error('a help desk does not tell whom to forget');
    },
  });
}

export function crmAccount(crm: HubspotStandin): Account {
  const contactOf = ({ email, language, zone }: Partial<PersonFacts>) => ({
    ...(email !== undefined && { email }),
    ...(language !== undefined && { hs_language: language }),
    ...(zone !== undefined && { hs_timezone: zone.toLowerCase().replaceAll('/', '_slash_') }),
  });
  return accountOf({
    addPerson: (facts) => crm.addContact({ properties: contactOf(facts) }),
    addTicket: (id, facts, personId) => void crm.addTicket({ id, properties: { ...facts }, contacts: [personId] }),
    close: (id) => void crm.close(id),
    reopen: (id) => void crm.reopen(id),
    edit: (id, facts) => void crm.change({ type: 'tickets', id, properties: { ...facts } }),
    handOver(id, from, to) {
      void crm.associate({ type: 'tickets', id, contactId: to });
      void crm.associate({ type: 'tickets', id, contactId: from, remove: true });
    },
    move: (id, facts) => void crm.change({ type: 'contacts', id, properties: contactOf(facts) }),
    forget: (id) => void crm.privacyDelete(id),
  });
}
