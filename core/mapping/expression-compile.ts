import { z } from 'zod';
import { CloseloopError, neverSent } from '../errors.ts';
import { type Expression, evaluateAll, evaluateAtOnce, foundBy } from './expression.ts';
import { adviceOn, callAdvice, quotesAdvice } from './expression-advice.ts';
import { functionNames, place, quoted } from './expression-failure.ts';
import { type Compiled, sandbox } from './expression-sandbox.ts';

/**
 * Compiles a JSONata expression once.
 * @throws CloseloopError config with the place of the mistake
 */
export function compileExpression(source: string): Expression {
  const compiled = parsed(source);
  const expression: Expression = {
    source,
    reads: pathsOf(compiled.ast),
    readsUnnamed: readsUnnamed(compiled.ast),
    constant: readsNothing(compiled.ast)
      ? foundBy(source, evaluateAtOnce({ source, compiled, path: undefined }, null))
      : undefined,
    path: plainPath(compiled.ast),
    compiled,
    evaluate: async (input) => {
      const found = (await evaluateAll([expression], input)).of(expression);
      if (found.ok) return found.value;
      throw neverSent(found.why, 'permanent');
    },
  };
  return expression;
}

function parsed(source: string): Compiled {
  try {
    return sandbox().compile(source);
  } catch (error) {
    // JSONata overflows the stack over deeply nested brackets, without a message of its own.
    const { name, position, message } = Mistake.catch({}).parse(error);
    const what = name === 'RangeError' || message === undefined ? 'not a JSONata expression' : message;
    const advice = adviceOn(source, parses);
    const remedy = advice === undefined ? '' : `. ${advice}`;
    throw neverSent(`The expression ${quoted(source)} has a mistake${place({ position })}: ${what}${remedy}`);
  }
}

function parses(source: string): boolean {
  try {
    return sandbox().compile(source) !== undefined;
  } catch {
    return false;
  }
}

const Mistake = z.object({ name: z.string(), position: z.number(), message: z.string() }).partial();
/** Kinds of syntax that can't reach the record, the clock or a function. */
const constantTypes = new Set(['string', 'number', 'value', 'unary', 'binary', 'condition', 'block']);

function readsNothing(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return true;
  if ('type' in node && typeof node.type === 'string' && !constantTypes.has(node.type)) return false;
  return Object.values(node).every(readsNothing);
}

const Step = z.looseObject({ type: z.string(), value: z.unknown().optional() });
const Path = z.looseObject({ type: z.literal('path'), steps: z.tuple([Step], Step) });

/**
 * The paths that an expression reads, as lists of names from the record's top: `ticket.items[price > 3]`
 * gives `['ticket', 'items']`. Paths that depend on values (in a predicate, of a variable) are left out, as they can't be
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
 * Whether an expression may read more of the record than the paths of `pathsOf`: by `$$` or `$`, by `*`, `**` or `%`, or by a function that gets the
 * record in place of a missing argument. `ast` is JSONata's.
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

/** Accepts a node with no other properties of its own: JSONata's nodes also inherit properties. */
const withOnly = (...names: string[]) =>
  z.custom<object>(
    (node) => typeof node === 'object' && node !== null && Object.keys(node).every((name) => names.includes(name)),
  );

const Name = withOnly('type', 'value', 'position').and(z.looseObject({ type: z.literal('name'), value: z.string() }));
const PlainPath = withOnly('type', 'steps').and(z.looseObject({ steps: z.array(Name) }));

/** The schema of a setting that holds a JSONata expression, with its syntax checked. Add a description of the input. */
export const ExpressionSource = z
  .string({ error: ({ input }) => (isPlainValue(input) ? inQuotes : undefined) })
  .trim()
  .min(1, { error: 'is empty; leave it out, or give an expression', abort: true })
  .superRefine((source, context) => {
    const message = flawOf(source);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ title: 'expression' });

const inQuotes = 'must be a text: a fixed number is written "5", and what is always true "true"';
const isPlainValue = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

function flawOf(source: string): string | undefined {
  try {
    compileExpression(source);
    return quotesAdvice(source) ?? callAdvice(source, functionNames);
  } catch (error) {
    return error instanceof CloseloopError ? error.message : 'is not an expression';
  }
}
