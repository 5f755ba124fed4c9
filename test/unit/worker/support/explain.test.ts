import { expect, test } from 'vitest';
import { type JourneyState, journeyStates } from '../../../../worker/journey/journey.ts';
import { explain } from '../../../../worker/support/explain.ts';
import { journeyIn } from '../../../support/worker/journey/example.ts';

const askedAt = new Date('2026-05-04T10:00:00Z');
const answer = { grade: 4, comment: null, seenAt: new Date('2026-05-05T09:30:00Z'), version: 1 };
const [asked, why] = [{ askedAt }, 'the reason'];

const rows: Record<JourneyState, [more: object, isAsked: boolean | undefined, what: RegExp]> = {
  received: [{}, undefined, /nothing is decided yet/],
  skipped: [{ why }, false, /^not asked: the reason$/],
  waiting: [{ dueAt: askedAt }, false, /^to be asked at 2026-05-04T10:00:00.000Z$/],
  creating: [{}, undefined, /not known yet/],
  asked: [asked, true, /^asked at 2026-05-04T10:00:00.000Z; no answer yet$/],
  answered: [{ ...asked, answer }, true, /answered at 2026-05-05T09:30:00.000Z; not on the record yet$/],
  written: [{ ...asked, answer }, true, /answered at 2026-05-05T09:30:00.000Z; on the record$/],
  cancelled: [{ why }, false, /^cancelled: the reason$/],
  expired: [asked, true, /nobody answered in time/],
  tested: [asked, false, /to the test contact/],
  withheld: [asked, false, /^would have been asked at 2026-05-04T10:00:00.000Z: a dry run sends nothing$/],
  failed: [{ why }, false, /^given up: the reason$/],
  parked: [{ why }, undefined, /^waits for a person: the reason$/],
};

test.each(journeyStates)('a journey that is %s says why, and whether its customer was asked', (state) => {
  const [more, isAsked, what] = rows[state];
  const found = explain(journeyIn(state, more));
  expect(found).toMatchObject({ what: expect.stringMatching(what) });
  expect(found.isAsked).toBe(isAsked);
  expect(found.remedy).toBe(
    { failed: 'journeys replay support/41960.1', parked: 'journeys resolve support/41960.1 --asked <request>' }[
      String(state)
    ],
  );
});

test('a grade that could not be put on its record is written again by a replay', () => {
  const { remedy } = explain(journeyIn('parked', { ...asked, why, answer }));
  expect(remedy).toBe('journeys replay support/41960.1');
});

const tested = { contact: { kind: 'email' as const, value: 'tester@example.com' } };
const given = { at: new Date('2026-05-04T09:30:00Z'), grade: 4, comment: null, delivered: true };
const noWriteBack = { ...asked, answer, why: 'the source has no writeBack' };
const notGiven = { ...asked, given: { ...given, delivered: false } };
const others: [what: string, state: JourneyState, more: object, isAsked: boolean | undefined, sentence: RegExp][] = [
  [
    'a test without an answer yet',
    'asked',
    { ...asked, test: tested },
    false,
    /^the request went to the test .*; no answer yet$/,
  ],
  ['a test that is being made', 'creating', { test: tested }, undefined, /^the test contact is being asked: /],
  [
    'a test that was answered',
    'tested',
    { ...asked, answer, test: tested },
    false,
    /^the request went .*, answered at 2026-05-05T09:.*$/,
  ],
  ['a test that failed', 'failed', { ...asked, why, test: tested }, false, /^given up/],
  ['a test that waits for a person', 'parked', { ...asked, why, test: tested }, false, /^waits for a person/],
  [
    'a grade from elsewhere',
    'asked',
    { ...asked, given },
    false,
    /^graded elsewhere at 2026-05-04T09:30.*not asked from here; not read/,
  ],
  ['one on the record', 'written', { ...asked, answer, given }, false, /^graded elsewhere at .*; on the record$/],
  [
    'a grade without a place',
    'written',
    { ...noWriteBack, given },
    false,
    /^graded elsewhere .*; not on the record: the source has no/,
  ],
  ['a grade that a campaign which asks by itself lacks', 'asked', notGiven, true, /^asked at .*; no answer yet$/],
  [
    'an answer without a place',
    'written',
    noWriteBack,
    true,
    /^asked at .*, answered at .*; not on the record: the source/,
  ],
];

test.each(others)('%s says what happened', (_what, state, more, isAsked, sentence) => {
  const found = explain(journeyIn(state, more));
  expect(found.what).toMatch(sentence);
  expect(found.isAsked).toBe(isAsked);
});

test('of an erased customer nothing more is told', () => {
  const journey = journeyIn('cancelled', { why, askedAt, erasedAt: askedAt });
  expect(explain(journey)).toEqual({
    what: 'the customer was erased at 2026-05-04T10:00:00.000Z: nothing more is known',
  });
});

test('a journey that failed after its customer was asked says so', () => {
  expect(explain(journeyIn('failed', { why, askedAt }))).toMatchObject({ isAsked: true });
});
