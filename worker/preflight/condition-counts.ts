import type { Finding } from '../../core/connector/contract.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import type { LoadedRule } from '../pipeline/rules.ts';

/** As few closings tell nothing about a condition. */
const fewest = 10;
/** Of a name in a condition: the values that are shown, and how much of each. */
const mostValues = 5;
const longest = 40;

type Conditional = Pick<LoadedRule, 'name' | 'when' | 'contact'>;

/**
 * Warns of conditions that none of these closings fulfils (`isMatched`: of which rule one does), with what the names in them were instead. A value is shown where several
 * closings have it, and never what stands beside the customer's contact, or looks like one.
 */
export function unmatched(
  rules: readonly Conditional[],
  shapes: readonly object[],
  isMatched: (rule: string) => boolean,
): Finding[] {
  if (shapes.length < fewest) return [];
  const found: Finding[] = [];
  for (const [i, rule] of rules.entries()) {
    const { name, when } = rule;
    if (when === undefined || isMatched(name)) continue;
    const paths = new Map(when.reads.map((path) => [path.join('.'), path]));
    const seen = [...paths.values()].flatMap((path) => seenAt(path, rule, shapes));
    const instead = seen.length === 0 ? '' : `: ${seen.join('; ')}`;
    found.push({
      level: 'warning',
      at: `rules[${i}].when`,
      problem: `0 of ${shapes.length} closings of the last days match rule "${rule.name}"${instead}`,
      remedy:
        'mend the condition, unless such closings are rare; "closeloop preview --show-record" shows a whole record',
    });
  }
  return found;
}

/** "`ticket.group.name` was Support 31 times, Sales 19 times" */
function seenAt(path: readonly string[], { contact }: Conditional, shapes: readonly object[]): string[] {
  if (isBeside(path, contact)) return [];
  const values = shapes.map((shape) => valuesAt(shape, path));
  const counts = new Map<string, number>();
  for (const text of values.flatMap((some) => [...new Set(some)])) counts.set(text, (counts.get(text) ?? 0) + 1);
  const shared = [...counts].filter(([text, count]) => count > 1 && !looksPersonal(text)).sort((a, b) => b[1] - a[1]);
  const shown = shared.slice(0, mostValues).map(([text, count]) => `${cut(text)} ${times(count)}`);
  const absent = values.filter((some) => some.length === 0).length;
  const parts = [...shown, ...(absent > 0 ? [`nothing ${times(absent)}`] : [])];
  return parts.length === 0 ? [] : [`\`${path.join('.')}\` was ${parts.join(', ')}`];
}

/** Texts, numbers and ticks; an object is none of them, and says nothing here. */
export function valuesAt(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  const [name, ...rest] = path;
  if (name === undefined) {
    return ['string', 'number', 'boolean'].includes(typeof value) && value !== '' ? [String(value)] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return valuesAt(Object.getOwnPropertyDescriptor(value, name)?.value, rest);
}

/** Whether the path leads to the customer, or what stands beside their contact: their name, their town. */
export function isBeside(path: readonly string[], contact: readonly Expression[]): boolean {
  const person = contact.flatMap(({ reads }) => reads.map((one) => (one.length > 1 ? one.slice(0, -1) : one)));
  return person.some((one) => one.every((name, i) => path[i] === name));
}

export function looksPersonal(text: string): boolean {
  return text.includes('@') || text.replace(/\D/g, '').length >= 7;
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
