import { z } from 'zod';
import { type Evaluated, limits } from './expression-limits.ts';
import { Fault, isFunction, isNumber, truth } from './expression-truth.ts';

/*
 * Evaluates paths, comparisons, `and`, `or`, `in`, `$not()` and constants on the main thread: nearly every rule needs no more.
 * Their cost grows with the record only, so that they need no time limit. The functions follow those of JSONata one by one, and
 * a property test compares the results.
 */

/** A sequence, as JSONata calls a list that it made itself: of length 1 it is equal to its entry, an empty one is undefined. */
class Sequence extends Array<unknown> {}

type Run = (record: unknown) => unknown;

const Node = z.looseObject({ type: z.string(), value: z.unknown().optional(), position: z.number().optional() });
type Node = z.output<typeof Node>;
const Nodes = z.array(Node);

/** Properties of a node that change its meaning, and that only JSONata implements. */
const others = [
  'predicate',
  'stages',
  'group',
  'focus',
  'index',
  'ancestor',
  'tuple',
  'keepArray',
  'keepSingletonArray',
];
const deepest = 50;

/** How to evaluate an expression without JSONata; undefined where only JSONata can. `ast` is JSONata's. */
export function plainEvaluation(ast: unknown): ((record: unknown) => Evaluated) | undefined {
  const run = compile(ast, 0);
  if (run === undefined) return undefined;
  return (record) => {
    try {
      return { ok: true, value: asJson(settled(run(record))) };
    } catch (error) {
      if (error instanceof Fault) return { ok: false, failure: error.failure };
      if (error instanceof RangeError) return { ok: false, failure: { code: 'too-much' } };
      throw error;
    }
  };
}

/** The result as the thread would return it: a copy, of JSON values. */
function asJson(value: unknown): unknown {
  if (isFunction(value)) throw new Fault({ code: 'function' });
  if (typeof value === 'number') return finite('', value) === 0 ? 0 : value;
  if (typeof value === 'boolean' || value === null || value === undefined) return value;
  // A character takes at most 6 characters in JSON: \u0000.
  if (typeof value === 'string' && value.length < limits.text / 8) return value;
  const json = JSON.stringify(value, finite);
  if (json.length > limits.text) throw new Fault({ code: 'too-much' });
  return JSON.parse(json);
}

function finite(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Fault({ code: 'D1001' });
  return value;
}

function compile(ast: unknown, depth: number): Run | undefined {
  const node = Node.safeParse(ast).data;
  if (node === undefined || depth > deepest || others.some((part) => node[part] !== undefined)) return undefined;
  const { value } = node;
  const part = (name: string): Run | undefined => {
    const run = compile(node[name], depth + 1);
    return run && ((record) => settled(run(record)));
  };
  switch (node.type) {
    case 'string':
    case 'number':
    case 'value':
      return () => value;
    case 'variable':
      return value === '' || value === '$' ? (record) => record : undefined;
    case 'path':
      return path(node);
    case 'binary':
      return binary(node, part('lhs'), part('rhs'));
    case 'unary':
      if (value === '-') return negative(node, part('expression'));
      return value === '[' && !node.consarray ? list(node, depth) : value === '{' ? object(node, depth) : undefined;
    case 'condition':
      return condition(part('condition'), part('then'), node.else === undefined ? () => undefined : part('else'));
    case 'block':
      return block(node, depth);
    case 'function':
      return call(node, depth);
  }
  return undefined;
}

/** The end of JSONata's `evaluate`. */
function settled(value: unknown): unknown {
  if (!(value instanceof Sequence)) return value;
  return value.length > 1 ? value : value[0];
}

function push(sequence: Sequence, value: unknown): void {
  if (sequence.length >= limits.list) throw new Fault({ code: 'D2015' });
  sequence.push(value);
}

function own(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function lookup(input: unknown, key: string): unknown {
  if (Array.isArray(input)) return gather(input, key, new Sequence());
  return typeof input === 'object' && input !== null && !isFunction(input) ? own(input, key) : undefined;
}

/** Flattens nested lists into one sequence, without copying the entries once per level. */
function gather(list: readonly unknown[], key: string, found: Sequence): Sequence {
  for (const entry of list) {
    if (Array.isArray(entry)) {
      gather(entry, key, found);
      continue;
    }
    const value = lookup(entry, key);
    if (Array.isArray(value)) for (const one of value) push(found, one);
    else if (value !== undefined) push(found, value);
  }
  return found;
}

function path(node: Node): Run | undefined {
  const steps = Nodes.safeParse(node.steps).data;
  if (steps === undefined) return undefined;
  const [first, ...rest] = steps;
  const names = first?.type === 'variable' && (first.value === '' || first.value === '$') ? rest : steps;
  const keys: string[] = [];
  for (const step of names) {
    const { type, value } = step;
    if (type !== 'name' || typeof value !== 'string' || others.some((part) => step[part] !== undefined))
      return undefined;
    keys.push(value);
  }
  return (record) => walk(record, keys);
}

function walk(record: unknown, keys: readonly string[]): unknown {
  let found = record;
  let left = keys.length;
  for (const key of keys) {
    left -= 1;
    found = settled(lookup(found, key));
    if (Array.isArray(found)) return left === 0 ? found : walkLists(found, keys.slice(-left));
  }
  return found;
}

/** The rest of a path that has come upon a list, as few do. */
function walkLists(list: readonly unknown[], keys: readonly string[]): unknown {
  let input = flattened([list]);
  let left = keys.length;
  for (const key of keys) {
    left -= 1;
    const found: unknown[] = [];
    for (const item of input) {
      const value = settled(lookup(item, key));
      if (value !== undefined) found.push(value);
    }
    const [only] = found;
    if (left === 0 && found.length === 1 && Array.isArray(only) && !(only instanceof Sequence)) return only;
    input = flattened(found);
  }
  return input;
}

function flattened(values: readonly unknown[]): Sequence {
  const entries = new Sequence();
  for (const value of values) {
    if (!Array.isArray(value)) push(entries, value);
    else for (const one of value) push(entries, one);
  }
  return entries;
}

/** Evaluates an operand; its fault is reported at the operator. */
function at<T>({ position, value }: Node, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault({ ...error.failure, position, token: String(value) });
  }
}

function binary(node: Node, lhs: Run | undefined, rhs: Run | undefined): Run | undefined {
  if (lhs === undefined || rhs === undefined) return undefined;
  const { value } = node;
  if (value === 'and' || value === 'or') {
    const decides = value === 'or';
    return (record) => {
      const left = lhs(record);
      return at(node, () => ((truth(left) ?? false) === decides ? decides : (truth(rhs(record)) ?? false)));
    };
  }
  const operator = typeof value === 'string' ? operators.get(value) : undefined;
  if (operator === undefined) return undefined;
  return (record) => {
    const [left, right] = [lhs(record), rhs(record)];
    return at(node, () => operator(left, right));
  };
}

type Operator = (left: unknown, right: unknown) => unknown;

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['=', (left, right) => left !== undefined && right !== undefined && isEqual(left, right)],
  ['!=', (left, right) => left !== undefined && right !== undefined && !isEqual(left, right)],
  ['<', comparison((left, right) => left < right)],
  ['<=', comparison((left, right) => left <= right)],
  ['>', comparison((left, right) => left > right)],
  ['>=', comparison((left, right) => left >= right)],
  ['in', (left, right) => left !== undefined && (Array.isArray(right) ? right : [right]).some((one) => one === left)],
  ['&', (left, right) => text(left) + text(right)],
  ['+', arithmetic((left, right) => left + right)],
  ['-', arithmetic((left, right) => left - right)],
  ['*', arithmetic((left, right) => left * right)],
  ['/', arithmetic((left, right) => left / right)],
  ['%', arithmetic((left, right) => left % right)],
]);

function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((one, i) => isEqual(one, right[i]));
  }
  const keys = Object.getOwnPropertyNames(left);
  if (keys.length !== Object.getOwnPropertyNames(right).length) return false;
  return (
    keys.every((key) => Object.hasOwn(right, key)) && keys.every((key) => isEqual(own(left, key), own(right, key)))
  );
}

function comparison(compare: (left: string | number, right: string | number) => boolean): Operator {
  return (left, right) => {
    for (const side of [left, right]) {
      if (side !== undefined && typeof side !== 'string' && typeof side !== 'number')
        throw new Fault({ code: 'T2010' });
    }
    if (typeof left === 'string' && typeof right === 'string') return compare(left, right);
    if (typeof left === 'number' && typeof right === 'number') return compare(left, right);
    if (left === undefined || right === undefined) return undefined;
    throw new Fault({ code: 'T2009' });
  };
}

function arithmetic(calculate: (left: number, right: number) => number): Operator {
  return (left, right) => {
    if (left !== undefined && !isNumber(left)) throw new Fault({ code: 'T2001' });
    if (right !== undefined && !isNumber(right)) throw new Fault({ code: 'T2002' });
    return left === undefined || right === undefined ? undefined : calculate(left, right);
  };
}

function text(value: unknown): string {
  if (value === undefined || isFunction(value)) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Fault({ code: 'D3001' });
  return JSON.stringify(value, (_key, one: unknown) => {
    if (isNumber(one)) return Number.isInteger(one) ? one : Number(one.toPrecision(15));
    return isFunction(one) ? '' : one;
  });
}

function negative({ position, value }: Node, of: Run | undefined): Run | undefined {
  return (
    of &&
    ((record) => {
      const number = of(record);
      if (number === undefined) return undefined;
      if (!isNumber(number)) throw new Fault({ code: 'D1002', position, token: String(value) });
      return -number;
    })
  );
}

function all(nodes: unknown, depth: number): Run[] | undefined {
  const runs = Nodes.safeParse(nodes).data?.map((node) => compile(node, depth + 1));
  const found = runs?.filter((run) => run !== undefined);
  return found?.length === runs?.length ? found : undefined;
}

function list(node: Node, depth: number): Run | undefined {
  const runs = all(node.expressions, depth);
  // A list literal within a list stays a list; the entries of any other list are appended.
  const isList = Nodes.safeParse(node.expressions).data?.map(({ value }) => value === '[') ?? [];
  return (
    runs &&
    ((record) => {
      const made: unknown[] = [];
      for (const [i, run] of runs.entries()) {
        const value = settled(run(record));
        if (value !== undefined) made.push(...(Array.isArray(value) && isList[i] !== true ? value : [value]));
        if (made.length > limits.list) throw new Fault({ code: 'D2015' });
      }
      return made;
    })
  );
}

const Pairs = z.array(z.tuple([z.looseObject({ type: z.literal('string'), value: z.string() }), Node]));

/** Only an object of constants: over a record that is a list, JSONata groups the entries. */
function object(node: Node, depth: number): Run | undefined {
  const pairs = Pairs.safeParse(node.lhs).data;
  const keys = pairs?.map(([{ value }]) => value) ?? [];
  const isPlain = keys.every((key) => !key.startsWith('_')) && new Set(keys).size === keys.length;
  const values =
    pairs?.every(([, value]) => isLiteral(value)) && isPlain
      ? all(
          pairs.map(([, one]) => one),
          depth,
        )
      : undefined;
  return (
    values &&
    ((record) => {
      const entries = keys.map((key, i): [string, unknown] => [key, settled(values[i]?.(record))]);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    })
  );
}

const isLiteral = ({ type }: Node): boolean => ['string', 'number', 'value'].includes(type);

function condition(when: Run | undefined, then: Run | undefined, otherwise: Run | undefined): Run | undefined {
  if (when === undefined || then === undefined || otherwise === undefined) return undefined;
  return (record) => (truth(when(record)) ? then(record) : otherwise(record));
}

function block(node: Node, depth: number): Run | undefined {
  const runs = all(node.expressions, depth);
  return runs && ((record) => runs.reduce<unknown>((_, run) => settled(run(record)), undefined));
}

const Procedure = z.object({ type: z.literal('variable'), value: z.enum(['not', 'exists', 'boolean']) });

function call(node: Node, depth: number): Run | undefined {
  const procedure = Procedure.safeParse(node.procedure).data;
  const [argument, ...more] = all(node.arguments, depth) ?? [];
  if (procedure === undefined || argument === undefined || more.length > 0) return undefined;
  const { value: name } = procedure;
  return (record) => {
    const value = settled(argument(record));
    if (name === 'exists') return value !== undefined;
    const found = at({ ...node, value: name }, () => truth(value));
    return name === 'not' && found !== undefined ? !found : found;
  };
}
