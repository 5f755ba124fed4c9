import { describe, expect, test } from 'vitest';
import { answer, atDesk, type Desk } from '../../../support/connectors/hubspot/desk.ts';

const contact = { grade: 'last_grade', comment: 'last_comment', answeredAt: 'last_at' };

function furnish({ standin }: Desk) {
  standin.addProperty({ type: 'contacts', name: 'last_grade', kind: 'number' });
  standin.addProperty({ type: 'contacts', name: 'last_comment', kind: 'string' });
  standin.addProperty({ type: 'contacts', name: 'last_at', kind: 'datetime' });
  standin.addProperty({ type: 'tickets', name: 'feedback_grade', kind: 'number' });
  const jane = standin.addContact({ properties: { email: 'jane@example.com' } }).id;
  const joe = standin.addContact({ properties: { email: 'joe@example.com' } }).id;
  const tickets = [1, 2].map(() => standin.addTicket({ contacts: [jane] }).id);
  return { jane, joe, tickets, ids: tickets.map((id) => `ticket-${id}`) };
}
const lastOf = ({ standin }: Desk, id: number) => standin.record('contacts', id).properties.last_grade;
const done = { ok: true, findings: [] };

describe('the contact', () => {
  test('who was asked gets the answer, also when the record has another one now', () =>
    atDesk(async (desk) => {
      const { jane, joe, ids } = furnish(desk);
      const [one = ''] = ids;
      const source = desk.source({ writeBack: { contact } });
      expect(await source.writeBack([answer(one, { personId: String(joe) })])).toEqual([done]);
      expect([lastOf(desk, jane), lastOf(desk, joe)]).toEqual([undefined, '5']);
      expect(desk.calls()).toEqual(['POST contacts/batch/read', 'POST contacts/batch/update']);
    }));

  test('is looked up where nobody knows who was asked', () =>
    atDesk(async (desk) => {
      const { jane, ids } = furnish(desk);
      const [one = ''] = ids;
      const source = desk.source({ writeBack: { grade: 'feedback_grade', contact: { grade: 'last_grade' } } });
      expect(await source.writeBack([answer(one)])).toEqual([done]);
      expect(lastOf(desk, jane)).toBe('5');
    }));

  test('of a merged record is found on the record it lives on as', () =>
    atDesk(async (desk) => {
      const { jane, tickets, ids } = furnish(desk);
      const [primary = 0, ...merged] = tickets;
      desk.standin.merge({ type: 'tickets', primary, merged });
      const source = desk.source({ writeBack: { grade: 'feedback_grade', contact: { grade: 'last_grade' } } });
      expect(await source.writeBack([answer(ids[0] ?? '')])).toEqual([done]);
      expect(lastOf(desk, jane)).toBe('5');
    }));

  test('with several records shows the latest answer, in whatever order they are written', () =>
    atDesk(async (desk) => {
      const { jane, ids } = furnish(desk);
      const [one = '', two = ''] = ids;
      const source = desk.source({ writeBack: { contact } });
      const later = answer(two, { grade: 9, answeredAt: new Date('2026-11-21T09:50:00Z') });
      expect(await source.writeBack([later, answer(one)])).toEqual([done, done]);
      expect(lastOf(desk, jane)).toBe('9');
      expect(await source.writeBack([answer(one)])).toEqual([
        { ok: true, findings: [], remarks: ['the contact holds a newer answer, which stays'] },
      ]);
      expect(lastOf(desk, jane)).toBe('9');
    }));

  test('that is gone leaves the answer on the record', () =>
    atDesk(async (desk) => {
      const { jane, ids } = furnish(desk);
      await desk.standin.privacyDelete(jane);
      const source = desk.source({ writeBack: { grade: 'feedback_grade', contact } });
      for (const known of [{ personId: String(jane) }, {}]) {
        expect(await source.writeBack([answer(ids[0] ?? '', known)])).toEqual([
          { ok: true, findings: [], remarks: [expect.stringContaining('no contact for this record any more')] },
        ]);
      }
    }));

  test('keeps the answer of a record that is gone', () =>
    atDesk(async (desk) => {
      const { jane, tickets, ids } = furnish(desk);
      await desk.standin.deleteRecord({ type: 'tickets', id: tickets[0] ?? 0 });
      const source = desk.source({ writeBack: { grade: 'feedback_grade', contact } });
      expect(await source.writeBack([answer(ids[0] ?? '', { personId: String(jane) })])).toEqual([
        { ok: true, findings: [], where: 'the contact, as HubSpot has the record no more' },
      ]);
      expect(lastOf(desk, jane)).toBe('5');
    }));

  test('whose property refuses a value fails the answer, for a person to mend', () =>
    atDesk(async (desk) => {
      const { jane, ids } = furnish(desk);
      desk.standin.addProperty({ type: 'contacts', name: 'choice', kind: 'enumeration', options: ['1'] });
      const source = desk.source({ writeBack: { grade: 'feedback_grade', contact: { grade: 'choice' } } });
      const [result] = await source.writeBack([answer(ids[0] ?? '', { personId: String(jane) })]);
      expect(result).toMatchObject({
        ok: false,
        why: 'error',
        error: { message: expect.stringMatching(/did not take the answer on the contact.*INVALID_OPTION in choice/) },
      });
    }));

  test('hears nothing where no answer came', () =>
    atDesk(async (desk) => {
      const { jane, ids } = furnish(desk);
      const source = desk.source({ writeBack: { note: true, noAnswer: true, contact } });
      const item = answer(ids[0] ?? '', { status: 'no-answer', grade: null, comment: null, personId: String(jane) });
      expect(await source.writeBack([item])).toEqual([done]);
      expect(lastOf(desk, jane)).toBeUndefined();
    }));
});
