import { z } from 'zod';
import { limits } from './expression-limits.ts';

const Step = z.looseObject({ type: z.string(), value: z.unknown().optional() });
const Path = z.looseObject({ type: z.literal('path'), steps: z.tuple([Step], Step) });

/**
 * What an expression reads of the record it runs over, as lists of names from the record's top: `ticket.items[price > 3]`
 * gives `['ticket', 'items']`. What depends on values met on the way (a predicate, a variable) is left out: it can't be
 * looked up without a record. `ast` is JSONata's.
 */
export function pathsOf(ast: unknown): string[][] {
  if (typeof ast !== 'object' || ast === null) return [];
  const path = Path.safeParse(ast);
  if (!path.success) return Object.values(ast).flatMap(pathsOf);
  const { steps } = path.data;
  const [first] = steps;
  // The later steps of a path run over the result of the first step, not over the record.
  if (first.type !== 'name') return first.type === 'variable' ? [] : pathsOf(first);
  const end = steps.findIndex(({ type }) => type !== 'name');
  return [(end < 0 ? steps : steps.slice(0, end)).map(({ value }) => String(value))];
}

const unnamed = new Set(['wildcard', 'descendant', 'parent']);
const Call = z.looseObject({ type: z.literal('function'), arguments: z.array(Step) });

/**
 * Whether an expression may read more of the record than `pathsOf` tells: by `$$` or `$`, by `*`, `**` or `%`, or as what a function is given in
 * place of a missing argument. `ast` is JSONata's.
 */
export function readsUnnamed(ast: unknown): boolean {
  if (typeof ast !== 'object' || ast === null) return false;
  const { type, value } = Step.safeParse(ast).data ?? {};
  if (unnamed.has(type ?? '') || (type === 'variable' && (value === '' || value === '$'))) return true;
  const call = Call.safeParse(ast).data;
  if (call && ['lambda', undefined].includes(call.arguments[0]?.type)) return true;
  return Object.values(ast).some(readsUnnamed);
}

/** The names of an expression that is a path of names and nothing else: no list index, condition or function. `ast` is JSONata's. */
export function plainPath(ast: unknown): readonly string[] | undefined {
  return PlainPath.safeParse(ast).data?.steps.map(({ value }) => value);
}

/**
 * Looks up a path of names in a record without JSONata, which takes thirty times as long for the same result. Most expressions are such paths.
 * Returns undefined where the path meets a list or ends at an object: then JSONata has to evaluate the expression.
 */
export function plainValueAt(record: unknown, names: readonly string[]): { value: unknown } | undefined {
  let at = record;
  for (const name of names) {
    if (Array.isArray(at)) return undefined;
    if (typeof at !== 'object' || at === null) return { value: undefined };
    at = Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined;
  }
  if (typeof at === 'object' && at !== null) return undefined;
  if (typeof at === 'string' && at.length > longestPlain) return undefined;
  return { value: at === 0 ? 0 : at };
}

/** By its own properties: JSONata's nodes inherit others. */
const withOnly = (...names: string[]) =>
  z.custom<object>(
    (node) => typeof node === 'object' && node !== null && Object.keys(node).every((name) => names.includes(name)),
  );
const Name = withOnly('type', 'value', 'position').and(z.looseObject({ type: z.literal('name'), value: z.string() }));
/** A longer text is left to JSONata, whose results are checked for their size. */
const longestPlain = limits.text / 8;
const PlainPath = withOnly('type', 'steps').and(z.looseObject({ steps: z.array(Name) }));
