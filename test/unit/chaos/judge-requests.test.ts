import * as made from '../../support/chaos/evidence.ts';
import { freshMs } from '../../system/chaos/judge-requests.ts';
import { campaigns, farZone, tester } from '../../system/chaos/policy.ts';

const { always, asked, closedAt, evidence, journey, nothingSeen, other, taken, twoOfOne, versions } = made;

const stranger = { ...taken, requestId: 9, contact: 'eve@example.com' };
const at = (ms: number, Store: string) => [{ ...taken, at: closedAt + ms, values: { Store } }];
/** What the record showed just before, and nothing earlier. */
const shown = (ticket: object, person: object = {}) => ({ reads: [{ ms: 5_500, ticket, person }] });
const read200 = { reads: [{ ms: 200 }] };
const handedOver = { reads: [{ ms: -9_000 }, { ms: 5_500, personId: 71, person: other }] };
const movedAway = { reads: [{ ms: -9_000 }, { ms: 5_500, person: { email: 'new@example.com' } }] };
const atTester = { request: { contact: tester }, see: nothingSeen };
const tooSoon = { request: { at: closedAt + 3_900 }, reads: [{ ms: 3_500 }] };
const toStore = { values: { Store: 'Tartu' } };
const noTests = { regimes: versions([3, -60_000, always]) };
const noVips = { regimes: versions([1, -60_000, always]) };
const changing = versions([0, -60_000, -9_000], [2, -20_000, always]);
const late = { ms: 5_900, ticket: { flag: 'no_survey' } } as const;
const toBeAsked = (ms: number, id: number): typeof journey => ({
  ...{ ...journey, id: `${id}.1`, recordId: String(id), state: 'waiting', requestId: undefined },
  trace: [{ at: new Date(closedAt + ms), text: 'to be asked at 2026-11-26T10:00:10.000Z' }],
});
/** The first of two under a rule that prefers the last, asked about `ms` after the closing; the last was planned at `plannedMs`. */
const first = (ms: number, plannedMs: number) =>
  twoOfOne('latest', ms, 0, {
    ...{ taken: at(ms, 'latest'), acknowledged: [] },
    journeys: [{ ...journey, trace: [] }, toBeAsked(plannedMs, 8)],
  });

made.judged(
  ['sees one of no record', 'askedWrongly', evidence({ taken: [taken, { ...stranger, marker: 'support/99.1' }] })],
  ['sees a request to a stranger', 'askedWrongly', evidence({ taken: [taken, stranger] })],
  ['sees one about a record that read as open', 'forbidden', asked('slow', { read: { ticket: { isClosed: false } } })],
  [
    'sees one about a record not read again',
    'askedWrongly',
    asked('slow', { ...read200, taken: at(201 + freshMs, 'slow') }),
  ],
  ['takes a reading as old as may be', '', evidence({ ...read200, taken: at(200 + freshMs, 'once') })],
  ['sees one by a reading of before it was due', 'askedWrongly', asked('slow', read200)],
  [
    'takes one by an earlier of two readings, as the later may be of another job',
    '',
    asked('slow', { reads: [{ ms: 200 }, { ms: 5_500 }, late] }),
  ],
  ['sees who had handed it over', 'askedWrongly', asked('slow', handedOver)],
  ['sees who was asked at an address that they had left', 'askedWrongly', asked('slow', movedAway)],
  ['sees a value that is no more', 'askedWrongly', asked('slow', { request: { values: { Store: 'once' } } })],
  ['sees an unmapped value', 'askedWrongly', asked('slow', { request: { values: { Store: 'slow', Agent: 'Ann' } } })],
  ['sees a campaign that the rule has left', 'askedWrongly', asked('slow', { request: toStore, regimes: changing })],
  [
    'takes the campaign that the rule has now',
    '',
    asked('slow', { request: { ...toStore, campaign: campaigns.desk.other }, regimes: changing }),
  ],
  [
    'takes either campaign while the processes change over',
    '',
    asked('slow', { regimes: versions([0, -60_000, 3_000], [2, 2_000, always]) }),
  ],
  ['sees the campaign of another language', 'askedWrongly', asked('tongues', shown({}, { language: 'et' }))],
  [
    'takes the campaign of the language',
    '',
    asked('tongues', { request: { campaign: campaigns.desk.estonian }, ...shown({}, { language: 'et' }) }),
  ],
  ['sees who was asked without a campaign of theirs', 'forbidden', asked('tongues', shown({}, { language: 'fi' }))],
  ['sees who was asked whom never leaves out', 'forbidden', asked('slow', shown({ flag: 'no_survey' }))],
  [
    'sees who was asked whom never leaves out since',
    'forbidden',
    asked('slow', { ...shown({ flag: 'vip' }), ...noVips }),
  ],
  ['takes who is left out no more', '', asked('slow', shown({ flag: 'vip' }))],
  ['sees who was asked though no rule takes the record', 'forbidden', asked('slow', shown({ subject: 'nothing' }))],
  ['sees who was asked before the delay was over', 'forbidden', asked('slow', tooSoon)],
  ['sees who was asked at night', 'forbidden', asked('hours', shown({}, { zone: farZone }))],
  ['takes who was asked in their hours', '', asked('hours')],
  ['sees a customer who was asked in test mode', 'askedWrongly', asked('trial')],
  ['takes the tester, whose answer is nowhere', '', asked('trial', atTester)],
  ['sees the tester asked where test mode holds no more', 'askedWrongly', asked('trial', { ...atTester, ...noTests })],
  ['sees who was asked again within the throttle', 'forbidden', twoOfOne('rare', 1_000, 30_000)],
  ['sees who was asked too soon of whom the throttle defers', 'forbidden', twoOfOne('patient', 1_000, 20_000)],
  ['takes who was asked when the throttle was over', '', twoOfOne('patient', 1_000, 31_500)],
  ['sees what is beyond the cap', 'forbidden', twoOfOne('capped', freshMs + 2_000, freshMs + 9_000)],
  ['sees the first of two where the last is preferred', 'forbidden putOff', first(9_000 + freshMs, 2_500)],
  ['takes the first where the last was not planned in time', 'putOff', first(9_000, 8_500)],
);
