import type { PresentedRecord } from '../../core/connector/contract.ts';
import { truth } from '../../core/mapping/expression.ts';
import type { AnswerShape, LoadedAnswerRule } from '../pipeline/policy/answer-rules.ts';

/** The actions of an answer rule for an answer. */
export interface PreviewedActs {
  rule: string;
  settleMs: number;
  /** Nothing where it doesn't match. `params`: of a note its text. */
  actions: { name: string; params: unknown }[];
}

/** Lists what the answer rules would do because of this answer on this record, and does none of it. @throws the error of an expression that fails */
export async function previewActs(
  answer: AnswerShape,
  record: PresentedRecord | undefined,
  rules: readonly LoadedAnswerRule[],
): Promise<PreviewedActs[]> {
  const input = { ...record?.shape, answer };
  return await Promise.all(
    rules.map(async ({ name: rule, settle: settleMs, when, do: steps }) => {
      const matches = when === undefined || truth(await when.evaluate(input)) === true;
      const actions = steps.map(async ({ name, params, text }) => ({
        name,
        params: text ? await text.evaluate(input) : params,
      }));
      return { rule, settleMs, actions: matches ? await Promise.all(actions) : [] };
    }),
  );
}
