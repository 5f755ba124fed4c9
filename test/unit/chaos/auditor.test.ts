import { describe, expect, test } from 'vitest';
import { audit, isClean, type Offence, offenceNames, type Verdict } from '../../system/chaos/auditor.ts';
import type { Evidence, StoredJourney } from '../../system/chaos/evidence.ts';
import { freshMs } from '../../system/chaos/judge-requests.ts';
import { patienceMs } from '../../system/chaos/plan-records.ts';
import type { PersonFacts, PlannedRecord, RuleName, TicketFacts } from '../../system/chaos/planned-record.ts';
import { accountZone, campaigns, farZone, tester, versionOf } from '../../system/chaos/policy.ts';
import type { Shown } from '../../system/chaos/shown.ts';
import { Sightings } from '../../system/chaos/sightings.ts';
import type { Taken } from '../../system/chaos/world.ts';

/** The record was closed at this instant, and all others are counted from it: 12:00 in Tallinn, 23:00 in Auckland. */
const closedAt = Date.UTC(2026, 10, 26, 10);
const customer: PersonFacts = { email: 'carl@example.com', language: 'en', zone: accountZone };
const other: PersonFacts = { ...customer, email: 'dora@example.com' };
const ticket: TicketFacts = { subject: 'once', store: 'Tartu', flag: '' };
const record: PlannedRecord = {
  ...{ id: 7, vendor: 'desk', rule: 'once', ticket, people: [customer, other], at: 0, answers: [] },
  acts: [],
};
const taken: Taken = {
  ...{ requestId: 1, at: closedAt + 1_000, campaign: campaigns.desk.main, contact: customer.email },
  ...{ marker: 'support/7.1', values: { Store: 'once' } },
};
const journey: StoredJourney = {
  ...{ id: '7.1', source: 'support', recordId: '7', state: 'written', requestId: '1', trace: [] },
  ...{ updatedAt: new Date(closedAt), closedAt: new Date(closedAt) },
};
const written = { at: closedAt + 5_000, grade: 4, comment: 'Fine.' };
const seen: Shown = {
  ...{ isClosed: true, grade: 4, comment: 'Fine.', history: [written] },
  ...{ notes: ['support/7.1.v1'], gradeTags: ['fb_grade_4'], mails: 0 },
};
const nothingSeen: Shown = { ...seen, grade: null, comment: null, history: [], notes: [], gradeTags: [] };
const said = { requestId: 1, contact: customer.email, isCancelled: false, grade: 4, comment: 'Fine.' };
const saidFirst = { requestId: 1, at: closedAt + 3_000, grade: 4, comment: 'Fine.' };

/** What a help desk returned, at an instant after the closing. */
interface Read {
  ms: number;
  id?: number;
  ticket?: Partial<TicketFacts & { isClosed: boolean }>;
  person?: Partial<PersonFacts>;
  personId?: number;
}

function sightingsOf(reads: readonly Read[], subject: RuleName): Sightings {
  const sightings = new Sightings();
  for (const { ms, id = 7, ticket: shows = {}, person = {}, personId = 70 } of reads.toSorted((a, b) => a.ms - b.ms)) {
    sightings.note('desk', closedAt + ms, [
      { of: 'ticket', id, shows: { ...ticket, subject, isClosed: true, ...shows } },
      { of: 'holder', id, shows: personId },
      { of: 'person', id: personId, shows: { ...customer, ...person } },
    ]);
  }
  return sightings;
}

type Doctored = Partial<Omit<Evidence, 'sightings'>> & { see?: Partial<Shown>; rule?: RuleName; reads?: Read[] };

/** One record that was closed, read, asked about, answered and written on; `but` says what is otherwise. */
function evidence({ see = {}, rule = 'once', reads = [{ ms: 500 }], ...rest }: Doctored = {}): Evidence {
  return {
    records: [{ ...record, rule, ticket: { ...ticket, subject: rule } }],
    acknowledged: [{ vendor: 'desk', id: 7, at: closedAt + 1, answeredAt: closedAt + 100 }],
    ...{ forgotten: [], fieldsDropped: [], taken: [taken], said: [said], saidAt: [saidFirst], journeys: [journey] },
    shown: new Map([['desk:7', { ...seen, ...see }]]),
    steps: new Map([['desk:7', [{ do: 'close', at: closedAt }]]]),
    sightings: sightingsOf(reads, rule),
    regimes: [{ version: versionOf(0), from: 0, until: Number.POSITIVE_INFINITY }],
    settings: { window: { from: '11:00', until: '19:00' }, capPerHour: 1 },
    endedAt: closedAt + 600_000,
    ...rest,
  };
}

/** A request of a rule that delays, and what its record showed a moment before. */
function asked(rule: RuleName, request: Partial<Taken>, read: Omit<Read, 'ms'> = {}, more: Doctored = {}): Evidence {
  const at = closedAt + 6_000;
  return evidence({
    rule,
    reads: [{ ms: 200 }, { ms: 5_500, ...read }],
    taken: [{ ...taken, at, values: { Store: rule }, ...request }],
    ...more,
  });
}

const steps = (...list: [what: 'close' | 'reopen', ms: number][]): Evidence['steps'] =>
  new Map([['desk:7', list.map(([what, ms]) => ({ do: what, at: closedAt + ms }))]]);
const closedTwice = steps(['close', 0], ['reopen', 3_000], ['close', 6_000]);
const again: Taken = { ...taken, requestId: 2, at: closedAt + 7_000, marker: 'support/7.2' };
const journey2: StoredJourney = { ...journey, id: '7.2', requestId: '2', closedAt: new Date(closedAt + 6_000) };
const readTwice: Read[] = [{ ms: 500 }, { ms: 6_500 }];
const told = (...ms: number[]): Evidence['acknowledged'] =>
  ms.map((one) => ({ vendor: 'desk', id: 7, at: closedAt + one, answeredAt: closedAt + one + 100 }));
const answeredAt = (ms: number, of: StoredJourney = journey): StoredJourney => ({
  ...of,
  answer: { grade: 4, comment: 'Fine.', seenAt: new Date(ms) },
});
const each: Doctored = {
  ...{ rule: 'each', steps: closedTwice, acknowledged: told(1, 6_001), reads: readTwice },
  ...{ journeys: [journey, journey2] },
};
const each1 = { ...taken, values: { Store: 'each' } };
const each2 = { ...again, values: { Store: 'each' } };
/** Each closing asked about and answered: the second one's first to be seen, at the same time, or last. */
const answeredTwice = (firstAt: number, secondAt: number): Doctored => ({
  ...each,
  taken: [each1, each2],
  said: [said, { ...said, requestId: 2, grade: 2 }],
  journeys: [answeredAt(firstAt), answeredAt(secondAt, journey2)],
});
const isCancelled = { ...said, isCancelled: true, grade: null, comment: null };
const unanswered = { said: [], saidAt: [], see: nothingSeen };
const unasked = { ...unanswered, taken: [] };

/** The same record, whose customer was forgotten at 3 s; `but` says what is otherwise. */
function forgotten(but: Doctored = {}): Evidence {
  return evidence({
    records: [{ ...record, acts: [{ do: 'forget', afterMs: 3_000 }] }],
    forgotten: [{ key: 'desk:7', at: closedAt + 3_000, inClear: [] }],
    said: [{ ...said, contact: 'masked' }],
    see: nothingSeen,
    ...but,
  });
}

const ofMasked = (id: number) =>
  `request ${id} may be it: its contact was masked at the service since; cancel the journey`;
const eight: PlannedRecord = { ...record, id: 8, people: [other] };
const parked8: StoredJourney = { ...journey, id: '8.1', recordId: '8', state: 'parked', why: ofMasked(1) };

/** Two records of one person under a rule that counts requests: the second asked about 20 s after the first. */
function twoOfOne(rule: RuleName, first: number, second: number, more: Doctored = {}): Evidence {
  const two = { ...record, rule, ticket: { ...ticket, subject: rule }, people: [customer] as const };
  const values = { Store: rule };
  const at = (ms: number): Partial<Taken> => ({ at: closedAt + ms, values });
  return evidence({
    ...{ rule, records: [two, { ...two, id: 8 }], said: [], saidAt: [], see: nothingSeen },
    steps: new Map([
      ['desk:7', [{ do: 'close', at: closedAt }]],
      ['desk:8', [{ do: 'close', at: closedAt + 2_000 }]],
    ]),
    reads: [{ ms: first - 300 }, { ms: second - 300, id: 8 }],
    taken: [
      { ...taken, ...at(first) },
      { ...taken, ...at(second), requestId: 2, marker: 'support/8.1' },
    ],
    ...more,
  });
}
const toBeAsked = (ms: number, id: number): StoredJourney => ({
  ...{ ...journey, id: `${id}.1`, recordId: String(id), state: 'waiting', requestId: undefined },
  trace: [{ at: new Date(closedAt + ms), text: 'to be asked at 2026-11-26T10:00:10.000Z' }],
});

const versions = (...list: [n: number, from: number, until: number][]): Evidence['regimes'] =>
  list.map(([n, from, until]) => ({ version: versionOf(n), from: closedAt + from, until: closedAt + until }));
const always = Number.POSITIVE_INFINITY;
const changed = { at: closedAt + 9_000, grade: 2, comment: 'Worse.' };
const saidAgain = { requestId: 1, at: closedAt + 8_000, grade: 2, comment: 'Worse.' };
const changedMind: Doctored = { said: [{ ...said, grade: 2, comment: 'Worse.' }], saidAt: [saidFirst, saidAgain] };

type Row = [name: string, given: Evidence, expected: Partial<Verdict>];

const closings: Row[] = [
  ['is content with one request and one grade', evidence(), { acknowledged: 1 }],
  [
    'counts a closing once, however often it was acknowledged',
    evidence({ acknowledged: told(1, 1, 30) }),
    { acknowledged: 1 },
  ],
  ['misses an acknowledged closing that nobody asked about', evidence({ journeys: [], ...unasked }), { lost: 1 }],
  [
    'misses one that was skipped without need',
    evidence({ ...unasked, journeys: [{ ...journey, state: 'skipped' }] }),
    { lost: 1 },
  ],
  [
    'does not miss what was never acknowledged',
    evidence({ acknowledged: [], journeys: [], ...unasked }),
    { acknowledged: 0 },
  ],
  [
    'misses a journey that stands still',
    evidence({ ...unasked, journeys: [{ ...journey, state: 'creating' }] }),
    { lost: 1 },
  ],
  [
    'misses one that waits for no reason',
    evidence({ ...unasked, journeys: [{ ...journey, state: 'waiting', dueAt: new Date(closedAt + 9e6) }] }),
    { lost: 1, putOff: 1 },
  ],
  [
    'lets one wait whose cap has no place left',
    evidence({
      ...unasked,
      rule: 'capped',
      journeys: [{ ...journey, state: 'waiting', dueAt: new Date(closedAt + 9e6) }],
    }),
    { putOff: 1 },
  ],
  [
    'lets one wait whose customer sleeps',
    evidence({
      ...{ ...unasked, rule: 'hours', reads: [{ ms: 500, person: { zone: farZone } }] },
      journeys: [{ ...journey, state: 'waiting', dueAt: new Date(closedAt + 9e6) }],
    }),
    { putOff: 1 },
  ],
  [
    'misses one that waits though its customer is awake',
    evidence({
      ...unasked,
      rule: 'hours',
      journeys: [{ ...journey, state: 'waiting', dueAt: new Date(closedAt + 9e6) }],
    }),
    { lost: 1, putOff: 1 },
  ],
  [
    'takes a record that read as never to be asked',
    evidence({ ...unasked, reads: [{ ms: 500, ticket: { flag: 'no_survey' } }] }),
    { lost: 0 },
  ],
  [
    "takes a record that read as no rule's",
    evidence({ ...unasked, reads: [{ ms: 500, ticket: { subject: 'nothing' } }] }),
    { lost: 0 },
  ],
  [
    'misses one that only a version of the rules left out which did not hold yet',
    evidence({
      ...unasked,
      reads: [{ ms: 500, ticket: { flag: 'vip' } }],
      regimes: versions([0, -9, 60_000], [1, 50_000, always]),
    }),
    { lost: 1 },
  ],
  [
    'takes a closing whose person a throttle held',
    evidence({ ...twoOfOne('rare', 1_000, 2_500), taken: [{ ...taken, values: { Store: 'rare' } }] }),
    { lost: 0 },
  ],
  [
    'counts a parked journey with its reason',
    evidence({ ...unasked, journeys: [{ ...journey, state: 'parked', why: 'two of them' }] }),
    { parked: 1, parkedReasons: ['support/7.1: two of them'] },
  ],
  [
    'tells a parked journey apart that only the contact of a forgotten person could decide',
    forgotten({
      records: [{ ...record, acts: [{ do: 'forget', afterMs: 3_000 }] }, eight],
      journeys: [journey, parked8],
    }),
    { parked: 0, undecidable: 1 },
  ],
  [
    'counts a parked journey whose reason names the request of somebody who was not forgotten',
    evidence({ records: [record, eight], journeys: [journey, parked8] }),
    { parked: 1, undecidable: 0 },
  ],
  [
    'sees a second request, though the journey is the same',
    evidence({ taken: [taken, { ...taken, requestId: 2 }] }),
    { askedTwice: 1 },
  ],
  [
    'sees a second request of another journey, where the rule asks once',
    evidence({ taken: [taken, again], steps: closedTwice, reads: readTwice, journeys: [journey, journey2] }),
    { askedTwice: 1 },
  ],
  [
    'takes one request for each closing, where the rule says so',
    evidence({ ...each, taken: [each1, each2] }),
    { acknowledged: 2 },
  ],
  [
    'sees two requests about one of several closings, though there are no more of them than closings',
    evidence({
      ...each,
      taken: [each1, { ...each1, requestId: 2, marker: 'support/7.3' }],
      acknowledged: told(1),
      ...unanswered,
      journeys: [journey],
    }),
    { askedTwice: 1 },
  ],
  ['misses the second closing, where each is asked about', evidence({ ...each, taken: [each1] }), { lost: 1 }],
  [
    'misses the first closing, where each is asked about and it stayed long enough',
    evidence({
      ...{ ...each, ...unanswered, acknowledged: told(1, patienceMs + 5_000) },
      steps: steps(['close', 0], ['reopen', patienceMs + 1_000], ['close', patienceMs + 4_000]),
      reads: [{ ms: 500 }, { ms: patienceMs + 4_600 }],
      taken: [{ ...each2, at: closedAt + patienceMs + 5_000 }],
      journeys: [{ ...journey2, closedAt: new Date(closedAt + patienceMs + 4_000) }],
    }),
    { lost: 1 },
  ],
  [
    'lets the first closing be that was reopened at once',
    evidence({ ...each, ...unanswered, taken: [each2] }),
    { lost: 0 },
  ],
  [
    'misses a closing whose only request was cancelled',
    evidence({
      said: [isCancelled],
      see: nothingSeen,
      steps: closedTwice,
      acknowledged: told(6_001),
      reads: readTwice,
    }),
    { lost: 1 },
  ],
  [
    'lets a cancelled request be of a record that is open in the end',
    evidence({
      said: [isCancelled],
      see: { ...nothingSeen, isClosed: false },
      steps: steps(['close', 0], ['reopen', 1_500]),
    }),
    { acknowledged: 1 },
  ],
  [
    'takes one more request for one that was cancelled',
    evidence({
      taken: [taken, again],
      said: [isCancelled, { ...said, requestId: 2 }],
      saidAt: [{ ...saidFirst, requestId: 2 }],
      steps: closedTwice,
      reads: readTwice,
      journeys: [journey, journey2],
    }),
    { askedTwice: 0 },
  ],
  [
    'lets a record be that was reopened for good',
    evidence({
      ...unasked,
      journeys: [],
      see: { ...nothingSeen, isClosed: false },
      steps: steps(['close', 0], ['reopen', 1_500]),
    }),
    { acknowledged: 1 },
  ],
];

const requests: Row[] = [
  [
    'sees a request that no record accounts for',
    evidence({ taken: [taken, { ...taken, requestId: 9, contact: 'eve@example.com', marker: 'support/99.1' }] }),
    { askedWrongly: 1 },
  ],
  [
    'sees a request to a stranger',
    evidence({ taken: [taken, { ...taken, requestId: 9, contact: 'eve@example.com' }] }),
    { askedWrongly: 1 },
  ],
  [
    'sees a request about a record that read as open',
    asked('slow', {}, { ticket: { isClosed: false } }),
    { forbidden: 1 },
  ],
  [
    'sees a request about a record that was not read again',
    asked(
      'slow',
      {},
      {},
      { reads: [{ ms: 200 }], taken: [{ ...taken, at: closedAt + 201 + freshMs, values: { Store: 'slow' } }] },
    ),
    { askedWrongly: 1 },
  ],
  [
    'takes one whose reading is as old as may be',
    evidence({ reads: [{ ms: 200 }], taken: [{ ...taken, at: closedAt + 200 + freshMs }] }),
    {},
  ],
  [
    "sees one by a reading of before it was due, which was the planning's",
    asked('slow', {}, {}, { reads: [{ ms: 200 }] }),
    { askedWrongly: 1 },
  ],
  [
    'takes one by an earlier of two readings, as the later may be of another job',
    asked('slow', {}, {}, { reads: [{ ms: 200 }, { ms: 5_500 }, { ms: 5_900, ticket: { flag: 'no_survey' } }] }),
    {},
  ],
  [
    'sees who was asked who had handed the record over',
    asked(
      'slow',
      {},
      { personId: 71, person: other },
      { reads: [{ ms: -9_000 }, { ms: 5_500, personId: 71, person: other }] },
    ),
    { askedWrongly: 1 },
  ],
  [
    'sees who was asked at an address that they had left',
    asked(
      'slow',
      {},
      { person: { email: 'new@example.com' } },
      { reads: [{ ms: -9_000 }, { ms: 5_500, person: { email: 'new@example.com' } }] },
    ),
    { askedWrongly: 1 },
  ],
  ['sees a value that the record had no more', asked('slow', { values: { Store: 'once' } }), { askedWrongly: 1 }],
  ['sees a value that nobody mapped', asked('slow', { values: { Store: 'slow', Agent: 'Ann' } }), { askedWrongly: 1 }],
  [
    'sees a campaign that the rule has left',
    asked(
      'slow',
      {},
      {},
      {
        regimes: versions([0, -60_000, -9_000], [2, -20_000, always]),
        taken: [{ ...taken, at: closedAt + 6_000, values: { Store: 'Tartu' } }],
      },
    ),
    { askedWrongly: 1 },
  ],
  [
    'takes the campaign that the rule has now',
    asked(
      'slow',
      { campaign: campaigns.desk.other, values: { Store: 'Tartu' } },
      {},
      { regimes: versions([0, -60_000, -9_000], [2, -20_000, always]) },
    ),
    {},
  ],
  [
    'takes either campaign while the processes change over',
    asked('slow', {}, {}, { regimes: versions([0, -60_000, 3_000], [2, 2_000, always]) }),
    {},
  ],
  [
    'sees the campaign of another language',
    asked('tongues', {}, { person: { language: 'et' } }, { reads: [{ ms: 5_500, person: { language: 'et' } }] }),
    { askedWrongly: 1 },
  ],
  [
    'takes the campaign of the language',
    asked('tongues', { campaign: campaigns.desk.estonian }, {}, { reads: [{ ms: 5_500, person: { language: 'et' } }] }),
    {},
  ],
  [
    'sees who was asked though no campaign has their language',
    asked('tongues', {}, {}, { reads: [{ ms: 5_500, person: { language: 'fi' } }] }),
    { forbidden: 1 },
  ],
  [
    'sees who was asked whom never leaves out',
    asked('slow', {}, {}, { reads: [{ ms: 5_500, ticket: { flag: 'no_survey' } }] }),
    { forbidden: 1 },
  ],
  [
    'sees who was asked whom never leaves out since',
    asked('slow', {}, {}, { reads: [{ ms: 5_500, ticket: { flag: 'vip' } }], regimes: versions([1, -60_000, always]) }),
    { forbidden: 1 },
  ],
  ['takes who is left out no more', asked('slow', {}, {}, { reads: [{ ms: 5_500, ticket: { flag: 'vip' } }] }), {}],
  [
    'sees who was asked though no rule takes the record',
    asked('slow', {}, {}, { reads: [{ ms: 5_500, ticket: { subject: 'nothing' } }] }),
    { forbidden: 1 },
  ],
  [
    'sees who was asked before the delay was over',
    asked('slow', { at: closedAt + 3_900 }, {}, { reads: [{ ms: 3_500 }] }),
    { forbidden: 1 },
  ],
  [
    'sees who was asked at night',
    asked('hours', {}, {}, { reads: [{ ms: 5_500, person: { zone: farZone } }] }),
    { forbidden: 1 },
  ],
  ['takes who was asked in their hours', asked('hours', {}), {}],
  ['sees a customer who was asked in test mode', asked('trial', {}), { askedWrongly: 1 }],
  [
    'takes the tester in test mode, whose answer is written nowhere',
    asked('trial', { contact: tester }, {}, { see: nothingSeen }),
    {},
  ],
  [
    'sees the tester asked where test mode holds no more',
    asked('trial', { contact: tester }, {}, { regimes: versions([3, -60_000, always]), see: nothingSeen }),
    { askedWrongly: 1 },
  ],
  ['sees who was asked again within the throttle', twoOfOne('rare', 1_000, 30_000), { forbidden: 1 }],
  ['sees who was asked too soon of whom the throttle defers', twoOfOne('patient', 1_000, 20_000), { forbidden: 1 }],
  ['takes who was asked when the throttle was over', twoOfOne('patient', 1_000, 31_500), {}],
  ['sees what is beyond the cap', twoOfOne('capped', freshMs + 2_000, freshMs + 9_000), { forbidden: 1 }],
  [
    'sees the first of two asked about where the last is preferred',
    twoOfOne('latest', 9_000 + freshMs, 0, {
      taken: [{ ...taken, at: closedAt + 9_000 + freshMs, values: { Store: 'latest' } }],
      acknowledged: [],
      journeys: [{ ...journey, trace: [] }, toBeAsked(2_500, 8)],
    }),
    { forbidden: 1, putOff: 1 },
  ],
  [
    'takes the first of two where the last was not planned in time',
    twoOfOne('latest', 9_000, 0, {
      taken: [{ ...taken, at: closedAt + 9_000, values: { Store: 'latest' } }],
      acknowledged: [],
      journeys: [{ ...journey, trace: [] }, toBeAsked(8_500, 8)],
    }),
    { forbidden: 0, putOff: 1 },
  ],
];

const writing: Row[] = [
  ['misses a grade that is not on the record', evidence({ see: nothingSeen }), { lost: 1 }],
  ['sees another grade than was given', evidence({ see: { grade: 5 } }), { writtenWrong: 1 }],
  ['sees an older comment', evidence({ see: { comment: 'Bad.' } }), { writtenWrong: 1 }],
  ['sees a grade that nobody gave', evidence({ said: [{ ...said, grade: null, comment: null }] }), { writtenWrong: 1 }],
  [
    'sees what was there for a moment though nobody had said so',
    evidence({ see: { history: [{ ...written, grade: 1 }, written] } }),
    { writtenWrong: 1 },
  ],
  [
    'sees a grade with the comment of another version',
    evidence({
      ...changedMind,
      see: { grade: 2, comment: 'Worse.', history: [written, { ...changed, comment: 'Fine.' }, changed] },
    }),
    { writtenWrong: 1 },
  ],
  [
    'takes a change of mind',
    evidence({ ...changedMind, see: { grade: 2, comment: 'Worse.', history: [written, changed] } }),
    {},
  ],
  [
    'sees an older answer that a late job put over the newer one for a moment',
    evidence({
      ...changedMind,
      see: {
        grade: 2,
        comment: 'Worse.',
        history: [written, changed, { ...written, at: closedAt + 30_000 }, { ...changed, at: closedAt + 31_000 }],
      },
    }),
    { writtenWrong: 1 },
  ],
  [
    'sees a value that stood there before the customer said it',
    evidence({ see: { history: [{ ...written, at: closedAt }] } }),
    { writtenWrong: 1 },
  ],
  ["sees the tester's grade on the record", asked('trial', { contact: tester }, {}), { writtenWrong: 2 }],
  ['sees the answer to an earlier closing over a later one', evidence(answeredTwice(1, 2)), { writtenWrong: 1 }],
  ['sees it too where both were seen at once', evidence(answeredTwice(2, 2)), { writtenWrong: 1 }],
  ['takes a later answer to the earlier closing', evidence(answeredTwice(3, 2)), { writtenWrong: 0 }],
  [
    'takes the older answer where the newer one could not be written',
    evidence({
      ...answeredTwice(1, 2),
      journeys: [answeredAt(1), { ...answeredAt(2, journey2), state: 'parked', why: 'closed' }],
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
  ['sees that a record was reopened by us', evidence({ see: { isClosed: false } }), { writtenWrong: 1 }],
];

const erasing: Row[] = [
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
  [
    'sees who was asked after the erasure',
    forgotten({ reads: [{ ms: 23_500 }], taken: [{ ...taken, at: closedAt + 24_000 }] }),
    { notErased: 1 },
  ],
  [
    'lets a request pass that was on its way',
    forgotten({ reads: [{ ms: 21_500 }], taken: [{ ...taken, at: closedAt + 22_000 }] }),
    { notErased: 0 },
  ],
  [
    'sees a contact in clear in Redis',
    forgotten({ forgotten: [{ key: 'desk:7', at: closedAt, inClear: ['{cl:support}:ask:7', '{cl:support}:ask:7'] }] }),
    { notErased: 1 },
  ],
  ['sees nothing wrong where an erasure never came in', forgotten({ forgotten: [], said: [said] }), { erased: 0 }],
  ['sees what an older version has dropped', evidence({ fieldsDropped: ['7.1'] }), { dropped: 1 }],
];

const none: Record<Offence | 'parked', number> = {
  ...{ lost: 0, askedTwice: 0, askedWrongly: 0, forbidden: 0, writtenWrong: 0, notErased: 0, dropped: 0, parked: 0 },
};

describe('the auditor', () => {
  test.each([...closings, ...requests, ...writing, ...erasing])('it %s', (_, given, expected) => {
    const { findings, ...verdict } = audit(given);
    expect(verdict, findings.join('\n')).toMatchObject({ ...none, ...expected });
  });

  test('it tells what, why and what happened, with the trace of the journey', () => {
    const trace = [{ at: new Date(closedAt + 400), text: 'rule "once", campaign 41' }];
    const { findings } = audit(evidence({ ...unasked, journeys: [{ ...journey, state: 'skipped', trace }] }));
    expect(findings).toEqual([
      expect.stringMatching(
        /^desk:7 \(once\), lost .*\n.*Tartu.*\n.*close 0\.0 s\n.*none\n.*skipped\n.*0\.4 s rule "once", campaign 41$/,
      ),
    ]);
  });

  test('it passes one parked journey in a thousand, and nothing else', () => {
    const verdict = { ...audit(evidence()), acknowledged: 2_000 };
    expect(isClean(verdict)).toBe(true);
    expect(isClean({ ...verdict, parked: 2 })).toBe(true);
    expect(isClean({ ...verdict, parked: 3 })).toBe(false);
    for (const count of [...offenceNames, 'undecidable']) expect(isClean({ ...verdict, [count]: 1 })).toBe(false);
  });
});
