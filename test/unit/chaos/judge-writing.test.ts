import * as made from '../../support/chaos/evidence.ts';
import { tester } from '../../system/chaos/policy.ts';

const { answeredAt, answeredTwice, asked, closedAt, evidence, journey2, nothingSeen, said, saidFirst, written } = made;

const changed = { at: closedAt + 9_000, grade: 2, comment: 'Worse.' };
const saidAgain = { requestId: 1, at: closedAt + 8_000, grade: 2, comment: 'Worse.' };
/** The customer said something else later, and this is what stood on the record one after the other. */
const changedMind = (...history: (typeof written)[]) =>
  evidence({
    ...{ said: [{ ...said, grade: 2, comment: 'Worse.' }], saidAt: [saidFirst, saidAgain] },
    see: { grade: 2, comment: 'Worse.', history },
  });
const lateJob = [
  { ...written, at: closedAt + 30_000 },
  { ...changed, at: closedAt + 31_000 },
];
const parked2 = { ...answeredAt(2, journey2), state: 'parked', why: 'closed' } as const;

made.judged(
  ['misses a grade that is not on the record', 'lost', evidence({ see: nothingSeen })],
  ['sees another grade than was given', 'writtenWrong', evidence({ see: { grade: 5 } })],
  ['sees an older comment', 'writtenWrong', evidence({ see: { comment: 'Bad.' } })],
  ['sees a grade that nobody gave', 'writtenWrong', evidence({ said: [{ ...said, grade: null, comment: null }] })],
  [
    'sees what was there for a moment though nobody had said so',
    'writtenWrong',
    evidence({ see: { history: [{ ...written, grade: 1 }, written] } }),
  ],
  ['sees versions mixed', 'writtenWrong', changedMind(written, { ...changed, comment: 'Fine.' }, changed)],
  ['takes a change of mind', '', changedMind(written, changed)],
  ['sees an older answer over the newer one for a moment', 'writtenWrong', changedMind(written, changed, ...lateJob)],
  [
    'sees a value that stood there before the customer said it',
    'writtenWrong',
    evidence({ see: { history: [{ ...written, at: closedAt }] } }),
  ],
  ["sees the tester's grade on the record", 'writtenWrong:2', asked('trial', { request: { contact: tester } })],
  ['sees the answer to an earlier closing over a later one', 'writtenWrong', evidence(answeredTwice(1, 2))],
  ['sees it too where both were seen at once', 'writtenWrong', evidence(answeredTwice(2, 2))],
  ['takes a later answer to the earlier closing', '', evidence(answeredTwice(3, 2))],
  [
    'takes the older answer where the newer one could not be written',
    'parked',
    evidence({ ...answeredTwice(1, 2), journeys: [answeredAt(1), parked2] }),
  ],
  ['sees a note there twice', 'writtenWrong', evidence({ see: { notes: ['support/7.1.v1', 'support/7.1.v1'] } })],
  ['sees a grade tag that was left', 'writtenWrong', evidence({ see: { gradeTags: ['fb_grade_3', 'fb_grade_4'] } })],
  ['sees a mail to the customer', 'writtenWrong', evidence({ see: { mails: 1 } })],
  ['sees that a record was reopened by us', 'writtenWrong', evidence({ see: { isClosed: false } })],
);
