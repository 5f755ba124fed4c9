import type { AnswerValue } from '../../core/connector/contract.ts';
import type { Target } from './targets.ts';
import type { FieldValue } from './ticket.ts';

/** The answer to a question as the field of its type takes it; undefined where it can't: Zendesk would refuse the ticket. */
export function answerValue(answer: AnswerValue, { type, options = [] }: Target): FieldValue | undefined {
  const texts = (Array.isArray(answer) ? answer : [answer]).map(String);
  const [only = '', ...others] = texts;
  const tagOf = (text: string): string => {
    const same = (one: string): boolean => one.trim().toLowerCase() === text.trim().toLowerCase();
    return options.find(({ name, value }) => same(value) || same(name))?.value ?? text;
  };
  switch (type) {
    case 'multiselect':
      return texts.map(tagOf);
    case 'text':
      return texts.join(', ').replace(/\s+/g, ' ').slice(0, longest);
    case 'textarea':
      return texts.join(', ').slice(0, longest);
  }
  if (others.length > 0) return undefined;
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(only.trim()) ? Number(only) : undefined;
    case 'decimal':
      return /^[+-]?\d+(?:\.\d+)?$/.test(only.trim()) ? Number(only) : undefined;
    case 'date':
      return /^\d{4}-\d\d-\d\d(?!\d)/.exec(only)?.[0];
    case 'checkbox':
      return yes.has(only.trim().toLowerCase()) || (no.has(only.trim().toLowerCase()) ? false : undefined);
    default:
      return tagOf(only);
  }
}

/** Zendesk takes 65,536. */
const longest = 60_000;
const yes = new Set(['true', 'yes', '1']);
const no = new Set(['false', 'no', '0']);
