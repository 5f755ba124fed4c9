import { z } from 'zod';

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

/** Whether an expression is a path of names and nothing else: no list index, condition or function. `ast` is JSONata's. */
export function isPath(ast: unknown): boolean {
  return PlainPath.safeParse(ast).success;
}

/** By its own properties: JSONata's nodes inherit others. */
const withOnly = (...names: string[]) =>
  z.custom<object>(
    (node) => typeof node === 'object' && node !== null && Object.keys(node).every((name) => names.includes(name)),
  );
const Name = withOnly('type', 'value', 'position').and(z.looseObject({ type: z.literal('name') }));
const PlainPath = withOnly('type', 'steps').and(z.looseObject({ steps: z.array(Name) }));
