import type { Case, Closing } from './cases.ts';
import type { Evidence } from './evidence.ts';
import { freshMs } from './judge-requests.ts';
import { isOpen, type Wanted, wantedOf } from './oracle.ts';
import { patienceMs } from './plan-records.ts';

// Each closing that a vendor was told to be known: asked about once, or with a reason that the vendors' answers and the rules bear out.

const unfinished = new Set(['received', 'creating', 'failed']);

/** Closings that got lost, one sentence each. */
export function lostClosings(one: Case, evidence: Evidence): string[] {
  const stuck = one.journeys
    .filter(({ state }) => unfinished.has(state))
    .map(({ id, state }) => `journey ${id} is ${state}`);
  return [...stuck, ...one.closings.flatMap((closing) => lost(closing, one, evidence))];
}

function lost(closing: Closing, one: Case, evidence: Evidence): string[] {
  const { record, sent } = one;
  if (closing.acknowledgedAt === undefined) return [];
  if (closing.journeys.some(({ state }) => state === 'parked' || unfinished.has(state))) return [];
  if (closing.requests.some((request) => sent.includes(request))) return [];
  // Another closing of the record was asked about, and its rule asks once.
  if (record.rule !== 'each' && sent.length > 0) return [];
  const isLast = closing === one.closings.at(-1) && closing.until === undefined;
  if (!isLast && lastedMs(closing, one) < patienceMs) return [];
  if (excuse(closing, one, evidence) !== undefined) return [];
  return [`the customer was not asked about the closing of ${new Date(closing.at).toISOString()}`];
}

/** For how long it could have been asked about. */
function lastedMs({ at, until, acknowledgedAt = at }: Closing, { closings }: Case): number {
  const next = closings.find((other) => other.at > at)?.at;
  return (until ?? next ?? Number.POSITIVE_INFINITY) - Math.max(at, acknowledgedAt);
}

/** Why it was right to ask nobody about it: what one of its readings and the rules of that moment say. */
function excuse(closing: Closing, one: Case, evidence: Evidence): string | undefined {
  const { record, journeys } = one;
  const { sightings, regimes, settings, endedAt } = evidence;
  const readings = sightings.readings(record, closing.at, closing.until ?? endedAt);
  const wanted = readings.flatMap(({ at, facts, personId }) =>
    regimes
      .filter(({ from, until }) => from <= at + freshMs && at <= until)
      .map(({ version }) => ({ facts, personId, wanted: wantedOf(facts, version, record.vendor, settings) })),
  );
  for (const { wanted: one, facts } of wanted) {
    if (one.do === 'skip') return one.why;
    if (isPutOff(one, facts.person?.zone ?? '', journeys, endedAt)) return 'it waits for its hour';
  }
  if (wanted.some(({ wanted }) => wanted.do === 'ask' && wanted.rule.throttle?.otherwise === 'drop')) {
    const people = new Set(wanted.flatMap(({ facts }) => facts.person?.email ?? []));
    if (evidence.taken.some(({ contact }) => people.has(contact))) return 'the person had been asked';
  }
  return undefined;
}

/** It waits: a window is closed at the end of the run, or the cap's places of the hour are given away. */
function isPutOff(
  wanted: Extract<Wanted, { do: 'ask' }>,
  zone: string,
  journeys: Case['journeys'],
  endedAt: number,
): boolean {
  const waits = journeys.some(
    ({ state, dueAt }) => state === 'waiting' && dueAt !== undefined && dueAt.getTime() > endedAt,
  );
  if (!waits) return false;
  const { window, capPerHour } = wanted.rule;
  return capPerHour !== undefined || (window !== undefined && !isOpen(window, zone, endedAt));
}

/** Requests beyond one for a closing, or for a record whose rule asks once in its life. */
export function askedTooOften({ record, requests, sent, closings }: Case): string[] {
  const numbers = (some: Case['requests']): string => some.map(({ requestId }) => requestId).join(', ');
  const markers = requests.flatMap(({ marker }) => marker ?? []);
  const repeated = markers.filter((marker, i) => markers.indexOf(marker) !== i);
  if (record.rule !== 'each') {
    const tooMany = Math.max(sent.length - 1, repeated.length);
    return Array.from({ length: tooMany }, () => `requests ${numbers(requests)}`);
  }
  const perClosing = closings.flatMap((closing) => {
    const own = closing.requests.filter((request) => sent.includes(request));
    return own.slice(1).map(() => `requests ${numbers(own)} about one closing`);
  });
  return perClosing.length > 0 ? perClosing : repeated.map((marker) => `two requests carry ${marker}`);
}
