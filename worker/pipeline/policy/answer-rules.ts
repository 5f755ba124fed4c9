import { present } from '../../../core/connector/customer.ts';
import type { Expression } from '../../../core/mapping/expression.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';
import type { AnswerRule } from '../../config/answer-rule.ts';
import type { Journey } from '../../journey/journey.ts';

/** Whether the expression of an answer rule reads the record, and not the answer alone. */
export const readsRecord = ({ reads, readsUnnamed }: Expression): boolean =>
  readsUnnamed || reads.some(([root]) => root !== 'answer');

/** An answer rule with its expressions compiled. */
export interface LoadedAnswerRule extends Omit<AnswerRule, 'when' | 'do'> {
  when: Expression | undefined;
  do: readonly { name: string; params: unknown /** Of a note. */; text?: Expression }[];
}

export function loadAnswerRule(rule: AnswerRule): LoadedAnswerRule {
  const steps = rule.do.map(({ name, params }) =>
    name === 'note' && typeof params === 'string'
      ? { name, params, text: compileExpression(params) }
      : { name, params },
  );
  return { ...rule, when: rule.when === undefined ? undefined : compileExpression(rule.when), do: steps };
}

/**
 * The answer as the expressions of answer rules read it beside the record: `answer.grade`. Missing values are left out: `null <= 2` would be an
 * error of the expression, and `"…: " & null` a text.
 */
export interface AnswerShape {
  grade?: number;
  /** The highest grade of the campaign, where known. */
  maxGrade?: number;
  comment?: string;
  /** The campaign's name. */
  campaign: string;
  /** The answers to a survey, by question id. */
  answers: Readonly<Record<string, unknown>>;
  /** Whether the customer has changed the answer: this is not its first version. */
  changed: boolean;
}

/** The journey's answer for expressions; undefined without an answer. */
export function answerShape(journey: Journey): AnswerShape | undefined {
  const { answer, maxGrade, campaignName, campaign, survey } = journey;
  if (answer === undefined) return undefined;
  const { grade, comment } = answer;
  return {
    ...present({ grade, maxGrade, comment }),
    campaign: campaignName ?? `campaign ${campaign}`,
    answers: survey?.answers ?? {},
    changed: answer.version > 1,
  };
}
