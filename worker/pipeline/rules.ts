import { createHash } from 'node:crypto';
import {
  compileExpression,
  type Expression,
  ExpressionSetAside,
  evaluateFirst,
  type Findings,
  isTrue,
} from '../../core/mapping/expression.ts';
import { compileMapping, type Mapping } from '../../core/mapping/mapping.ts';
import type { Rule } from '../config/rule.ts';

/** A rule with its expressions compiled. */
export interface LoadedRule extends Omit<Rule, 'when' | 'contact' | 'fields'> {
  when: Expression | undefined;
  contact: Expression[];
  mapping: Mapping;
}

export function loadRule(rule: Rule): LoadedRule {
  const contact = typeof rule.contact === 'string' ? [rule.contact] : rule.contact;
  return {
    ...rule,
    when: rule.when === undefined ? undefined : compileExpression(rule.when),
    contact: contact.map(compileExpression),
    mapping: compileMapping(rule.fields),
  };
}

export type Choice = { rule: LoadedRule; findings: Findings } | { rule: undefined; why: string };

/**
 * The first rule whose condition is true for the record, with all that its expressions give over it. JSONata's own truth
 * (`$boolean`) decides: 0, an empty text or list, and what finds nothing are false. A condition that can't be evaluated stops
 * the search: a later rule could be the wrong rule to ask by.
 * @throws CloseloopError config for an expression that was stopped: its rule can't be told from the others until it is mended
 */
export async function chooseRule(rules: readonly LoadedRule[], shape: object): Promise<Choice> {
  const choices = rules.map((rule) => ({ when: rule.when, then: expressionsOf(rule) }));
  const { verdicts, findings } = await evaluateFirst(choices, shape).catch((error: unknown) => {
    throw error instanceof ExpressionSetAside ? error.in(placesOf(error.source, rules)) : error;
  });
  const passed: string[] = [];
  for (const [i, verdict] of verdicts.entries()) {
    const rule = rules[i];
    if (rule === undefined) break;
    if (!verdict.ok) {
      const why = `the condition of rule "${rule.name}" could not be evaluated: ${verdict.why}`;
      return { rule: undefined, why };
    }
    if (isTrue(verdict)) return { rule, findings };
    passed.push(`"${rule.name}"${verdict.value === undefined ? ' finds nothing in the record' : ''}`);
  }
  return { rule: undefined, why: `no rule's condition is true (${passed.join(', ') || 'there are no rules'})` };
}

function expressionsOf({ contact, mapping }: LoadedRule): Expression[] {
  return [...contact, ...mapping.values()];
}

/** Where an expression stands. */
function placesOf(source: string, rules: readonly LoadedRule[]): string {
  const holds = (rule: LoadedRule): boolean =>
    [rule.when, ...expressionsOf(rule)].some((one) => one?.source === source);
  return rules
    .filter(holds)
    .map(({ name }) => `rule "${name}"`)
    .join(', ');
}

/** Whether this journey belongs to the rule's sample; the same journey always gets the same answer. */
export function inSample(share: number | undefined, journeyRef: string): boolean {
  if (share === undefined) return true;
  return createHash('sha256').update(journeyRef).digest().readUInt32BE(0) / 2 ** 32 < share;
}
