import { type Case, casesOf, tell } from './cases.ts';
import { type Evidence, isAnswer } from './evidence.ts';
import { askedTooOften, lostClosings } from './judge-closings.ts';
import { leftOfForgotten } from './judge-erasure.ts';
import { type Explained, judgeFrequency, judgePreference, judgeRequest } from './judge-requests.ts';
import { lostAnswers, shownWrong, writtenWrongOnce } from './judge-writing.ts';

/** What counts, each with what it means. A clean run has none of any. */
export const offences = {
  lost: 'acknowledged closings without a request and without a reason that holds; answers that are not on their record',
  askedTwice: 'requests beyond one for a closing, or for a record where the rule says so',
  askedWrongly:
    'requests to another person, in another campaign or with other values than the record had when it was read last, or without its having been read',
  forbidden: 'requests that the policy of their moment forbade: never, no rule, language, delay, window, throttle, cap',
  writtenWrong:
    "values that stood on a record at any time and were not its customer's newest; notes twice; tags, mails, a status",
  notErased: 'people whose erasure was acknowledged, and of whom something is left, or who were asked afterwards',
  dropped: 'journeys from which an older version dropped what a newer one had stored',
} as const;
export type Offence = keyof typeof offences;

export interface Verdict extends Record<Offence, number> {
  /** Closings that an intake answered 2xx for, each once. */
  acknowledged: number;
  requests: number;
  answered: number;
  /** Erasures that an intake answered 2xx for, each person once. */
  erased: number;
  parked: number;
  /** Journeys that wait for an hour after the end of the run: a cap or a window put them off. */
  putOff: number;
  /**
   * Journeys left to a person because of the request of somebody who was forgotten meanwhile: nobody but that person's contact
   * could tell whose it is, and it is not shown any more.
   */
  undecidable: number;
  /** For each that counts what, why and what happened, as text of several lines. */
  findings: string[];
  parkedReasons: string[];
}

interface Judge {
  name: string;
  count: Offence;
  /** Sentences, one for each offence. */
  judge: (one: Case, evidence: Evidence) => string[];
  /** Of whom the vendor has forgotten nothing else is to be judged: they can't be asked, and nothing of theirs stays. */
  ofForgotten?: true;
}

/** What is looked at in each record. */
const judges: readonly Judge[] = [
  { name: 'one request for a closing', count: 'askedTwice', judge: askedTooOften, ofForgotten: true },
  { name: 'nothing left of the forgotten', count: 'notErased', judge: leftOfForgotten, ofForgotten: true },
  { name: 'a request for each closing, or a reason', count: 'lost', judge: lostClosings },
  { name: 'each answer on its record', count: 'lost', judge: lostAnswers },
  { name: 'the newest answer, and nothing else', count: 'writtenWrong', judge: shownWrong },
  { name: 'at no time another value', count: 'writtenWrong', judge: writtenWrongOnce },
];

const isToBeForgotten = ({ record }: Case): boolean => record.acts.some((act) => act.do === 'forget');

/** Compares what was acknowledged, what the service holds, what the vendors show and showed, and what lies in Redis. Pure. */
export function audit(evidence: Evidence): Verdict {
  const { cases, strangers } = casesOf(evidence);
  const found = [
    ...strangers.map(({ requestId, contact }): Finding => {
      return { count: 'askedWrongly', what: `request ${requestId} to ${contact}: no record accounts for it` };
    }),
    ...evidence.fieldsDropped.map((id): Finding => {
      return { count: 'dropped', what: `journey ${id} lost what a newer version had stored` };
    }),
    ...cases.flatMap((one) =>
      judges
        .filter(({ ofForgotten }) => ofForgotten || !isToBeForgotten(one))
        .flatMap(({ count, name, judge }) => judge(one, evidence).map((what): Finding => ({ count, name, what, one }))),
    ),
    ...judgeRequests(cases, evidence),
  ];
  const masked = requestsOfForgotten(cases);
  const parked = evidence.journeys.filter(({ state }) => state === 'parked');
  const undecidable = parked.filter(({ why }) => masked.has(Number(maskedRequest.exec(why ?? '')?.[1])));
  const countOf = (count: Offence): number => found.filter((one) => one.count === count).length;
  return {
    ...{ lost: countOf('lost'), askedTwice: countOf('askedTwice'), askedWrongly: countOf('askedWrongly') },
    ...{ forbidden: countOf('forbidden'), writtenWrong: countOf('writtenWrong'), notErased: countOf('notErased') },
    dropped: countOf('dropped'),
    acknowledged: cases.flatMap(({ closings }) => closings).filter(({ acknowledgedAt }) => acknowledgedAt !== undefined)
      .length,
    requests: evidence.taken.length,
    answered: evidence.said.filter(isAnswer).length,
    erased: new Set(evidence.forgotten.map(({ key }) => key)).size,
    parked: parked.length - undecidable.length,
    putOff: evidence.journeys.filter(({ state }) => state === 'waiting').length,
    undecidable: undecidable.length,
    findings: found.map(inWords),
    parkedReasons: parked.map(({ source, id, why }) => `${source}/${id}: ${why}`),
  };
}

interface Finding {
  count: Offence;
  what: string;
  /** The judge's. */
  name?: string;
  one?: Case;
}

/** Each request alone, then those that are right together: how often, and in place of which. */
function judgeRequests(cases: readonly Case[], evidence: Evidence): Finding[] {
  const findings: Finding[] = [];
  const explained: Explained[] = [];
  const caseOf = new Map(cases.flatMap((one) => one.requests.map(({ requestId }) => [requestId, one] as const)));
  for (const one of cases) {
    for (const request of one.sent) {
      const judged = judgeRequest(request, one, evidence);
      if (judged.is === 'right') explained.push(judged);
      else {
        const count = judged.count === 'forbidden' ? 'forbidden' : 'askedWrongly';
        findings.push({
          count,
          name: 'as the policy of its moment says',
          what: `request ${request.requestId}: ${judged.what}`,
          one,
        });
      }
    }
  }
  for (const { of, what } of [...judgeFrequency(explained), ...judgePreference(explained, cases)]) {
    const one = caseOf.get(of.request.requestId);
    findings.push({
      ...{ count: 'forbidden' as const, name: 'not too often, and the right one of several' },
      ...{ what: `request ${of.request.requestId}: ${what}`, ...(one && { one }) },
    });
  }
  return findings;
}

/** What, why, and what happened to the record. */
function inWords({ count, name, what, one }: Finding): string {
  if (!one) return `${count}: ${what}`;
  return `${one.key} (${one.record.rule}), ${count}${name === undefined ? '' : ` (${name})`}: ${what}\n${tell(one)}`;
}

/** What closeloop says of a request whose contact is not shown any more. */
const maskedRequest = /^request (\d+) may be it: its contact was masked/;

/** Requests to people of whom the vendor has told that they are to be forgotten. */
function requestsOfForgotten(cases: readonly Case[]): ReadonlySet<number> {
  const forgotten = cases.filter((one) => one.forgotten.length > 0);
  return new Set(forgotten.flatMap(({ requests }) => requests.map(({ requestId }) => requestId)));
}

export function isClean(verdict: Verdict): boolean {
  const { parked, undecidable, acknowledged } = verdict;
  const total = offenceNames.reduce((sum, count) => sum + verdict[count], 0);
  return total === 0 && undecidable === 0 && parked <= acknowledged / 1_000;
}

export const offenceNames: readonly Offence[] = [
  ...(['lost', 'askedTwice', 'askedWrongly', 'forbidden', 'writtenWrong', 'notErased', 'dropped'] as const),
];
