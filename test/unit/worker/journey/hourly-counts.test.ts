import { expect, test } from 'vitest';
import { countChanges } from '../../../../worker/journey/hourly-counts.ts';
import { journeyIn } from '../../../support/worker/journey/example.ts';

const askedAt = new Date('2026-05-04T23:59:59Z');
const answer = { grade: 4, comment: null, seenAt: new Date('2026-05-05T00:00:00Z'), version: 1 };
const campaign = 12;
const [creating, asked] = [journeyIn('creating', { campaign }), journeyIn('asked', { campaign, askedAt })];
const answered = journeyIn('answered', { campaign, askedAt, answer });
const cancelled = journeyIn('cancelled', { campaign, askedAt });
const changed = journeyIn('answered', { campaign, askedAt, answer: { ...answer, version: 2 } });
const askedAgain = journeyIn('asked', { campaign, askedAt: answer.seenAt });
const on = (day: string, field: string, by: 1 | -1 = 1) => ({ day: `2026-05-${day}`, field, by });

test.each([
  ['an asking counts in its hour', creating, asked, [on('04', 'asked:12:23')]],
  [
    'an answer counts in its hour and that of asking',
    asked,
    answered,
    [on('05', 'answered:12:00'), on('04', 'responses:12:23')],
  ],
  ['a change counts once', answered, changed, []],
  [
    'a grade from elsewhere has no asking',
    creating,
    journeyIn('answered', { campaign, answer }),
    [on('05', 'answered:12:00')],
  ],
  ['a request cancelled before it was sent asked nobody', asked, cancelled, [on('04', 'asked:12:23', -1)]],
  ['one cancelled after its answer was asked', answered, journeyIn('cancelled', { campaign, askedAt, answer }), []],
  ['the next asking of a cancelled one counts anew', cancelled, askedAgain, [on('05', 'asked:12:00')]],
  ['a dry run asks nobody', creating, journeyIn('withheld', { campaign, askedAt }), []],
  ['an erasure takes nothing back', answered, journeyIn('cancelled', { campaign, erasedAt: answer.seenAt }), []],
] as const)('%s', (_, before, after, changes) => {
  expect(countChanges(before, after)).toEqual(changes);
});
