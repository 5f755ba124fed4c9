import * as made from '../../support/chaos/evidence.ts';

const { answeredAt, closedAt, evidence, journey, nothingSeen, other, record, said, taken } = made;

const forgets: typeof record = { ...record, acts: [{ do: 'forget', afterMs: 3_000 }] };
/** The same record, whose customer was forgotten at 3 s; `but` says what is otherwise. */
const forgotten = (but: made.Doctored = {}) =>
  evidence({
    ...{ records: [forgets], forgotten: [{ key: 'desk:7', at: closedAt + 3_000, inClear: [] }] },
    ...{ said: [{ ...said, contact: 'masked' }], see: nothingSeen, ...but },
  });
const askedAt = (ms: number) => ({ reads: [{ ms: ms - 500 }], taken: [{ ...taken, at: closedAt + ms }] });

const eight: typeof record = { ...record, id: 8, people: [other] };
const why = 'request 1 may be it: its contact was masked at the service since; cancel the journey';
const journeys = [journey, { ...journey, id: '8.1', recordId: '8', state: 'parked', why } as const];
const inClear = ['{cl:support}:ask:7', '{cl:support}:ask:7'];

made.judged(
  ['counts an erasure of which nothing is left', 'erased', forgotten()],
  ['sees one not masked', 'notErased', forgotten({ said: [{ ...said, grade: null, comment: null }] })],
  ['sees a journey not erased', 'notErased', forgotten({ journeys: [{ ...journey, contact: { value: 'x' } }] })],
  ['sees an answer that was not erased', 'notErased', forgotten({ journeys: [answeredAt(1)] })],
  ['sees a comment left on the record', 'notErased', forgotten({ see: { ...nothingSeen, comment: 'Fine.' } })],
  ['sees who was asked after the erasure', 'notErased', forgotten(askedAt(24_000))],
  ['lets a request pass that was on its way', 'notErased:0', forgotten(askedAt(22_000))],
  ['sees a contact in clear', 'notErased', forgotten({ forgotten: [{ key: 'desk:7', at: closedAt, inClear }] })],
  ['sees nothing wrong where an erasure never came in', 'erased:0', forgotten({ forgotten: [], said: [said] })],
  ['sees what an older version has dropped', 'dropped', evidence({ fieldsDropped: ['7.1'] })],
  [
    'tells a parked journey apart that only the contact of a forgotten person could decide',
    'undecidable',
    forgotten({ records: [forgets, eight], journeys }),
  ],
  [
    'counts a parked journey whose reason names the request of somebody who was not forgotten',
    'parked undecidable:0',
    evidence({ records: [record, eight], journeys }),
  ],
);
