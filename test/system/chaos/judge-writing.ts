import type { Case } from './cases.ts';
import { isAnswer, type Said, type StoredJourney } from './evidence.ts';
import { tester } from './policy.ts';
import type { Value } from './shown.ts';

// What stands on the record, and what ever stood there, against what customers said. closeloop writes an answer as soon as it has seen it
// (`settle` is 0), so that every value that it writes has settled.

const says = (one: Value, other: Value): boolean => one.grade === other.grade && one.comment === other.comment;
const isNothing = ({ grade, comment }: Value): boolean => grade === null && comment === null;
const inWords = ({ grade, comment }: Value): string =>
  `${grade}${comment === null ? '' : `, ${JSON.stringify(comment)}`}`;

/** Answers that are not on their record. */
export function lostAnswers(one: Case): string[] {
  const { shown } = one;
  const last = newest(answersOf(one), one.journeys);
  if (!shown || !last || !isNothing(shown) || isParked(one)) return [];
  return [`grade ${last.grade} of request ${last.requestId} is not on it`];
}

/** What the record shows in the end and must not. */
export function shownWrong(one: Case): string[] {
  const { shown, record, steps } = one;
  if (!shown) return [];
  const answers = answersOf(one);
  const last = newest(answers, one.journeys);
  // A newer answer that the vendor doesn't take leaves the older one there.
  const isRight = isParked(one) ? answers.some((answer) => says(answer, shown)) : last && says(last, shown);
  const moves = steps.filter((step) => step.do === 'close' || step.do === 'reopen');
  const mayBeMarked = record.vendor === 'desk';
  return [
    ...(last && !isNothing(shown) && !isRight
      ? [`it shows ${inWords(shown)}; the customer said ${answers.map(inWords).join('; ')}; last ${inWords(last)}`]
      : []),
    ...(!last && !isNothing(shown) ? [`it shows ${inWords(shown)}, and nobody said anything`] : []),
    ...(new Set(shown.notes).size < shown.notes.length ? [`notes twice: ${shown.notes.join(', ')}`] : []),
    ...(shown.gradeTags.length > 1 ? [`tags ${shown.gradeTags.join(', ')}`] : []),
    ...(!mayBeMarked && shown.notes.length + shown.gradeTags.length > 0
      ? ['a note or a tag, which nobody wanted']
      : []),
    ...(shown.mails > 0 ? [`${shown.mails} mails went to the customer`] : []),
    ...(moves.length > 0 && shown.isClosed !== (moves.at(-1)?.do === 'close')
      ? [`its status was changed: it is ${shown.isClosed ? 'closed' : 'open'}`]
      : []),
  ];
}

/** Values that stood on the record at any time, though nobody had said so, or an answer had taken the place of theirs. */
export function writtenWrongOnce(one: Case): string[] {
  const { shown } = one;
  const said = one.saidAt.filter(({ requestId }) => !isTest(requestId, one));
  const versions = Map.groupBy(said, ({ requestId }) => requestId);
  const reached = new Map<number, number>();
  return (shown?.history ?? []).flatMap((state) => {
    if (isNothing(state)) return [];
    const matches = [...versions].flatMap(([requestId, own]) =>
      own.flatMap((version, nth) =>
        says(version, state) && version.at <= state.at + secondMs ? [{ requestId, nth }] : [],
      ),
    );
    if (matches.length === 0) return [`${inWords(state)} was written ${timeOf(state)}, which nobody had said`];
    const next = matches.find(({ requestId, nth }) => nth >= (reached.get(requestId) ?? 0));
    if (!next) return [`${inWords(state)} was written ${timeOf(state)}, over a newer answer`];
    reached.set(next.requestId, next.nth);
    return [];
  });
}

/** A vendor dates its changes to the second, rounded down. */
const secondMs = 1_000;
const timeOf = ({ at }: { at: number }): string => `at ${new Date(at).toISOString()}`;

const isParked = ({ journeys }: Case): boolean => journeys.some(({ state }) => state === 'parked');

function isTest(requestId: number, { requests }: Case): boolean {
  return requests.some((request) => request.requestId === requestId && request.contact === tester);
}

/** Answers that belong on the record: those of the tester do not. */
function answersOf(one: Case): Said[] {
  return one.requests
    .filter(({ requestId }) => !isTest(requestId, one))
    .flatMap(({ requestId }) => one.said.get(requestId) ?? [])
    .filter(isAnswer);
}

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
