import { expect, test } from 'vitest';
import { answer, atDesk, type Desk } from '../../../support/connectors/hubspot/desk.ts';

const writeBack = {
  grade: 'feedback_grade',
  answeredAt: 'feedback_at',
  note: true,
  contact: { grade: 'last_grade', answeredAt: 'last_at' },
};

function furnish({ standin }: Desk) {
  for (const [type, names] of [
    ['tickets', ['feedback_grade', 'feedback_at']],
    ['contacts', ['last_grade', 'last_at']],
  ] as const) {
    standin.addProperty({ type, name: names[0], kind: 'number' });
    standin.addProperty({ type, name: names[1], kind: 'datetime' });
  }
  const jane = standin.addContact({ properties: { email: 'jane@example.com' } }).id;
  const tickets = [1, 2].map(() => standin.addTicket({ contacts: [jane] }).id);
  return { jane, tickets, ids: tickets.map((id) => `ticket-${id}`) };
}
const gradeOn = ({ standin }: Desk, id = 0) => standin.ticket(id).properties.feedback_grade ?? '';
const lastOf = ({ standin }: Desk, id: number) => standin.record('contacts', id).properties.last_grade ?? '';
const history = "the history of the tickets' properties, which HubSpot keeps";

test('it clears record and contact and archives the note, by few calls however many there are', () =>
  atDesk(async (desk) => {
    const { jane, tickets, ids } = furnish(desk);
    const source = desk.source({ writeBack });
    const later = new Date('2026-11-21T09:50:00Z');
    await source.writeBack([answer(ids[0] ?? ''), answer(ids[1] ?? '', { grade: 9, answeredAt: later })]);
    expect([gradeOn(desk, tickets[1]), lastOf(desk, jane)]).toEqual(['9', '9']);
    desk.calls();
    expect(await source.forget?.(ids)).toEqual([history]);
    expect(desk.calls()).toEqual([
      'POST tickets/{to}/batch/read',
      'POST contacts/batch/read',
      'POST tickets/batch/read',
      'POST contacts/batch/update',
      'POST tickets/batch/update',
      'POST tickets/notes/batch/read',
      'POST notes/batch/read',
      'POST notes/batch/archive',
    ]);
    expect(tickets.map((id) => [gradeOn(desk, id), desk.standin.notesOn('tickets', id)])).toEqual([
      ['', []],
      ['', []],
    ]);
    expect(lastOf(desk, jane)).toBe('');
  }));

test('it leaves the contact alone that shows the answer to another question, even with the same grade', () =>
  atDesk(async (desk) => {
    const { jane, tickets, ids } = furnish(desk);
    const source = desk.source({ writeBack });
    const later = new Date('2026-11-21T09:50:00Z');
    await source.writeBack([answer(ids[0] ?? ''), answer(ids[1] ?? '', { answeredAt: later })]);
    await source.forget?.([ids[0] ?? '']);
    expect([...tickets.map((id) => gradeOn(desk, id)), lastOf(desk, jane)]).toEqual(['', '5', '5']);
  }));

test('it clears what a merged record lives on as, and nothing where there is no record any more', () =>
  atDesk(async (desk) => {
    const { tickets, ids } = furnish(desk);
    const [primary = 0, ...merged] = tickets;
    const source = desk.source({ writeBack });
    await source.writeBack([answer(ids[1] ?? '')]);
    desk.standin.merge({ type: 'tickets', primary, merged });
    expect(await source.forget?.([ids[1] ?? ''])).toEqual([history]);
    expect(gradeOn(desk, primary)).toBe('');
    expect(await source.forget?.(['ticket-999', 'no id'])).toEqual([]);
  }));
