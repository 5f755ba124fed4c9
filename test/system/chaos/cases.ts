import type { Acknowledged } from './balancer.ts';
import {
  type Evidence,
  type Forgotten,
  keyOf,
  keyOfJourney,
  type Said,
  type Step,
  type StoredJourney,
} from './evidence.ts';
import { addressesOf, deskRef, type PlannedRecord } from './planned-record.ts';
import { tester } from './policy.ts';
import type { Shown } from './shown.ts';
import type { SaidAt, Taken } from './world.ts';

/** One closing of a record. */
export interface Closing {
  at: number;
  /** The instant of the reopening that ended it; undefined: it lasted. */
  until: number | undefined;
  /** When the first intake answered 2xx for it; undefined: none did. */
  acknowledgedAt: number | undefined;
  requests: readonly Taken[];
  journeys: readonly StoredJourney[];
}

/** What became of one record. */
export interface Case {
  key: string;
  record: PlannedRecord;
  steps: readonly Step[];
  closings: readonly Closing[];
  requests: readonly Taken[];
  /** Those that were not cancelled before they were sent. */
  sent: readonly Taken[];
  journeys: readonly StoredJourney[];
  shown: Shown | undefined;
  /** Of its customer, where their erasure was acknowledged. */
  forgotten: readonly Forgotten[];
  /** By request, what it holds in the end. */
  said: ReadonlyMap<number, Said>;
  saidAt: readonly SaidAt[];
}

/** The vendor's clock is this process's, but it notes the instant a moment after the act, and dates to the second. */
const clockMs = 50;
const secondMs = 1_000;

/** @returns the strangers, too: requests that no record accounts for */
export function casesOf(evidence: Evidence): { cases: Case[]; strangers: Taken[] } {
  const byNumber = new Map(evidence.records.map((record) => [record.id, record]));
  const inCrm = evidence.records.filter(({ vendor }) => vendor === 'crm');
  const byContact = new Map(inCrm.flatMap((record) => addressesOf(record).map((one) => [one, record] as const)));
  const recordOf = ({ marker, contact }: Taken): PlannedRecord | undefined => {
    const id = deskRef.exec(marker ?? '')?.[1];
    return id === undefined ? byContact.get(contact) : byNumber.get(Number(id));
  };
  const requests = Map.groupBy(evidence.taken, (taken) => {
    const record = recordOf(taken);
    const isTheirs = record && (taken.contact === tester || addressesOf(record).includes(taken.contact));
    return isTheirs ? keyOf(record) : undefined;
  });
  const acknowledged = Map.groupBy(evidence.acknowledged, keyOf);
  const journeys = Map.groupBy(evidence.journeys, keyOfJourney);
  const forgotten = Map.groupBy(evidence.forgotten, ({ key }) => key);
  const said = new Map(evidence.said.map((one) => [one.requestId, one]));
  const saidAt = Map.groupBy(evidence.saidAt, ({ requestId }) => requestId);
  const cases = evidence.records.map((record): Case => {
    const key = keyOf(record);
    const [own, theirs] = [requests.get(key) ?? [], journeys.get(key) ?? []];
    const steps = evidence.steps.get(key) ?? [];
    return {
      ...{ key, record, steps, said, requests: own, journeys: theirs },
      closings: closingsOf(steps, { requests: own, journeys: theirs, acknowledged: acknowledged.get(key) ?? [] }),
      sent: own.filter(({ requestId }) => said.get(requestId)?.isCancelled !== true),
      shown: evidence.shown.get(key),
      forgotten: forgotten.get(key) ?? [],
      saidAt: own.flatMap(({ requestId }) => saidAt.get(requestId) ?? []).sort((a, b) => a.at - b.at),
    };
  });
  return { cases, strangers: requests.get(undefined) ?? [] };
}

function closingsOf(
  steps: readonly Step[],
  of: { requests: readonly Taken[]; journeys: readonly StoredJourney[]; acknowledged: readonly Acknowledged[] },
): Closing[] {
  const moves = steps.filter((step) => step.do === 'close' || step.do === 'reopen');
  const closed = moves.filter((step) => step.do === 'close');
  /** The last closing until an instant of the vendor's. */
  const closingAt = (at: number): Step | undefined => closed.findLast((step) => step.at <= at + clockMs);
  const byJourney = Map.groupBy(of.journeys, ({ closedAt }) => closingAt(closedAt.getTime() + secondMs));
  const byRequest = Map.groupBy(of.requests, (request) => {
    const journey = journeyOf(request, of.journeys);
    return journey ? closingAt(journey.closedAt.getTime() + secondMs) : closingAt(request.at);
  });
  const byTold = Map.groupBy(of.acknowledged, ({ at }) => closingAt(at));
  return closed.map((step) => {
    const told = byTold.get(step) ?? [];
    return {
      at: step.at,
      until: moves.find((one) => one.do === 'reopen' && one.at >= step.at)?.at,
      acknowledgedAt: told.length === 0 ? undefined : Math.min(...told.map(({ answeredAt }) => answeredAt)),
      requests: byRequest.get(step) ?? [],
      journeys: byJourney.get(step) ?? [],
    };
  });
}

/** By the request's number, or by its marker. */
export function journeyOf(request: Taken, journeys: readonly StoredJourney[]): StoredJourney | undefined {
  const id = request.marker?.split('/')[1];
  return journeys.find((one) => one.requestId === String(request.requestId) || one.id === id);
}

/** The case in short, with the trace of each journey, for whoever looks into it. */
export function tell({ record, steps, requests, journeys }: Case): string {
  const origin = steps[0]?.at ?? 0;
  const seconds = (at: number): string => `${((at - origin) / 1000).toFixed(1)} s`;
  const did = steps.map(({ do: what, to, at }) => `${what}${to ? ` ${JSON.stringify(to)}` : ''} ${seconds(at)}`);
  const asked = requests.map(
    ({ requestId, at, campaign, contact, values }) =>
      `${requestId} ${seconds(at)} (campaign ${campaign}, ${contact}, ${JSON.stringify(values)})`,
  );
  return [
    `  at first ${JSON.stringify({ ...record.ticket, ...record.people[0] })}`,
    `  ${new Date(origin).toISOString()}: ${did.join(', ')}`,
    `  requests: ${asked.join(', ') || 'none'}`,
    ...journeys.flatMap(({ source, id, state, why, trace }) => [
      `  journey ${source}/${id} ${state}${why === undefined ? '' : ` (${why})`}`,
      ...trace.map(({ at, text }) => `    ${seconds(at.getTime())} ${text}`),
    ]),
  ].join('\n');
}
