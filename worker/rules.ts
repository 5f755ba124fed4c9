import { createHash } from 'node:crypto';
import { CloseloopError } from '../core/errors.ts';
import { compileExpression, type Expression } from '../core/mapping/expression.ts';
import { compileMapping, type Mapping } from '../core/mapping/mapping.ts';
import type { Rule } from './config/rule.ts';

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

export type Choice = { rule: LoadedRule } | { rule: undefined; why: string };

/**
 * The first rule whose condition is true for the record. A condition that is neither true nor false counts as false,
 * one that can't be evaluated stops the search: asking by a later rule could be asking by the wrong one.
 */
export async function chooseRule(rules: readonly LoadedRule[], shape: object): Promise<Choice> {
  const passed: string[] = [];
  for (const rule of rules) {
    if (!rule.when) return { rule };
    try {
      const verdict = await rule.when.evaluate(shape);
      if (verdict === true) return { rule };
      passed.push(`"${rule.name}"${verdict === undefined ? ' finds nothing in the record' : ''}`);
    } catch (error) {
      const why = error instanceof CloseloopError ? error.message : 'it failed';
      return { rule: undefined, why: `the condition of rule "${rule.name}" could not be evaluated: ${why}` };
    }
  }
  return { rule: undefined, why: `no rule's condition is true (${passed.join(', ') || 'there are no rules'})` };
}

/** Whether this journey belongs to the rule's sample; the same journey always gets the same answer. */
export function inSample(share: number | undefined, journeyRef: string): boolean {
  if (share === undefined) return true;
  return createHash('sha256').update(journeyRef).digest().readUInt32BE(0) / 2 ** 32 < share;
}
