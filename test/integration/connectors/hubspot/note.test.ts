import { describe, expect, test } from 'vitest';
import { answer, atDesk, type Desk } from '../../../support/connectors/hubspot/desk.ts';

const writeBack = { grade: 'feedback_grade', comment: 'feedback_comment', answeredAt: 'feedback_at', note: true };
const timeless = { grade: 'feedback_grade', comment: 'feedback_comment', note: true };

function furnish({ standin }: Desk, tickets = 1): string[] {
  for (const [name, kind] of [
    ['feedback_grade', 'number'],
    ['feedback_comment', 'string'],
    ['feedback_at', 'datetime'],
    ['feedback_status', 'string'],
  ] as const) {
    standin.addProperty({ type: 'tickets', name, kind });
  }
  return Array.from({ length: tickets }, () => `ticket-${standin.addTicket({}).id}`);
}
const number = (recordId: string | undefined) => Number(recordId?.replace('ticket-', ''));
const notes = ({ standin }: Desk, recordId: string | undefined) => standin.notesOn('tickets', number(recordId));
const done = { ok: true, findings: [] };

/** Notes of somebody else's, each on all of these tickets. */
async function writeOnAll({ url, standin }: Desk, ids: readonly string[], count: number): Promise<void> {
  const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 228 }];
  const inputs = Array.from({ length: count }, (_, n) => ({
    properties: { hs_timestamp: '2026-11-20T10:00:00Z', hs_note_body: `Call ${n}` },
    associations: ids.map((id) => ({ to: { id: String(number(id)) }, types })),
  }));
  const headers = { authorization: `Bearer ${standin.accessToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ inputs });
  const { status } = await fetch(`${url}/crm/objects/2026-03/notes/batch/create`, { method: 'POST', headers, body });
  expect(status).toBe(201);
}

describe('a note', () => {
  test('is written once for each answer, in three calls for a hundred', () =>
    atDesk(async (desk) => {
      const ids = furnish(desk, 100);
      const source = desk.source({ writeBack });
      expect(await source.writeBack(ids.map((id) => answer(id)))).toEqual(ids.map(() => done));
      expect(desk.calls()).toEqual(['POST tickets/batch/read', 'POST tickets/batch/update', 'POST notes/batch/create']);
      expect(ids.map((id) => notes(desk, id).length)).toEqual(ids.map(() => 1));
    }));

  test('needs no reading of records that have none, where no property tells which answer is newer', () =>
    atDesk(async (desk) => {
      const ids = furnish(desk, 300);
      const source = desk.source({ writeBack: timeless });
      expect(await source.writeBack(ids.map((id) => answer(id)))).toEqual(ids.map(() => done));
      expect(desk.calls().sort()).toEqual([
        ...Array.from({ length: 3 }, () => 'POST notes/batch/create'),
        ...Array.from({ length: 3 }, () => 'POST tickets/batch/update'),
        'POST tickets/notes/batch/read',
        'POST tickets/notes/batch/read',
      ]);
      expect(ids.map((id) => notes(desk, id).length)).toEqual(ids.map(() => 1));
    }));

  // Where the note was made and the answer to that was lost, the contract looks.
  const accidents = [['cut', writeBack] as const, ['cut', timeless] as const, ['work-then-cut', timeless] as const];
  test.each(accidents)('is not written twice after an unknown outcome (%s, %j), nor left out', (then, writeBack) =>
    atDesk(async (desk) => {
      const [one, two] = furnish(desk, 2);
      const items = [answer(one ?? ''), answer(two ?? '', { comment: null })];
      desk.standin.faults.add({ path: '/notes/batch/create', times: 1, then });
      await expect(desk.source({ writeBack }).writeBack(items)).rejects.toMatchObject({ outcome: 'unknown' });
      // another process does it again
      expect(await desk.source({ writeBack }).writeBack(items)).toEqual([done, done]);
      expect([notes(desk, one).length, notes(desk, two).length]).toEqual([1, 1]);
    }),
  );

  test('is looked for where nothing else can tell', () =>
    atDesk(async (desk) => {
      const [one] = furnish(desk);
      const source = desk.source({ writeBack: { note: true } });
      const item = answer(one ?? '');
      const longer = { ...item, marker: `${item.marker}1` }; // its name begins like the other one's
      for (const each of [longer, item, longer, item]) await source.writeBack([each]);
      expect(notes(desk, one).length).toBe(2);
    }));

  test('is found behind many others', () =>
    atDesk(async (desk) => {
      const [one] = furnish(desk);
      desk.standin.changeSettings({ associationPage: 2 });
      const source = desk.source({ writeBack: { note: true } });
      const items = Array.from({ length: 7 }, (_, n) => answer(one ?? '', { marker: `m-${n}` }));
      for (const item of items) await source.writeBack([item]);
      await source.writeBack(items);
      expect(notes(desk, one).length).toBe(7);
    }));

  test.each([[timeless], [{ note: true }]])('goes to records that have many others (%j)', (writeBack) =>
    atDesk(async (desk) => {
      const ids = furnish(desk, 500);
      await writeOnAll(desk, ids, 90);
      const source = desk.source({ writeBack });
      expect(await source.writeBack(ids.map((id) => answer(id)))).toEqual(ids.map(() => done));
      expect(notes(desk, ids[0]).length).toBe(91);
    }),
  );

  test('of an earlier answer that comes late is written, but replaces nothing', () =>
    atDesk(async (desk) => {
      const [one] = furnish(desk);
      const source = desk.source({ writeBack });
      const later = answer(one ?? '', { grade: 9, marker: 'later', answeredAt: new Date('2026-11-21T09:50:00Z') });
      await source.writeBack([later]);
      expect(await source.writeBack([answer(one ?? '')])).toEqual([
        { ok: true, findings: [], remarks: ['the record holds a newer answer, which stays'] },
      ]);
      expect(desk.standin.ticket(number(one)).properties.feedback_grade).toBe('9');
      expect(notes(desk, one).length).toBe(2);
    }));

  test.each([[writeBack], [timeless]])('goes once to the record that a merged one lives on as (%j)', (writeBack) =>
    atDesk(async (desk) => {
      const [one, two, three] = furnish(desk, 3);
      const { id } = desk.standin.merge({ type: 'tickets', primary: number(one), merged: [number(two)] });
      const items = [answer(two ?? ''), answer(three ?? '')];
      for (let n = 0; n < 2; n++) expect(await desk.source({ writeBack }).writeBack(items)).toEqual([done, done]);
      expect(notes(desk, `ticket-${id}`).length).toBe(1);
    }),
  );

  test('that HubSpot refuses fails alone', () =>
    atDesk(async (desk) => {
      const [one, two] = furnish(desk, 2);
      await desk.standin.deleteRecord({ type: 'tickets', id: number(two) });
      const results = await desk
        .source({ writeBack: { note: true } })
        .writeBack([answer(one ?? ''), answer(two ?? '')]);
      expect(results).toEqual([
        done,
        {
          ok: false,
          why: 'error',
          error: expect.objectContaining({
            message: 'HubSpot did not take the note on the ticket: 400 VALIDATION_ERROR',
            advice: { kind: 'permanent' },
          }),
        },
      ]);
      expect(notes(desk, one).length).toBe(1);
    }));

  test('of a deal goes to the deal', () =>
    atDesk(async (desk) => {
      const { id } = desk.standin.addDeal({});
      const source = desk.source({ objects: ['deal'], writeBack: { note: true } });
      for (let n = 0; n < 2; n++) expect(await source.writeBack([answer(`deal-${id}`)])).toEqual([done]);
      expect(desk.standin.notesOn('deals', id).length).toBe(1);
    }));

  test('says that no answer came', () =>
    atDesk(async (desk) => {
      const [one] = furnish(desk);
      const source = desk.source({ writeBack: { status: 'feedback_status', note: true, noAnswer: true } });
      expect(source.writesNoAnswer).toBe(true);
      await source.writeBack([answer(one ?? '', { status: 'no-answer', grade: null, comment: null })]);
      expect(desk.standin.ticket(number(one)).properties.feedback_status).toBe('no_answer');
      expect(notes(desk, one)).toEqual([expect.stringContaining('No answer to the feedback request (Support)')]);
    }));
});
