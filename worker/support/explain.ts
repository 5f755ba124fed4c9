import type { Journey, JourneyState } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import type { Held } from '../operations/holds.ts';
import { type Pause, pausedInWords } from '../operations/pauses.ts';
import { createNeed, needsOf } from '../pipeline/rules.ts';

/** The fate of one closing in a sentence, and what a person can do about it. */
export interface Explanation {
  /** Whether the customer was asked; undefined: that is not known, or not decided yet. */
  isAsked?: boolean;
  what: string;
  /** A command, without "closeloop". */
  remedy?: string;
}

/** The reasons that hold up all closings of a source. */
export interface Standing {
  source: string;
  timeZone: string;
  paused: readonly Pause[];
  held: readonly Held[];
  /** Events that are not planned yet: no journey was made of them, or theirs has not moved on. */
  notPlanned: number;
}

/** The step that a journey in this state waits for. */
const nextStep: Readonly<Partial<Record<JourneyState, string>>> = {
  received: 'plan',
  waiting: 'ask',
  creating: 'ask',
  asked: 'collect',
  answered: 'write-back',
};

/**
 * The reason for the present state of a journey. Instants in ISO 8601, UTC; no personal data.
 * @param about `isThroughOther`: by another address of the customer than the one asked about
 */
export function explain(
  journey: Journey,
  about: { standing?: Standing | undefined; isThroughOther?: boolean } = {},
): Explanation {
  const { what, ...rest } = ofState(journey, about.standing?.source ?? journey.source);
  if (journey.erasedAt) return { ...rest, what };
  const step = nextStep[journey.state];
  const { rule, campaign } = journey;
  const chosen = rule === undefined || campaign === undefined ? 'any' : { name: rule, campaign };
  const [stop] = step === undefined ? [] : stopsOf(step, chosen, about.standing);
  const through =
    about.isThroughOther && journey.contact ? ` (by another of their addresses: ${journey.contact.kind})` : '';
  return {
    ...rest,
    what: `${what}${through}${stop ? `; held up: ${stop.why}` : ''}`,
    ...(stop?.remedy !== undefined && { remedy: stop.remedy }),
  };
}

/** The reason why a step of the source does nothing now about closings of this rule, if there is one. @param rule `any`: the rule is not known yet */
export function stopsOf(
  step: string,
  rule: Parameters<typeof needsOf>[0] | 'any' | undefined,
  standing: Standing | undefined,
): { why: string; remedy?: string }[] {
  if (standing === undefined) return [];
  const needs = [
    ...(rule === undefined || rule === 'any' ? [] : needsOf(rule)),
    ...(step === 'ask' ? [createNeed] : []),
  ];
  const paused = standing.paused.filter(({ stage }) => stage === step);
  const held = standing.held.filter(({ stage, only }) => stage === step && (rule === 'any' || needs.includes(only)));
  return [
    ...paused.map((pause) => ({
      why: pausedInWords(pause, ` of ${standing.source}`),
      ...(pause.by !== undefined && { remedy: `source resume ${standing.source} --step ${step}` }),
    })),
    ...held.map(({ only, why, at }) => ({ why: `${only} has to be mended since ${at.toISOString()}: ${why}` })),
  ];
}

function ofState(journey: Journey, source: string): Explanation {
  const { state, reason, why = 'the reason was not stored', askedAt, answer, given, dueAt, erasedAt } = journey;
  const ref = refOf(source, journey.id);
  const at = (instant: Date | undefined) => (instant ? ` at ${instant.toISOString()}` : '');
  const asking = askingOf(journey, at);
  const answered = answer && !given?.delivered ? `, answered${at(answer.seenAt)}` : '';
  if (erasedAt && reason !== 'erased') return { what: `the customer was erased${at(erasedAt)}: nothing more is known` };
  switch (state) {
    case 'received':
      return { what: 'its delivery was stored, and nothing is decided yet' };
    case 'skipped':
      return { isAsked: false, what: `not asked: ${why}` };
    case 'waiting':
      return { isAsked: false, what: `to be asked${at(dueAt)}` };
    case 'creating': {
      const whom = journey.test ? 'the test contact is being asked' : 'being asked';
      return { what: `${whom}: whether the service has taken the request is not known yet` };
    }
    case 'asked':
      return {
        ...asking,
        what: `${asking.what}; ${given?.delivered ? 'not read back from the service yet' : 'no answer yet'}`,
      };
    case 'answered':
      return { ...asking, what: `${asking.what}${answered}; not on the record yet` };
    case 'written': {
      const where = journey.why === undefined ? 'on the record' : `not on the record: ${journey.why}`;
      return { ...asking, what: `${asking.what}${answered}; ${where}` };
    }
    case 'expired':
      return { ...asking, what: `${asking.what}; nobody answered in time` };
    case 'tested':
      return { ...asking, what: `${asking.what}${answered}` };
    case 'withheld':
      return { isAsked: false, what: `would have been asked${at(askedAt)}: a dry run sends nothing` };
    case 'cancelled':
      return { isAsked: asking.isAsked && answer !== undefined, what: `cancelled: ${why}` };
    case 'failed':
      return {
        isAsked: asking.isAsked && askedAt !== undefined,
        what: `given up: ${why}`,
        remedy: `journeys replay ${ref}`,
      };
    case 'parked':
      return {
        ...(askedAt && { isAsked: asking.isAsked }),
        what: `waits for a person: ${why}`,
        // An answer that was refused may be written again; whether the customer was asked only a person can find out.
        remedy: answer ? `journeys replay ${ref}` : `journeys resolve ${ref} --asked <request>`,
      };
  }
}

/** The contact that was asked, if any: a test asks the test contact, and for a grade that was given elsewhere closeloop asked nobody. */
function askingOf(
  { state, test, given, askedAt }: Journey,
  at: (instant: Date | undefined) => string,
): { isAsked: boolean; what: string } {
  if (test || state === 'tested') return { isAsked: false, what: `the request went to the test contact${at(askedAt)}` };
  if (given?.delivered) return { isAsked: false, what: `graded elsewhere${at(given.at)}, and not asked from here` };
  return { isAsked: true, what: `asked${at(askedAt)}` };
}
