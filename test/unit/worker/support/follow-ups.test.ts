import { expect, test } from 'vitest';
import { gradeInWords, gradesInWords } from '../../../../worker/journey/outcomes.ts';
import { dueInWords, personInWords } from '../../../../worker/support/follow-ups.ts';

const minute = 60_000;
test.each([
  [0, 'due now'],
  [-30_000, 'due now'],
  [minute, 'due in 1 minute'],
  [119 * minute, 'due in 119 minutes'],
  [180 * minute, 'due in 3 hours'],
  [-120 * minute, '2 hours overdue'],
  [-47 * 60 * minute, '47 hours overdue'],
  [-3 * 1_440 * minute, '3 days overdue'],
])('%d ms from now is %s', (ms, words) => {
  const now = new Date('2026-05-04T09:00:00Z');
  expect(dueInWords({ dueAt: new Date(now.getTime() + ms) }, now)).toBe(words);
});

const seen = { comment: null, seenAt: new Date(), version: 1 };
test.each([
  [{ answer: { ...seen, grade: 2 }, maxGrade: 5 }, '2 of 5'],
  [{ answer: { ...seen, grade: 2 } }, '2'],
  [{ answer: { ...seen, grade: null }, maxGrade: 5 }, undefined],
  [{}, undefined],
])('the grade of %j', (journey, words) => {
  expect(gradeInWords(journey)).toBe(words);
});

const opened = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: new Date(), dueAt: new Date() } as const;
test.each([
  [{ ...opened, agent: 'Jaan Kask' }, 'Jaan Kask'],
  [opened, 'the agent of the ticket'],
  [{ ...opened, to: 'Maria' }, 'Maria'],
])('the person whom %j is meant for', (followUp, words) => {
  expect(personInWords(followUp, 'ticket')).toBe(words);
});

test.each([
  ['corrected', 2, 5, '5 of 5, was 2 of 5'],
  ['given again', 2, 2, '2 of 5'],
  ['given after words alone', null, 5, '5 of 5, was without a grade'],
  ['taken back', 2, null, 'was 2 of 5'],
  ['of a follow-up that an earlier version has opened', undefined, 5, '5 of 5'],
])('a grade %s', (_what, openingGrade, grade, words) => {
  expect(gradesInWords({ answer: { ...seen, grade }, maxGrade: 5, followUp: { ...opened, openingGrade } })).toBe(words);
});
