import { compileExpression, type Expression } from '../../core/mapping/expression.ts';
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
