import { describe, expect, test } from 'vitest';
import { audit, isClean, type Verdict } from '../../system/chaos/auditor.ts';
import type { Evidence, StoredJourney } from '../../system/chaos/evidence.ts';
import type { PlannedRecord } from '../../system/chaos/plan.ts';
import type { Shown, Taken } from '../../system/chaos/world.ts';

const record: PlannedRecord = {
  id: 7,
  vendor: 'desk',
  rule: 'once',
  contact: 'carl@example.com',
  steps: [],
  answers: [],
};
const taken: Taken = { requestId: 1, at: 2_000, campaign: 41, contact: record.contact, marker: 'support/7.1' };
const journey: StoredJourney = {
  id: '7.1',
  source: 'support',
  recordId: '7',
  state: 'written',
  requestId: '1',
  updatedAt: new Date(0),
};
const seen: Shown = {
  isClosed: true,
  grade: 4,
  comment: 'Fine.',
  notes: ['support/7.1.v1'],
  gradeTags: ['fb_grade_4'],
  mails: 0,
};
const nothingSeen: Shown = { ...seen, grade: null, comment: null, notes: [], gradeTags: [] };
const said = { requestId: 1, contact: record.contact, isCancelled: false, grade: 4, comment: 'Fine.' };

/** One record that was closed, asked about, answered and written on; `but` says what is otherwise. */
function evidence(but: Partial<Evidence> & { see?: Partial<Shown> } = {}): Evidence {
  const { see = {}, ...rest } = but;
  return {
    records: [record],
    acknowledged: [{ vendor: 'desk', id: 7, at: 1_001 }],
    forgotten: [],
    fieldsDropped: [],
    taken: [taken],
    said: [said],
    journeys: [journey],
    shown: new Map([['desk:7', { ...seen, ...see }]]),
    steps: new Map([['desk:7', [{ do: 'close', at: 1_000 }]]]),
    ...rest,
  };
}

const closedTwice: Evidence['steps'] = new Map([
  [
    'desk:7',
    [
      { do: 'close', at: 1_000 },
      { do: 'reopen', at: 3_000 },
      { do: 'close', at: 5_000 },
    ],
  ],
]);
const reopened: Evidence['steps'] = new Map([
  [
    'desk:7',
    [
      { do: 'close', at: 1_000 },
      { do: 'reopen', at: 1_500 },
    ],
  ],
]);
const again = { ...taken, requestId: 2, at: 6_000, marker: 'support/7.2' };
const said2 = { ...said, requestId: 2, grade: 2 };
const answeredAt = (ms: number, more: Partial<StoredJourney> = {}): StoredJourney => ({
  ...journey,
  ...more,
  answer: { grade: 4, comment: 'Fine.', seenAt: new Date(ms) },
});
/** Each closing asked about and answered: the second one's first to be seen, at the same time, or last. */
const answeredTwice = (firstAt: number, secondAt: number): Partial<Evidence> => ({
  records: [{ ...record, rule: 'each' }],
  taken: [taken, again],
  said: [said, said2],
  steps: closedTwice,
  journeys: [answeredAt(firstAt), answeredAt(secondAt, { id: '7.2', requestId: '2' })],
});
const isCancelled = { ...said, isCancelled: true, grade: null, comment: null };
const unanswered = { said: [], see: nothingSeen };

/** The same record, whose customer was forgotten at 3 s; `but` says what is otherwise. */
function forgotten(but: Parameters<typeof evidence>[0] = {}): Evidence {
  return evidence({
    records: [{ ...record, forgetAfterMs: 2_000 }],
    forgotten: [{ key: 'desk:7', at: 3_000, inClear: [] }],
    said: [{ ...said, contact: 'masked' }],
    see: nothingSeen,
    ...but,
  });
}

const other: PlannedRecord = { ...record, id: 8, contact: 'dora@example.com' };
const ofMasked = (id: number) =>
  `request ${id} may be it: its contact was masked at the service since; cancel the journey`;

const rows: [name: string, given: Evidence, expected: Partial<Verdict>][] = [
  ['is content with one request and one grade', evidence(), { acknowledged: 1 }],
  [
    'counts a closing once, however often it was acknowledged',
    evidence({ acknowledged: [1_001, 1_001, 1_030].map((at) => ({ vendor: 'desk', id: 7, at })) }),
    { acknowledged: 1 },
  ],
  [
    'misses an acknowledged closing that nobody asked about',
    evidence({ taken: [], journeys: [], ...unanswered }),
    { lost: 1 },
  ],
  [
    'misses one that was skipped without need',
    evidence({ taken: [], ...unanswered, journeys: [{ ...journey, state: 'skipped' }] }),
    { lost: 1 },
  ],
  [
    'does not miss what was never acknowledged',
    evidence({ acknowledged: [], taken: [], journeys: [], ...unanswered }),
    { acknowledged: 0 },
  ],
  [
    'misses a journey that stands still',
    evidence({ taken: [], ...unanswered, journeys: [{ ...journey, state: 'creating' }] }),
    { lost: 1 },
  ],
  [
    'counts a parked journey with its reason',
    evidence({ taken: [], ...unanswered, journeys: [{ ...journey, state: 'parked', why: 'two of them' }] }),
    { parked: 1, parkedReasons: ['support/7.1: two of them'] },
  ],
  [
    'tells a parked journey apart that only the contact of a forgotten person could decide',
    forgotten({
      records: [{ ...record, forgetAfterMs: 2_000 }, other],
      journeys: [journey, { ...journey, id: '8.1', recordId: '8', state: 'parked', why: ofMasked(1) }],
    }),
    { parked: 0, undecidable: 1 },
  ],
  [
    'counts a parked journey whose reason names the request of somebody who was not forgotten',
    evidence({
      records: [record, other],
      journeys: [journey, { ...journey, id: '8.1', recordId: '8', state: 'parked', why: ofMasked(1) }],
    }),
    { parked: 1, undecidable: 0 },
  ],
  [
    'sees a second request, though the journey is the same',
    evidence({ taken: [taken, { ...taken, requestId: 2 }] }),
    { askedTwice: 1 },
  ],
  [
    'sees a second request of another journey, where the rule asks once',
    evidence({ taken: [taken, again], steps: closedTwice }),
    { askedTwice: 1 },
  ],
  [
    'takes one request for each closing, where the rule says so',
    evidence({
      records: [{ ...record, rule: 'each' }],
      taken: [taken, again],
      steps: closedTwice,
      acknowledged: [{ vendor: 'desk', id: 7, at: 5_001 }],
    }),
    { acknowledged: 1 },
  ],
  [
    'misses the second closing, where each is asked about',
    evidence({
      records: [{ ...record, rule: 'each' }],
      steps: closedTwice,
      acknowledged: [{ vendor: 'desk', id: 7, at: 5_001 }],
    }),
    { lost: 1 },
  ],
  [
    'misses a closing whose only request was cancelled',
    evidence({
      said: [isCancelled],
      see: nothingSeen,
      steps: closedTwice,
      acknowledged: [{ vendor: 'desk', id: 7, at: 5_001 }],
    }),
    { lost: 1 },
  ],
  [
    'lets a cancelled request be of a record that is open in the end',
    evidence({ said: [isCancelled], see: { ...nothingSeen, isClosed: false }, steps: reopened }),
    { acknowledged: 1 },
  ],
  [
    'takes one more request for one that was cancelled',
    evidence({ taken: [taken, again], said: [isCancelled, { ...said, requestId: 2 }], steps: closedTwice }),
    { askedTwice: 0 },
  ],
  [
    'lets a record be that was reopened for good',
    evidence({
      taken: [],
      journeys: [],
      said: [],
      see: { ...nothingSeen, isClosed: false },
      steps: reopened,
    }),
    { acknowledged: 1 },
  ],
  [
    'sees a request long after the record was reopened',
    evidence({
      taken: [{ ...taken, at: 40_000 }],
      see: { isClosed: false },
      steps: reopened,
    }),
    { askedWrongly: 1 },
  ],
  [
    'sees a request that no record accounts for',
    evidence({ taken: [taken, { ...taken, requestId: 9, contact: 'eve@example.com', marker: 'support/99.1' }] }),
    { askedWrongly: 1 },
  ],
  [
    'sees a request to the wrong person',
    evidence({ taken: [taken, { ...taken, requestId: 9, contact: 'eve@example.com' }] }),
    { askedWrongly: 1 },
  ],
  ['misses a grade that is not on the record', evidence({ see: nothingSeen }), { lost: 1 }],
  ['sees another grade than was given', evidence({ see: { grade: 5 } }), { writtenWrong: 1 }],
  ['sees an older comment', evidence({ see: { comment: 'Bad.' } }), { writtenWrong: 1 }],
  ['sees a grade that nobody gave', evidence({ said: [{ ...said, grade: null, comment: null }] }), { writtenWrong: 1 }],
  ['sees the answer to an earlier closing over a later one', evidence(answeredTwice(1, 2)), { writtenWrong: 1 }],
  ['sees it too where both were seen at once', evidence(answeredTwice(2, 2)), { writtenWrong: 1 }],
  ['takes a later answer to the earlier closing', evidence(answeredTwice(3, 2)), { writtenWrong: 0 }],
  [
    'takes the older answer where the newer one could not be written',
    evidence({
      ...answeredTwice(1, 2),
      journeys: [answeredAt(1), answeredAt(2, { id: '7.2', requestId: '2', state: 'parked', why: 'closed' })],
    }),
    { parked: 1 },
  ],
  [
    'sees a note that is there twice',
    evidence({ see: { notes: ['support/7.1.v1', 'support/7.1.v1'] } }),
    { writtenWrong: 1 },
  ],
  [
    'sees a grade tag that was left',
    evidence({ see: { gradeTags: ['fb_grade_3', 'fb_grade_4'] } }),
    { writtenWrong: 1 },
  ],
  ['sees a mail to the customer', evidence({ see: { mails: 1 } }), { writtenWrong: 1 }],
  ['counts an erasure of which nothing is left', forgotten(), { erased: 1 }],
  [
    'sees a request that was not masked',
    forgotten({ said: [{ ...said, grade: null, comment: null }] }),
    { notErased: 1 },
  ],
  [
    'sees a journey that was not erased',
    forgotten({ journeys: [{ ...journey, contact: { value: 'x' } }] }),
    { notErased: 1 },
  ],
  ['sees an answer that was not erased', forgotten({ journeys: [answeredAt(1)] }), { notErased: 1 }],
  [
    'sees a comment that stayed on the record',
    forgotten({ see: { ...nothingSeen, comment: 'Fine.' } }),
    { notErased: 1 },
  ],
  ['sees who was asked after the erasure', forgotten({ taken: [{ ...taken, at: 24_000 }] }), { notErased: 1 }],
  ['lets a request pass that was on its way', forgotten({ taken: [{ ...taken, at: 22_000 }] }), { notErased: 0 }],
  [
    'sees a contact in clear in Redis',
    forgotten({ forgotten: [{ key: 'desk:7', at: 3_000, inClear: ['{cl:support}:ask:7', '{cl:support}:ask:7'] }] }),
    { notErased: 1 },
  ],
  ['sees nothing wrong where an erasure never came in', forgotten({ forgotten: [], said: [said] }), { erased: 0 }],
  ['sees what an older version has dropped', evidence({ fieldsDropped: ['7.1'] }), { dropped: 1 }],
  ['sees that a record was reopened by us', evidence({ see: { isClosed: false } }), { writtenWrong: 1 }],
];

describe('the auditor', () => {
  test.each(rows)('it %s', (_, given, expected) => {
    const none = { lost: 0, askedTwice: 0, askedWrongly: 0, notErased: 0, dropped: 0, writtenWrong: 0, parked: 0 };
    expect(audit(given)).toMatchObject({ ...none, ...expected });
  });

  test('it passes one parked journey in a thousand, and nothing else', () => {
    const verdict = { ...audit(evidence()), acknowledged: 2_000 };
    expect(isClean(verdict)).toBe(true);
    expect(isClean({ ...verdict, parked: 2 })).toBe(true);
    expect(isClean({ ...verdict, parked: 3 })).toBe(false);
    for (const count of ['lost', 'askedTwice', 'askedWrongly', 'notErased', 'dropped', 'writtenWrong']) {
      expect(isClean({ ...verdict, [count]: 1 })).toBe(false);
    }
  });
});
