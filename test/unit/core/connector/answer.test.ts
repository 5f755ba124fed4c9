import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cut,
  escapeHtml,
  isAnswerTag,
  isOlderThan,
  isOutdated,
  isSameText,
  isSameValue,
  linesOf,
  markerIn,
  markerOf,
  newestBy,
  noteHtml,
  noteOf,
  noteText,
  partsOf,
  placed,
  placesOf,
  surveyText,
  tagsOf,
} from '../../../../core/connector/answer.ts';
import type { WriteBack } from '../../../../core/connector/contract.ts';

const answeredAt = new Date('2026-11-21T22:30:15Z');
const answer: WriteBack = {
  recordId: '7',
  status: 'answered',
  marker: '7.1',
  grade: 9,
  comment: 'Quick and kind',
  answeredAt,
  campaign: 'Support',
  maxGrade: 10,
};
const noAnswer: WriteBack = { ...answer, status: 'no-answer', grade: null, comment: null, answers: { 17: 'x' } };

describe('the parts of an answer', () => {
  test('are all that was answered; a grade or comment that is gone is a part, too', () => {
    expect(partsOf({ ...answer, comment: null, answers: { 17: 'late', q2: ['a', 'b'] } })).toEqual([
      { part: 'grade', value: 9 },
      { part: 'comment', value: null },
      { part: 'answeredAt', value: answeredAt },
      { part: 'status', value: 'answered' },
      { part: 'answers.17', value: 'late' },
      { part: 'answers.q2', value: ['a', 'b'] },
    ]);
  });

  test('are the status alone where nobody answered', () => {
    expect(partsOf(noAnswer)).toEqual([{ part: 'status', value: 'no-answer' }]);
  });

  test('go to the places that the settings name', () => {
    const settings = { status: 's', grade: 'g', comment: undefined, note: true, answers: { 17: 'why' } };
    expect([...placesOf(settings)]).toEqual([
      ['grade', 'g'],
      ['status', 's'],
      ['answers.17', 'why'],
    ]);
  });
});

test('an answer is put at the places of the settings, in the form that the vendor takes', () => {
  const places = { grade: 'g', comment: 'c', answers: { 17: 'why', 18: 'how' } };
  const values = placed({ ...answer, answers: { 17: 'late' } }, places, ({ value }) => String(value));
  expect(values).toEqual([
    { part: 'grade', place: 'g', value: '9' },
    { part: 'comment', place: 'c', value: 'Quick and kind' },
    { part: 'answers.17', place: 'why', value: 'late' },
  ]);
});

test.each([
  ['text', 'text'],
  [0, '0'],
  [false, 'false'],
  [['a', 'b'], 'a, b'],
] as const)("a survey's answer %j is %j in text", (value, text) => expect(surveyText(value)).toBe(text));

describe('a text', () => {
  test.each([
    ['twelve units', 12, 'twelve units'],
    ['thirteen unit', 12, 'thirt… (cut)'],
    ['🙂🙂🙂🙂🙂🙂🙂', 12, '🙂🙂… (cut)'],
    ['🙂🙂🙂🙂🙂🙂🙂', 13, '🙂🙂🙂… (cut)'],
  ])('%j is cut to %i units', (text, units, expected) => {
    expect(cut(text, units)).toBe(expected);
    expect(cut(text, units).length).toBeLessThanOrEqual(units);
  });

  test.each([
    ['two\r\nlines ', 'two lines', true],
    ['two  words', 'two words', true],
    ['one', 'One', false],
    ['', ' ', true],
  ])('%j and %j: the same is %s', (one, other, same) => expect(isSameText(one, other)).toBe(same));

  test.each([
    ['5.0', '5', true],
    ['', '0', false],
    ['4', '5', false],
    [' fine\r\n', 'fine', true],
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z', true],
    ['1795253400000', '2026-11-21T09:30:00.000Z', true],
    ['2026-11-21T09:31:00Z', '2026-11-21T09:30:00.000Z', false],
    // Dates to Date.parse, and texts to people.
    ['good 5', 'bad 5', false],
  ])('%j holds %j, of a vendor that keeps texts: %s', (current, wanted, same) =>
    expect(isSameValue(current, wanted)).toBe(same),
  );
});

describe('tags', () => {
  test('say what was answered', () => {
    expect(tagsOf(answer)).toEqual(['fb_answered', 'fb_grade_9']);
    expect(tagsOf({ ...answer, grade: null })).toEqual(['fb_answered']);
    expect(tagsOf(noAnswer)).toEqual(['fb_no_answer']);
  });

  test.each([
    ['fb_answered', true],
    ['fb_no_answer', true],
    ['fb_grade_10', true],
    ['fb_grade_2.5', true],
    ['fb_grade_-1', true],
    ['fb_grade_', false],
    ['fb_grade_10x', false],
    ['fb_grade_2.50', false],
    ['fb_grade_Infinity', false],
    ['vip', false],
  ])('%s is one of ours: %s', (tag, ours) => expect(isAnswerTag(tag)).toBe(ours));

  test('are ours whatever the grade is', () => {
    const grades = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(grades, (grade) => {
        expect(tagsOf({ status: 'answered', grade }).filter((tag) => !isAnswerTag(tag))).toEqual([]);
      }),
    );
  });
});

describe('a note', () => {
  test('tells the answer', () => {
    expect(noteOf(answer)).toEqual({
      title: 'Customer feedback: 9 of 10 (Support)',
      comment: 'Quick and kind',
      when: 'Answered 2026-11-21 22:30 UTC',
      reference: 'closeloop ref 7.1',
    });
    const { maxGrade: _, ...unknown } = answer;
    expect(noteOf({ ...unknown, comment: null })).toMatchObject({
      title: 'Customer feedback: 9 (Support)',
      comment: '',
    });
    expect(noteOf({ ...answer, grade: null }).title).toBe('Customer feedback: no grade (Support)');
  });

  test('tells that there was none', () => {
    expect(noteOf(noAnswer)).toEqual({
      title: 'No answer to the feedback request (Support)',
      comment: '',
      when: 'Waited for until 2026-11-21 22:30 UTC',
      reference: 'closeloop ref 7.1',
    });
  });

  test('is plain text, and ends in its reference', () => {
    expect(noteText(answer)).toBe(
      'Customer feedback: 9 of 10 (Support)\n\nQuick and kind\n\nAnswered 2026-11-21 22:30 UTC\ncloseloop ref 7.1',
    );
    expect(noteText({ ...answer, comment: null })).toBe(
      'Customer feedback: 9 of 10 (Support)\nAnswered 2026-11-21 22:30 UTC\ncloseloop ref 7.1',
    );
  });

  test('is HTML, in which nothing of the customer is markup', () => {
    expect(noteHtml({ ...answer, comment: '<b>5 & "up"</b>\nthanks' })).toBe(
      '<p><strong>Customer feedback: 9 of 10 (Support)</strong></p>' +
        '<p>&lt;b&gt;5 &amp; &quot;up&quot;&lt;/b&gt;<br>thanks</p>' +
        '<p>Answered 2026-11-21 22:30 UTC</p><p>closeloop ref 7.1</p>',
    );
  });

  test.each([['&'.repeat(65_000)], ['😀'.repeat(40_000)], ['a\n'.repeat(40_000)]])('is cut to what fits', (comment) => {
    const body = noteHtml({ ...answer, comment });
    expect(body.length).toBeLessThanOrEqual(65_000);
    expect(body.length).toBeGreaterThan(64_900);
    expect(body.isWellFormed()).toBe(true);
    expect(body).toMatch(/… \(cut\)<\/p><p>Answered .*<p>closeloop ref 7\.1<\/p>$/);
    expect(body).not.toMatch(/&(?!amp;|#39;)/);
  });

  test.each([
    ['closeloop ref 7.1', '7.1'],
    [' closeloop ref 7.12 ', '7.12'],
    ['see closeloop ref 7.1', undefined],
    ['', undefined],
  ])('is found again by its last line: %j', (line, marker) => expect(markerIn(line)).toBe(marker));
});

test.each([
  ['<p>Customer feedback: 9</p><p>closeloop ref 7.1</p>', '7.1'],
  ['Customer feedback: 9\r\ncloseloop ref 7.1\n', '7.1'],
  ['<p>closeloop ref 7.1</p><p>forwarded</p>', undefined],
  ['', undefined],
])('the note %j has the marker %s', (note, marker) => expect(markerOf(note)).toBe(marker));

test('nothing of a text is markup once it is escaped', () => {
  expect(escapeHtml(`<b>"you" & 'me'</b>`)).toBe('&lt;b&gt;&quot;you&quot; &amp; &#39;me&#39;&lt;/b&gt;');
});

test('a note of tags without an end is split once over, not once for each of them (audit loop)', () => {
  expect(linesOf(`<p>one</p>\ntwo<br>${'<'.repeat(300_000)}`)).toEqual(['one', 'two', '<'.repeat(300_000)]);
});

describe('an answer is outdated', () => {
  const places = { grade: 'g', comment: 'c', answeredAt: 't', status: 's' };
  const later = new Date(answeredAt.getTime() + 1).toISOString();
  test.each([
    ['by a later one', answer, { t: later }, true],
    ['not by itself', answer, { g: 9, t: answeredAt.toISOString() }, false],
    ['not where no time is held', answer, { g: 3, s: 'answered' }, false],
    ['if there is none: by a grade', noAnswer, { g: 0 }, true],
    ['if there is none: by a comment', noAnswer, { c: 'fine' }, true],
    ['if there is none: by the status', noAnswer, { s: 'answered' }, true],
    ['if there is none: not by empty places', noAnswer, { g: null, c: '', s: 'no-answer', t: later }, false],
  ])('%s', (_, item, held: Record<string, unknown>, outdated) => {
    expect(isOutdated(item, places, (place) => held[place])).toBe(outdated);
  });
});

describe('the newest answer', () => {
  test.each([
    [answeredAt.getTime() + 1, true],
    [answeredAt.getTime(), false],
    [undefined, false],
    [Number.NaN, false],
  ])('is on the record where its time is later: %s', (heldAt, older) => {
    expect(isOlderThan(answer, heldAt)).toBe(older);
  });

  test('of each key is taken, and of those of one time the last', () => {
    const at = (key: string, name: string, ms: number) => ({ key, name, at: new Date(ms) });
    const items = [at('a', 'first', 2), at('b', 'b', 1), at('a', 'older', 1), at('a', 'last', 2)];
    const newest = newestBy(
      items,
      ({ key }) => key,
      (item) => item.at,
    );
    expect([...newest.values()].map(({ name }) => name)).toEqual(['last', 'b']);
  });
});
