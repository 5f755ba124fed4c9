import { suggestion } from '../suggestion.ts';
import { functionNames } from './expression-failure.ts';

/** A node of JSONata's syntax tree, with the properties that hold names. */
interface Node {
  type?: unknown;
  value?: unknown;
  position?: number;
  /** For `@$name`. */
  focus?: unknown;
  /** For `#$name`; after a predicate a node of its own stands for it. */
  index?: unknown;
  /** The parameters of a function. */
  arguments?: readonly Node[];
}

/** `$` and `$$`, without their first $. */
const always = ['', '$'];

/**
 * A name with $ that must not stand in an expression, or that nothing defines: JSONata finds an unknown name only when it evaluates it, and
 * then the expression fails for every record. A name counts as defined in the whole expression, wherever it is bound. `ast` is JSONata's.
 */
export function nameFlawIn(ast: unknown): { position: number | undefined; message: string } | undefined {
  const nodes = nodesIn(ast);
  const bound = new Set<unknown>([...always, ...functionNames, ...nodes.flatMap(boundBy)]);
  for (const { type, value, position } of nodes) {
    if (type !== 'variable') continue;
    if (value === 'eval') return { position, message: '$eval() would run text of a record as an expression' };
    if (bound.has(value)) continue;
    const names = [...bound].filter((name) => !always.includes(String(name))).map((name) => `$${name}`);
    const message = `$${value} is no function of JSONata, and the expression does not define it`;
    return { position, message: message + suggestion(`$${value}`, names) };
  }
  return undefined;
}

function nodesIn(part: unknown): Node[] {
  if (typeof part !== 'object' || part === null) return [];
  return [part, ...Object.values(part).flatMap(nodesIn)];
}

/** The names that this node binds. */
function boundBy(node: Node): unknown[] {
  const own = [node.focus, node.index].filter((name) => name !== undefined);
  if (node.type === 'bind') return [...own, Object(node).lhs.value];
  if (node.type === 'lambda') return [...own, ...(node.arguments ?? []).map(({ value }) => value)];
  return node.type === 'index' ? [...own, node.value] : own;
}
