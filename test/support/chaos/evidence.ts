import { expect, test } from 'vitest';
import { audit, type Offence } from '../../system/chaos/auditor.ts';
import type { Evidence, StoredJourney } from '../../system/chaos/evidence.ts';
import type { PersonFacts, PlannedRecord, RuleName, TicketFacts } from '../../system/chaos/planned-record.ts';
import { accountZone, campaigns, versionOf } from '../../system/chaos/policy.ts';
import type { Shown } from '../../system/chaos/shown.ts';
import { Sightings } from '../../system/chaos/sightings.ts';
import type { Taken } from '../../system/chaos/world.ts';

/* What a run of kills leaves behind, made up for the tests of its judges. */

/** The record was closed at this instant, and all others are counted from it: 12:00 in Tallinn, 23:00 in Auckland. */
export const closedAt = Date.UTC(2026, 10, 26, 10);
export const customer: PersonFacts = { email: 'carl@example.com', language: 'en', zone: accountZone };
export const other: PersonFacts = { ...customer, email: 'dora@example.com' };
export const ticket: TicketFacts = { subject: 'once', store: 'Tartu', flag: '' };
export const record: PlannedRecord = {
  ...{ id: 7, vendor: 'desk', rule: 'once', ticket, people: [customer, other], at: 0, answers: [] },
  acts: [],
};
export const taken: Taken = {
  ...{ requestId: 1, at: closedAt + 1_000, campaign: campaigns.desk.main, contact: customer.email },
  ...{ marker: 'support/7.1', values: { Store: 'once' } },
};
export const journey: StoredJourney = {
  ...{ id: '7.1', source: 'support', recordId: '7', state: 'written', requestId: '1', trace: [] },
  ...{ updatedAt: new Date(closedAt), closedAt: new Date(closedAt) },
};
export const written = { at: closedAt + 5_000, grade: 4, comment: 'Fine.' };
export const seen: Shown = {
  ...{ isClosed: true, grade: 4, comment: 'Fine.', history: [written] },
  ...{ notes: ['support/7.1.v1'], gradeTags: ['fb_grade_4'], mails: 0 },
};
export const nothingSeen: Shown = { ...seen, grade: null, comment: null, history: [], notes: [], gradeTags: [] };
export const said = { requestId: 1, contact: customer.email, isCancelled: false, grade: 4, comment: 'Fine.' };
export const saidFirst = { requestId: 1, at: closedAt + 3_000, grade: 4, comment: 'Fine.' };

/** What a help desk returned, at an instant after the closing. */
export interface Read {
  ms: number;
  id?: number;
  ticket?: Partial<TicketFacts & { isClosed: boolean }>;
  person?: Partial<PersonFacts>;
  personId?: number;
}

export function sightingsOf(reads: readonly Read[], subject: RuleName): Sightings {
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

export type Doctored = Partial<Omit<Evidence, 'sightings'>> & { see?: Partial<Shown>; rule?: RuleName; reads?: Read[] };

/** One record that was closed, read, asked about, answered and written on; `but` says what is otherwise. */
export function evidence({ see = {}, rule = 'once', reads = [{ ms: 500 }], ...rest }: Doctored = {}): Evidence {
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

/** A request at 6 s of a rule that delays: `request` and `read` say what is otherwise of it, and of what its record showed at 5.5 s. */
export function asked(
  rule: RuleName,
  { request = {}, read = {}, ...rest }: { request?: Partial<Taken>; read?: Partial<Read> } & Doctored = {},
): Evidence {
  const one = { ...taken, at: closedAt + 6_000, values: { Store: rule }, ...request };
  return evidence({ rule, reads: [{ ms: 200 }, { ms: 5_500, ...read }], taken: [one], ...rest });
}

export const steps = (...list: [what: 'close' | 'reopen', ms: number][]): Evidence['steps'] =>
  new Map([['desk:7', list.map(([what, ms]) => ({ do: what, at: closedAt + ms }))]]);
export const closedTwice = steps(['close', 0], ['reopen', 3_000], ['close', 6_000]);
export const again: Taken = { ...taken, requestId: 2, at: closedAt + 7_000, marker: 'support/7.2' };
export const journey2: StoredJourney = { ...journey, id: '7.2', requestId: '2', closedAt: new Date(closedAt + 6_000) };
export const readTwice: Read[] = [{ ms: 500 }, { ms: 6_500 }];
export const told = (...ms: number[]): Evidence['acknowledged'] =>
  ms.map((one) => ({ vendor: 'desk', id: 7, at: closedAt + one, answeredAt: closedAt + one + 100 }));
export const answeredAt = (ms: number, of: StoredJourney = journey): StoredJourney => ({
  ...of,
  answer: { grade: 4, comment: 'Fine.', seenAt: new Date(ms) },
});
export const each: Doctored = {
  ...{ rule: 'each', steps: closedTwice, acknowledged: told(1, 6_001), reads: readTwice },
  ...{ journeys: [journey, journey2] },
};
export const each1 = { ...taken, values: { Store: 'each' } };
export const each2 = { ...again, values: { Store: 'each' } };
/** Each closing asked about and answered: the second one's first to be seen, at the same time, or last. */
export const answeredTwice = (firstAt: number, secondAt: number): Doctored => ({
  ...each,
  taken: [each1, each2],
  said: [said, { ...said, requestId: 2, grade: 2 }],
  journeys: [answeredAt(firstAt), answeredAt(secondAt, journey2)],
});
export const isCancelled = { ...said, isCancelled: true, grade: null, comment: null };
export const unanswered = { said: [], saidAt: [], see: nothingSeen };
export const unasked = { ...unanswered, taken: [] };

/** Two records of one person under a rule that counts requests: the second asked about 20 s after the first. */
export function twoOfOne(rule: RuleName, first: number, second: number, more: Doctored = {}): Evidence {
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
export const versions = (...list: [n: number, from: number, until: number][]): Evidence['regimes'] =>
  list.map(([n, from, until]) => ({ version: versionOf(n), from: closedAt + from, until: closedAt + until }));
export const always = Number.POSITIVE_INFINITY;

export type Row = [says: string, counts: string, given: Evidence];

const none: Record<Offence | 'parked', number> = {
  ...{ lost: 0, askedTwice: 0, askedWrongly: 0, forbidden: 0, writtenWrong: 0, notErased: 0, dropped: 0, parked: 0 },
};

/** A table of what is given and what the auditor counts of it, as "lost putOff" or "writtenWrong:2", and no other offence. */
export function judged(...rows: Row[]): void {
  test.each(rows)('the auditor %s', (_says, counts, given) => {
    const { findings, ...verdict } = audit(given);
    const words = counts.split(' ').filter((word) => word !== '');
    const counted = words.map((word) => [word.split(':')[0], Number(word.split(':')[1] ?? 1)]);
    expect(verdict, findings.join('\n')).toMatchObject({ ...none, ...Object.fromEntries(counted) });
  });
}
