import { z } from 'zod';
import { type Expression, evaluateAll, evaluateAtOnce, foundBy } from './expression.ts';
import { adviceOn } from './expression-advice.ts';
import { failed, place, quoted } from './expression-failure.ts';
import { pathsOf, plainPath } from './expression-paths.ts';
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
    constant: readsNothing(compiled.ast)
      ? foundBy(source, evaluateAtOnce({ source, compiled, path: undefined }, null))
      : undefined,
    path: plainPath(compiled.ast),
    compiled,
    evaluate: async (input) => {
      const found = (await evaluateAll([expression], input)).of(expression);
      if (found.ok) return found.value;
      throw failed(found.why, 'permanent');
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
    throw failed(`The expression ${quoted(source)} has a mistake${place({ position })}: ${what}${remedy}`, 'config');
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
