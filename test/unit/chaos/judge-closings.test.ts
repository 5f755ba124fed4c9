import * as made from '../../support/chaos/evidence.ts';
import { patienceMs } from '../../system/chaos/plan-records.ts';
import { farZone } from '../../system/chaos/policy.ts';

const { always, closedAt, closedTwice, each, each1, each2, evidence, isCancelled, journey, journey2 } = made;
const { again, nothingSeen, readTwice, said, saidFirst, steps, taken, told, twoOfOne, unanswered, unasked } = made;

/** Never asked about, with these words on its journey. */
const not = (what: object, but: made.Doctored = {}) =>
  evidence({ ...unasked, journeys: [{ ...journey, ...what }], ...but });
const waiting = { state: 'waiting', dueAt: new Date(closedAt + 9e6) };
const reads = (more: object): made.Doctored => ({ reads: [{ ms: 500, ...more }] });
const reopened = { see: { ...nothingSeen, isClosed: false }, steps: steps(['close', 0], ['reopen', 1_500]) };
const vip = made.versions([0, -9, 60_000], [1, 50_000, always]);
const rare = { ...taken, values: { Store: 'rare' } };
const twice = { steps: closedTwice, reads: readTwice };

made.judged(
  ['is content with one request and one grade', 'acknowledged', evidence()],
  ['counts a closing once, acknowledged often', 'acknowledged', evidence({ acknowledged: told(1, 1, 30) })],
  ['misses a closing that nobody asked about', 'lost', evidence({ journeys: [], ...unasked })],
  ['misses one that was skipped without need', 'lost', not({ state: 'skipped' })],
  ['does not miss what was never acknowledged', '', evidence({ acknowledged: [], journeys: [], ...unasked })],
  ['misses a journey that stands still', 'lost', not({ state: 'creating' })],
  ['misses one that waits for no reason', 'lost putOff', not(waiting)],
  ['lets one wait whose cap has no place left', 'putOff', not(waiting, { rule: 'capped' })],
  ['lets a customer sleep', 'putOff', not(waiting, { rule: 'hours', ...reads({ person: { zone: farZone } }) })],
  ['misses one that waits though its customer is awake', 'lost putOff', not(waiting, { rule: 'hours' })],
  ['takes who is never asked', '', evidence({ ...unasked, ...reads({ ticket: { flag: 'no_survey' } }) })],
  ["takes what is no rule's", '', evidence({ ...unasked, ...reads({ ticket: { subject: 'nothing' } }) })],
  [
    'misses one that only a version of the rules left out which did not hold yet',
    'lost',
    evidence({ ...unasked, ...reads({ ticket: { flag: 'vip' } }), regimes: vip }),
  ],
  ['takes a closing whose person a throttle held', '', { ...twoOfOne('rare', 1_000, 2_500), taken: [rare] }],
  ['counts a parked journey', 'parked', not({ state: 'parked', why: 'two of them' })],
  ['sees a second request of one journey', 'askedTwice', evidence({ taken: [taken, { ...taken, requestId: 2 }] })],
  [
    'sees a second request of another journey, where the rule asks once',
    'askedTwice',
    evidence({ ...twice, taken: [taken, again], journeys: [journey, journey2] }),
  ],
  ['takes one for each closing, where the rule says so', '', evidence({ ...each, taken: [each1, each2] })],
  [
    'sees two requests about one of several closings, though there are no more of them than closings',
    'askedTwice',
    evidence({
      ...{ ...each, ...unanswered, acknowledged: told(1), journeys: [journey] },
      taken: [each1, { ...each1, requestId: 2, marker: 'support/7.3' }],
    }),
  ],
  ['misses the second closing, where each is asked about', 'lost', evidence({ ...each, taken: [each1] })],
  [
    'misses the first closing, where each is asked about and it stayed long enough',
    'lost',
    evidence({
      ...{ ...each, ...unanswered, acknowledged: told(1, patienceMs + 5_000) },
      steps: steps(['close', 0], ['reopen', patienceMs + 1_000], ['close', patienceMs + 4_000]),
      reads: [{ ms: 500 }, { ms: patienceMs + 4_600 }],
      taken: [{ ...each2, at: closedAt + patienceMs + 5_000 }],
      journeys: [{ ...journey2, closedAt: new Date(closedAt + patienceMs + 4_000) }],
    }),
  ],
  ['lets a closing be that was reopened at once', '', evidence({ ...each, ...unanswered, taken: [each2] })],
  [
    'misses a closing whose only request was cancelled',
    'lost',
    evidence({ ...twice, said: [isCancelled], see: nothingSeen, acknowledged: told(6_001) }),
  ],
  ['lets a cancelled request be of what is open in the end', '', evidence({ ...reopened, said: [isCancelled] })],
  [
    'takes one more request for one that was cancelled',
    '',
    evidence({
      ...{ ...twice, taken: [taken, again], journeys: [journey, journey2] },
      ...{ said: [isCancelled, { ...said, requestId: 2 }], saidAt: [{ ...saidFirst, requestId: 2 }] },
    }),
  ],
  ['lets a record be that was reopened for good', '', evidence({ ...unasked, ...reopened, journeys: [] })],
);
