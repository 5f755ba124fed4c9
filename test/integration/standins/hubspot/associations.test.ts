import { describe, expect, test } from 'vitest';
import { contactId, ticketId, useAccount } from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

const tickets = '/crm/objects/2026-09/tickets';

describe('associations', () => {
  const path = '/crm/associations/2026-09/tickets/contacts/batch/read';

  test('it gives numbers for the other side, labels with their type', async () => {
    const second = account.standin.addContact();
    await account.standin.associate({
      type: 'tickets',
      id: ticketId,
      contactId: second.id,
      label: { typeId: 77, label: 'Caller' },
    });
    const { status, json } = await account.call('POST', path, { inputs: [{ id: String(ticketId) }] });
    const own = { category: 'HUBSPOT_DEFINED', typeId: 16, label: null };
    expect([status, json.results[0].from]).toEqual([200, { id: String(ticketId) }]);
    expect(json.results[0].to).toHaveLength(2);
    expect(json.results[0].to).toEqual(
      expect.arrayContaining([
        { toObjectId: contactId, associationTypes: [own] },
        { toObjectId: second.id, associationTypes: [own, { category: 'USER_DEFINED', typeId: 77, label: 'Caller' }] },
      ]),
    );
  });

  test('it answers 207 where there are none, and for ids that were merged away', async () => {
    const lonely = account.standin.addTicket();
    const { id } = account.standin.merge({
      type: 'tickets',
      primary: ticketId,
      merged: [account.standin.addTicket().id],
    });
    const { status, json } = await account.call('POST', path, {
      inputs: [lonely.id, ticketId, id].map((one) => ({ id: String(one) })),
    });
    expect([status, json.results.map((one: { from: object }) => one.from)]).toEqual([207, [{ id: String(id) }]]);
    expect(
      json.errors.map((one: { subCategory: string; context: { fromObjectId: string[] } }) => [
        one.subCategory,
        one.context.fromObjectId[0],
      ]),
    ).toEqual([
      ['crm.associations.NO_ASSOCIATIONS_FOUND', String(lonely.id)],
      ['crm.associations.NO_ASSOCIATIONS_FOUND', String(ticketId)],
    ]);
  });
});

describe('merged and deleted', () => {
  const path = '/crm/associations/2026-09/tickets/contacts/batch/read';
  const contactsOf = async (id: number) => {
    const { json } = await account.call('POST', path, { inputs: [{ id: String(id) }] });
    return json.results.flatMap((one: { to: { toObjectId: number }[] }) => one.to.map(({ toObjectId }) => toObjectId));
  };

  test('it hands the tickets of a merged contact on to the new one', async () => {
    const other = account.standin.addContact();
    const { id } = account.standin.merge({ type: 'contacts', primary: contactId, merged: [other.id] });
    expect(await contactsOf(ticketId)).toEqual([id]);
    expect((await account.call('GET', `/crm/objects/2026-09/contacts/${contactId}`)).json.id).toBe(String(id));
  });

  test('it keeps the primary id when told to', async () => {
    const other = account.standin.addTicket({ contacts: [account.standin.addContact({ id: 77 }).id] });
    account.standin.merge({ type: 'tickets', primary: ticketId, merged: [other.id], keepPrimary: true });
    expect((await account.call('GET', `${tickets}/${other.id}`)).json.id).toBe(String(ticketId));
    expect((await contactsOf(ticketId)).sort()).toEqual([contactId, 77].sort());
    expect(await contactsOf(other.id)).toEqual([]);
  });

  test('it has no associations of deleted tickets, nor with deleted contacts', async () => {
    await account.standin.deleteRecord({ type: 'contacts', id: contactId });
    expect(await contactsOf(ticketId)).toEqual([]);
    await account.standin.restore({ type: 'contacts', id: contactId });
    expect(await contactsOf(ticketId)).toEqual([contactId]);
    await account.standin.deleteRecord({ type: 'tickets', id: ticketId });
    expect(await contactsOf(ticketId)).toEqual([]);
  });

  test('it pages long lists of associations', async () => {
    await account.standin.associate({ type: 'tickets', id: ticketId, contactId: account.standin.addContact().id });
    account.standin.changeSettings({ associationPage: 1 });
    const first = await account.call('POST', path, { inputs: [{ id: String(ticketId) }] });
    const next = first.json.results[0].paging.next.after;
    const second = await account.call('POST', path, { inputs: [{ id: String(ticketId), after: next }] });
    expect([first.json.results[0].to.length, second.json.results[0].to.length, second.json.results[0].paging]).toEqual([
      1,
      1,
      undefined,
    ]);
  });
});
