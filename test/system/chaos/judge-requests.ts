import type { Case, Closing } from './cases.ts';
import type { Evidence } from './evidence.ts';
import { isOpen, wantedOf } from './oracle.ts';
import { slowestMs } from './plan.ts';
import type { PersonFacts } from './planned-record.ts';
import type { PolicyVersion, Rule } from './policy.ts';
import type { Reading } from './sightings.ts';
import type { Taken } from './world.ts';

// Each request against the policy of its moment: against what the record's last readings returned, and the configurations that processes had.

/**
 * From a reading to the request that is made by it, at most. A reading may be 5 s old when its turn at the service comes; then the contact is
 * read there, in two tries at most, and the request is sent within 5 s or not at all. Each try and the request itself may take `slowestMs`, and
 * on a busy machine all of it a moment longer.
 */
export const freshMs = 5_000 + 2 * slowestMs + 5_000 + slowestMs + 3_000;
/** From the instant at which a request leaves, by which throttles and caps count, until it is taken. */
const takenMs = slowestMs + 3_000;
/** Vendors date to the second. */
const secondMs = 1_000;

/** `forbidden`: nobody was to be asked, or not then. `wrongly`: somebody else, elsewhere or with other values was. */
export type Problem = { count: 'forbidden' | 'wrongly'; what: string };

/** A request that is right, with the rule by which it is, and whom it was about. */
export interface Explained {
  request: Taken;
  closing: Closing;
  rule: Rule;
  /** By the vendor's number of them. */
  person: string;
}

type Judged = ({ is: 'right' } & Explained) | ({ is: 'wrong' } & Problem);

/** One request: right where any reading and any configuration that could have been its own explains all of it. */
export function judgeRequest(request: Taken, one: Case, evidence: Evidence): Judged {
  const closing = one.closings.find(({ requests }) => requests.includes(request));
  if (!closing) return { is: 'wrong', count: 'wrongly', what: 'its record had never been closed' };
  const { sightings, regimes } = evidence;
  const readings = sightings.readings(one.record, request.at - freshMs, request.at);
  const last = readings.at(-1);
  if (!last) return { is: 'wrong', count: 'wrongly', what: stale(request, one, evidence) };
  const versions = regimes
    .filter(({ from, until }) => from <= request.at && request.at - freshMs <= until)
    .map(({ version }) => version);
  const judged = readings
    .toReversed()
    .flatMap((reading) =>
      versions.toReversed().map((version) => judgeBy(reading, version, { request, closing, one, evidence })),
    );
  return (
    judged.find(({ is }) => is === 'right') ?? judged[0] ?? { is: 'wrong', count: 'wrongly', what: 'no rules held' }
  );
}

function stale(request: Taken, { record }: Case, { sightings }: Evidence): string {
  const at = sightings.lastBefore(record, request.at);
  if (at === undefined) return 'the record had never been read whole';
  return `the record had last been read whole ${((request.at - at) / 1000).toFixed(1)} s before`;
}

function judgeBy(
  { at, facts, personId }: Reading,
  version: PolicyVersion,
  { request, closing, one, evidence }: { request: Taken; closing: Closing; one: Case; evidence: Evidence },
): Judged {
  const wanted = wantedOf(facts, version, one.record.vendor, evidence.settings);
  const wrong = (count: Problem['count'], what: string): Judged => ({ is: 'wrong', count, what });
  if (wanted.do === 'skip') return wrong('forbidden', `when it was read, nobody was to be asked: ${wanted.why}`);
  const { rule } = wanted;
  const due = closing.at + rule.delayMs - secondMs;
  const early = due - request.at;
  if (early > 0) return wrong('forbidden', `it came ${early} ms before the delay of rule ${rule.name} was over`);
  if (rule.window && !inHours(rule.window, facts.person, request.at)) {
    return wrong('forbidden', `the window of rule ${rule.name} was closed in ${facts.person?.zone}`);
  }
  // Whoever asks reads when the customer is due: an earlier reading was the planning's.
  if (at < due) return wrong('wrongly', `since it was due by rule ${rule.name} nobody had read the record whole`);
  const misfits = [
    ...(wanted.campaign === request.campaign ? [] : [`campaign ${request.campaign}, not ${wanted.campaign}`]),
    ...(wanted.contact === request.contact ? [] : [`to ${request.contact}, not ${wanted.contact}`]),
    ...Object.entries({ ...request.values, ...wanted.values }).flatMap(([name]) =>
      request.values[name] === wanted.values[name]
        ? []
        : [`${name} ${request.values[name] ?? 'nothing'}, not ${wanted.values[name] ?? 'nothing'}`],
    ),
  ];
  if (misfits.length > 0) return wrong('wrongly', `by rule ${rule.name} as read last: ${misfits.join('; ')}`);
  return { is: 'right', request, closing, rule, person: `${one.record.vendor}:${personId}` };
}

/** A request that left in time may be taken a moment later. */
function inHours(window: NonNullable<Rule['window']>, person: PersonFacts | undefined, at: number): boolean {
  return person !== undefined && (isOpen(window, person.zone, at) || isOpen(window, person.zone, at - slowestMs));
}

/** Requests that came though the person had been asked within a throttle's period, or beyond a cap. */
export function judgeFrequency(explained: readonly Explained[]): { of: Explained; what: string }[] {
  const people = Map.groupBy(
    explained.filter(({ rule }) => rule.test === undefined),
    ({ person }) => person,
  );
  const throttled = explained.flatMap((of) => {
    const { request, rule, person } = of;
    if (!rule.throttle || rule.test !== undefined) return [];
    // The period begins and ends when requests leave, and each may be taken a moment later.
    const since = request.at - rule.throttle.periodMs + takenMs;
    const before = people.get(person)?.find(({ request: { at } }) => since < at && at < request.at);
    return before
      ? [{ of, what: `throttle of rule ${rule.name}: request ${before.request.requestId} had gone to the person` }]
      : [];
  });
  const hours = Map.groupBy(
    explained.filter(
      ({ rule, request }) => rule.capPerHour !== undefined && hourOf(request.at) === hourOf(request.at - takenMs),
    ),
    ({ rule, request, person }) => `${rule.name} ${person.split(':')[0]} ${hourOf(request.at)}`,
  );
  const beyond = [...hours.values()].flatMap((some) =>
    some
      .toSorted((a, b) => a.request.at - b.request.at)
      .slice(some[0]?.rule.capPerHour ?? 0)
      .map((of) => ({ of, what: `cap of rule ${of.rule.name}: ${of.rule.capPerHour} had been asked in this hour` })),
  );
  return [...throttled, ...beyond];
}

const hourOf = (at: number): number => Math.floor(at / 3_600_000);

/**
 * Requests about an earlier closing of a person of whom a later one waited, where the throttle prefers the latest: closed until the first of them
 * was due, and planned well before the request. Only closings that stayed as they were count: the others may have come to nothing.
 */
export function judgePreference(
  explained: readonly Explained[],
  cases: readonly Case[],
): { of: Explained; what: string }[] {
  const groups = Map.groupBy(
    cases.filter(({ record }) => record.rule === 'latest'),
    ({ record }) => `${record.vendor}:${record.people[0].email}`,
  );
  const caseOf = new Map(cases.flatMap((one) => one.requests.map(({ requestId }) => [requestId, one] as const)));
  return explained.flatMap((of) => {
    if (of.rule.throttle?.prefer !== 'latest') return [];
    const own = caseOf.get(of.request.requestId);
    const group = own && groups.get(`${own.record.vendor}:${own.record.people[0].email}`);
    if (!own || !group) return [];
    const firstDue = Math.min(...group.flatMap(({ closings }) => closings.map(({ at }) => at))) + of.rule.delayMs;
    const later = group.find(({ record, steps, closings: [closing], journeys: [journey] }) => {
      if (steps.length > 1 || record.ticket.flag !== '') return false;
      const plannedAt = journey?.trace.find(({ text }) => text.startsWith('to be asked at '))?.at.getTime();
      if (!closing || plannedAt === undefined) return false;
      const isInTime = closing.at > of.closing.at + secondMs && closing.at < firstDue - secondMs;
      return isInTime && plannedAt < of.request.at - freshMs;
    });
    return later ? [{ of, what: `rule latest: the later closing of ${later.key} waited` }] : [];
  });
}
