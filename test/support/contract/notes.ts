import assert from 'node:assert/strict';
import { linesOf, markerOf } from '../../../core/connector/answer.ts';
import { answer, type Bench, closeOne, needed, reopen, type Tests } from './bench.ts';
import { forEachLostCall } from './late-writes.ts';
import type { HeldNote } from './sample.ts';

const markup = 'It was <b>5 & "up"</b>\nthanks <script>alert(1)</script>';

/** The note beside an answer, as the vendor holds it. */
export function notes(bench: () => Bench, { test }: Tests): void {
  /** Of one answer: what nobody else wrote. */
  const notesOf = (id: string, marker: string): HeldNote[] => {
    const all = needed(bench().vendor.notesOn, 'notesOn, or a reason in `lacks`').call(bench().vendor, id);
    return all.filter(({ text }) => markerOf(text) === marker);
  };

  test('it adds one note, which the customer never sees, with the comment as it was written', async () => {
    const id = await closeOne(bench());
    await bench().source.writeBack([answer(id, { comment: markup })]);
    const [note, ...others] = notesOf(id, 'j7.1');
    assert.ok(note !== undefined, 'there is no note that ends with its reference (noteText, noteHtml)');
    assert.deepEqual(others, []);
    assert.equal(note.isPublic, false, 'the customer sees the note');
    if (note.isHtml)
      assert.doesNotMatch(note.text, /<(?:b|script)[ >]/, 'what the customer wrote is markup in the note');
    const shown = note.isHtml ? unescaped(linesOf(note.text).join('\n')) : note.text;
    for (const line of markup.split('\n')) assert.ok(shown.includes(line), `the note lacks, or spoils: ${line}`);
  });

  test('it adds no second note when it writes the same again, and one for each later answer', async () => {
    const id = await closeOne(bench());
    await bench().source.writeBack([answer(id, { marker: 'j7.1' })]);
    await reopen(bench()).source.writeBack([answer(id, { marker: 'j7.1' })]);
    const later = answer(id, { marker: 'j7.12', grade: 3, answeredAt: new Date('2026-11-20T12:00:00Z') });
    await bench().source.writeBack([later]);
    await reopen(bench()).source.writeBack([later]);
    assert.deepEqual([notesOf(id, 'j7.1').length, notesOf(id, 'j7.12').length], [1, 1]);
  });

  test('it adds one note where the vendor did what it was asked, and the answer to that was lost', async () => {
    await forEachLostCall(bench(), async (id, carryOut) => {
      await carryOut();
      // The same answer as that whose call was lost.
      await bench().source.writeBack([answer(id, { grade: 3, marker: 'j1.1' })]);
      assert.equal(notesOf(id, 'j1.1').length, 1);
    });
  });
}

const signs = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#039': "'" }));

const unescaped = (html: string): string => html.replace(/&(#?\w+);/g, (whole, name) => signs.get(name) ?? whole);
