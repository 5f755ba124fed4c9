import type { Acknowledged } from './balancer.ts';
import { type Evidence, keyOf, keyOfJourney, type Said, type Step, type StoredJourney } from './evidence.ts';
import { deskRef, type PlannedRecord } from './plan.ts';
import type { Shown, Taken } from './world.ts';

export interface Verdict {
  /** Closings that an intake answered 2xx for, each once. */
  acknowledged: number;
  requests: number;
  answered: number;
  /** Acknowledged closings without a request and without a reason; answers that are not on their record. */
  lost: number;
  /** Requests beyond one for a closing, or for a record where the rule says so. */
  askedTwice: number;
  /** Requests about a record that had been open again for a while, or that no record accounts for. */
  askedWrongly: number;
  /** People whose erasure was acknowledged, and of whom something is left, or who were asked afterwards. */
  notErased: number;
  /** Erasures that an intake answered 2xx for, each person once. */
  erased: number;
  /** Journeys from which an older version dropped what a newer one had stored. */
  dropped: number;
  /** Records that show something else than what the customer said last, or a note twice. */
  writtenWrong: number;
  parked: number;
  /**
   * Journeys left to a person because of the request of somebody who was forgotten meanwhile: nobody but that person's contact
   * could tell whose it is, and it is not shown any more. Where requests carry no marker, this is how it has to be.
   */
  undecidable: number;
  /** A sentence for each that counts. */
  findings: string[];
  parkedReasons: string[];
}

/** From the last look at a record to the request, at most: a process may be stopped for 16 s in between. */
const lookedMs = 30_000;
/**
 * From the last look at whether a person is to be erased to their request, at most: their contact is read at the service, then a request
 * is sent within 5 s or not at all, and the service takes its time. A process that is stopped in between sends nothing.
 */
const onItsWayMs = 20_000;
/** The vendor's clock is this process's, but it notes the instant a moment after the order. */
const clockMs = 50;

/** What became of one record. */
interface Case {
  record: PlannedRecord;
  steps: readonly Step[];
  acknowledged: readonly Acknowledged[];
  requests: readonly Taken[];
  /** Those that were not cancelled before they were sent. */
  sent: readonly Taken[];
  journeys: readonly StoredJourney[];
}

/** Compares what was acknowledged, what the service holds, what the vendors show and what lies in Redis. Pure. */
export function audit(evidence: Evidence): Verdict {
  const { cases, strangers } = casesOf(evidence);
  const said = new Map(evidence.said.map((one) => [one.requestId, one]));
  const verdict: Verdict = {
    acknowledged: 0,
    requests: evidence.taken.length,
    answered: evidence.said.filter(isAnswer).length,
    lost: 0,
    askedTwice: 0,
    askedWrongly: strangers.length,
    notErased: 0,
    dropped: evidence.fieldsDropped.length,
    erased: new Set(evidence.forgotten.map(({ key }) => key)).size,
    writtenWrong: 0,
    parked: 0,
    undecidable: 0,
    findings: [
      ...strangers.map(({ requestId }) => `request ${requestId}: no record accounts for it`),
      ...evidence.fieldsDropped.map((id) => `journey ${id} lost what a newer version had stored`),
    ],
    parkedReasons: [],
  };
  const masked = requestsOfForgotten(cases, evidence);
  for (const one of cases) {
    const key = keyOf(one.record);
    const find = (count: 'lost' | 'askedTwice' | 'askedWrongly' | 'notErased' | 'writtenWrong', what: string): void => {
      verdict[count]++;
      verdict.findings.push(`${key} (${one.record.rule}), ${count}: ${what}. ${tell(one)}`);
    };
    verdict.acknowledged += closingsAcknowledged(one).size;
    const parked = one.journeys.filter(({ state }) => state === 'parked');
    const undecidable = parked.filter(({ why }) => masked.has(Number(maskedRequest.exec(why ?? '')?.[1])));
    verdict.undecidable += undecidable.length;
    verdict.parked += parked.length - undecidable.length;
    verdict.parkedReasons.push(...parked.map(({ source, id, why }) => `${source}/${id}: ${why}`));

    for (const what of askedTooOften(one)) find('askedTwice', what);
    for (const what of askedInVain(one)) find('askedWrongly', what);
    if (one.record.forgetAfterMs !== undefined) {
      const forgotten = evidence.forgotten.filter((person) => person.key === key);
      for (const what of leftOf(one, forgotten, said, evidence.shown.get(key))) find('notErased', what);
      // A person whom the vendor has forgotten can't be asked, and nothing of theirs stays on the record.
      continue;
    }
    for (const what of closingsLost(one)) find('lost', what);
    const shown = evidence.shown.get(key);
    const answers = one.requests.flatMap(({ requestId }) => said.get(requestId) ?? []).filter(isAnswer);
    if (!shown) continue;
    const shows = (answer: Pick<Said, 'grade' | 'comment'>) =>
      shown.grade === answer.grade && shown.comment === answer.comment;
    const last = newest(answers, one.journeys);
    const hasNothing = shown.grade === null && shown.comment === null;
    if (last && hasNothing && parked.length === 0)
      find('lost', `grade ${last.grade} of request ${last.requestId} is not on it`);
    // A newer answer that the vendor doesn't take leaves the older one there.
    const isRight = parked.length > 0 ? answers.some(shows) : last && shows(last);
    if (last && !hasNothing && !isRight)
      find(
        'writtenWrong',
        `it shows ${shown.grade}, the customer said ${answers.map(({ grade }) => grade).join(', ')}, last ${last.grade}`,
      );
    if (!last && !hasNothing) find('writtenWrong', `it shows ${shown.grade}, and nobody said anything`);
    if (new Set(shown.notes).size < shown.notes.length) find('writtenWrong', `notes twice: ${shown.notes.join(', ')}`);
    if (shown.gradeTags.length > 1) find('writtenWrong', `tags ${shown.gradeTags.join(', ')}`);
    if (shown.mails > 0) find('writtenWrong', `${shown.mails} mails went to the customer`);
    if (one.steps.length > 0 && shown.isClosed !== (one.steps.at(-1)?.do === 'close'))
      find('writtenWrong', `its status was changed: it is ${shown.isClosed ? 'closed' : 'open'}`);
  }
  return verdict;
}

/** What closeloop says of a request whose contact is not shown any more. */
const maskedRequest = /^request (\d+) may be it: its contact was masked/;

/** Requests to people of whom the vendor has told that they are to be forgotten. */
function requestsOfForgotten(cases: readonly Case[], { forgotten }: Evidence): ReadonlySet<number> {
  const keys = new Set(forgotten.map(({ key }) => key));
  return new Set(
    cases
      .filter(({ record }) => keys.has(keyOf(record)))
      .flatMap(({ requests }) => requests.map(({ requestId }) => requestId)),
  );
}

export function isClean(verdict: Verdict): boolean {
  const { lost, askedTwice, askedWrongly, notErased, dropped, writtenWrong, parked, acknowledged } = verdict;
  return lost + askedTwice + askedWrongly + notErased + dropped + writtenWrong === 0 && parked <= acknowledged / 1_000;
}

export const isAnswer = ({ grade, comment }: Pick<Said, 'grade' | 'comment'>): boolean =>
  grade !== null || comment !== null;

/**
 * By when closeloop saw them, not by when they were given: grades are collected in rounds, and of two that one round brings
 * the one about the later closing counts. An answer that it never saw comes first.
 */
function newest(answers: readonly Said[], journeys: readonly StoredJourney[]): Said | undefined {
  const order = ({ requestId }: Said): [seenAt: number, closing: number] => {
    const journey = journeys.find((one) => one.requestId === String(requestId));
    return [journey?.answer?.seenAt.getTime() ?? 0, Number(journey?.id.split('.').at(-1) ?? 0)];
  };
  return answers
    .toSorted((a, b) => {
      const [[seenA, closingA], [seenB, closingB]] = [order(a), order(b)];
      return seenA - seenB || closingA - closingB;
    })
    .at(-1);
}

function casesOf(evidence: Evidence): { cases: Case[]; strangers: Taken[] } {
  const requests = new Map<string, Taken[]>();
  const byContact = new Map(
    evidence.records.filter(({ vendor }) => vendor === 'crm').map((record) => [record.contact, record]),
  );
  const byKey = new Map(evidence.records.map((record) => [keyOf(record), record]));
  const strangers = evidence.taken.filter((taken) => {
    const ref = deskRef.exec(taken.marker ?? '');
    const record = ref ? byKey.get(`desk:${ref[1]}`) : byContact.get(taken.contact);
    if (record?.contact !== taken.contact) return true;
    push(requests, keyOf(record), taken);
    return false;
  });
  const acknowledged = new Map<string, Acknowledged[]>();
  for (const one of evidence.acknowledged) push(acknowledged, keyOf(one), one);
  const journeys = new Map<string, StoredJourney[]>();
  for (const journey of evidence.journeys) push(journeys, keyOfJourney(journey), journey);
  const cancelled = new Set(evidence.said.flatMap((one) => (one.isCancelled ? [one.requestId] : [])));
  const cases = evidence.records.map((record) => ({
    record,
    steps: evidence.steps.get(keyOf(record)) ?? [],
    acknowledged: acknowledged.get(keyOf(record)) ?? [],
    requests: requests.get(keyOf(record)) ?? [],
    sent: (requests.get(keyOf(record)) ?? []).filter(({ requestId }) => !cancelled.has(requestId)),
    journeys: journeys.get(keyOf(record)) ?? [],
  }));
  return { cases, strangers };
}

/** Times of closings that were acknowledged, however often. */
function closingsAcknowledged({ steps, acknowledged }: Case): Set<number> {
  const times = acknowledged.flatMap(
    ({ at }) => steps.findLast((step) => step.do === 'close' && step.at <= at + clockMs)?.at ?? [],
  );
  return new Set(times);
}

function askedTooOften({ record, requests, sent, steps }: Case): string[] {
  const closings = steps.filter((step) => step.do === 'close').length;
  const allowed = record.rule === 'each' ? closings : 1;
  const markers = requests.flatMap(({ marker }) => marker ?? []);
  const repeated = markers.filter((marker, i) => markers.indexOf(marker) !== i);
  const tooMany = Math.max(sent.length - allowed, repeated.length);
  return Array.from({ length: tooMany }, () => `requests ${requests.map(({ requestId }) => requestId).join(', ')}`);
}

function askedInVain({ requests, steps }: Case): string[] {
  return requests.flatMap(({ at, requestId }) => {
    const before = steps.findLast((step) => step.at <= at);
    if (before?.do !== 'reopen' || at - before.at <= lookedMs) return [];
    return `request ${requestId} came ${at - before.at} ms after it was reopened`;
  });
}

/** What is left of a person whose erasure was acknowledged. */
function leftOf(
  { record, requests, journeys }: Case,
  forgotten: Evidence['forgotten'],
  said: ReadonlyMap<number, Said>,
  shown: Shown | undefined,
): string[] {
  if (forgotten.length === 0) return [];
  const since = Math.min(...forgotten.map(({ at }) => at));
  const unmasked = requests.filter(({ requestId }) => said.get(requestId)?.contact === record.contact);
  return [
    ...unmasked.map(({ requestId }) => `request ${requestId} still shows the contact`),
    ...requests
      .filter(({ at }) => at - since > onItsWayMs)
      .map(({ requestId, at }) => `request ${requestId} came ${at - since} ms after the erasure was accepted`),
    ...journeys.flatMap(({ id, contact, answer }) =>
      contact || answer ? [`journey ${id} still holds their data`] : [],
    ),
    ...new Set(forgotten.flatMap(({ inClear }) => inClear.map((name) => `Redis holds the contact in ${name}`))),
    ...(shown?.comment ? ['the record still shows their comment'] : []),
  ];
}

const unfinished = new Set(['received', 'waiting', 'creating', 'failed']);

function closingsLost(one: Case): string[] {
  const { record, steps, sent, journeys } = one;
  const stuck = journeys.filter(({ state }) => unfinished.has(state));
  if (stuck.length > 0) return stuck.map(({ id, state }) => `journey ${id} is ${state}`);
  const last = steps.at(-1);
  // Reopened for good: there was nothing to ask about, whoever heard of it.
  if (last?.do !== 'close' || !closingsAcknowledged(one).has(last.at)) return [];
  if (journeys.some(({ state }) => state === 'parked')) return [];
  // An earlier closing may have been asked about; only rule `each` asks about this one as well.
  const enough = record.rule === 'each' ? sent.some(({ at }) => at >= last.at) : sent.length > 0;
  return enough ? [] : ['its customer was not asked'];
}

/** The case in short, for whoever looks into it. */
function tell({ steps, requests, journeys }: Case): string {
  const origin = steps[0]?.at ?? 0;
  const seconds = (at: number): string => `${((at - origin) / 1000).toFixed(1)} s`;
  return [
    `Steps: ${steps.map((step) => `${step.do} ${seconds(step.at)}`).join(', ')}`,
    `requests: ${requests.map(({ requestId, at }) => `${requestId} ${seconds(at)}`).join(', ') || 'none'}`,
    `journeys: ${journeys.map(({ id, state, why }) => `${id} ${state}${why === undefined ? '' : ` (${why})`}`).join(', ') || 'none'}`,
  ].join('; ');
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
