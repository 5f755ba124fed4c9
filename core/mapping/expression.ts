import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isFunction } from './expression-budget.ts';
import { ExpressionSetAside, place, quoted, reason } from './expression-failure.ts';
import { type Evaluated, type Failure, limits } from './expression-limits.ts';
import { type Compiled, type SandboxRecord, sandbox, type Turn } from './expression-sandbox.ts';

/** A JSONata expression, ready to run over records. */
export interface Expression {
  readonly source: string;
  /** The paths that the expression reads, from the record's top. */
  readonly reads: readonly (readonly string[])[];
  /** Whether the expression may read more of the record than these paths, as by `$$`. */
  readonly readsUnnamed: boolean;
  /** The result of an expression that reads nothing of the record (`"North"`, `5 * 60`), or why it has no result. */
  readonly constant: ExpressionResult | undefined;
  /** The names of an expression that is only a path of names: `ticket.fields.store`. */
  readonly path: readonly string[] | undefined;
  readonly compiled: Compiled;
  /** Evaluates this expression alone, as `evaluateAll` does. @throws CloseloopError permanent when it fails for this record, ExpressionSetAside */
  evaluate(input: unknown): Promise<unknown>;
}

export type ExpressionResult = { ok: true; value: unknown } | { ok: false; why: string };

/** The results of several expressions over one record. */
export interface Findings {
  of(expression: Expression): ExpressionResult;
}

/**
 * Evaluates expressions over one record. Results are copies, in JSON values; undefined where an expression finds nothing. `input` must
 * be JSON values, and expressions can't change it. No variable outlives its evaluation. `$now()` is the machine's clock.
 * @throws ExpressionSetAside
 */
export async function evaluateAll(expressions: readonly Expression[], input: unknown): Promise<Findings> {
  const { findings } = await evaluateFirst([{ then: expressions }], input);
  return findings;
}

export interface Choice {
  /** The condition. Left out: always true. */
  when?: Expression | undefined;
  /** The expressions that are evaluated if the condition is true. Left out: none. */
  then?: readonly Expression[] | undefined;
}

/** The results of conditions, in order, up to the first that is true or failed. */
interface Chosen {
  verdicts: ExpressionResult[];
  /** The expressions of the choice whose condition is true, if there is one. */
  findings: Findings;
}

/**
 * Evaluates conditions up to the first that is true, and then the expressions of that choice.
 * @throws ExpressionSetAside
 */
export async function evaluateFirst(choices: readonly Choice[], input: unknown): Promise<Chosen> {
  const over = recordOf(input);
  const verdicts: ExpressionResult[] = [];
  const found = new Map<Expression, ExpressionResult>();
  for (const { when, then = [] } of choices) {
    const verdict: ExpressionResult = when ? await find(when, over) : { ok: true, value: true };
    verdicts.push(verdict);
    if (verdict.ok && !isTrue(verdict)) continue;
    if (verdict.ok) for (const one of then) found.set(one, await find(one, over));
    // A failed condition stops the search: a later rule must not decide.
    break;
  }
  return { verdicts, findings: { of: (one) => found.get(one) ?? foundBy(one.source, notAsked) } };
}

/** Whether a condition holds, by JSONata's own truth (`$boolean`). */
export function isTrue(verdict: { ok: true; value: unknown } | { ok: false }): boolean {
  return verdict.ok && truth(verdict.value) === true;
}

const notAsked: Evaluated = { ok: false, failure: { code: 'unknown' } };
/** How many times an expression was stopped since the process started, by its source. */
export const stopped = new Map<string, number>();
/** Expressions that need more than a turn continue one after the other, beside the other work of the process. */
const oneByOne = pLimit(1);

/** The record that expressions are evaluated over. It is copied into the sandbox when the first expression needs the sandbox. */
interface Over {
  readonly input: unknown;
  inSandbox(): { record: SandboxRecord } | { failure: Failure };
}

function recordOf(input: unknown): Over {
  let made: ReturnType<Over['inSandbox']> | undefined;
  return {
    input,
    inSandbox: () => {
      made ??= copied(input);
      return made;
    },
  };
}

/** @throws RangeError for thousands of nested lists, as V8 writes JSON by a recursive function */
function copied(input: unknown): { record: SandboxRecord } | { failure: Failure } {
  const json = JSON.stringify(input) ?? 'null';
  return json.length > limits.input ? { failure: { code: 'input' } } : { record: sandbox().record(json) };
}

type Evaluable = Pick<Expression, 'source' | 'compiled' | 'path'>;

/** Begins an evaluation: each call of the function that it returns is a turn, until there is a result. */
function begin({ source, compiled, path }: Evaluable, over: Over): Turn {
  const plain = path && plainValueAt(over.input, path);
  if (plain) return () => ({ ok: true, ...plain });
  const copy = over.inSandbox();
  if ('failure' in copy) return () => ({ ok: false, ...copy });
  const turn = sandbox().begin(compiled, copy.record, stopped.has(source) ? limits.suspectTimeMs : limits.timeMs);
  return () => {
    const result = turn();
    if (result && stopOf(result)) stopped.set(source, (stopped.get(source) ?? 0) + 1);
    return result;
  };
}

function stopOf(result: Evaluated): 'time' | 'memory' | undefined {
  const code = result.ok ? undefined : result.failure.code;
  return code === 'time' || code === 'memory' ? code : undefined;
}

async function find(expression: Evaluable, over: Over): Promise<ExpressionResult> {
  const { source } = expression;
  const turn = begin(expression, over);
  const result = turn() ?? (await inTurns(source, turn));
  const stop = stopOf(result);
  if (stop) throw new ExpressionSetAside(source, stop);
  return foundBy(source, result);
}

/** The result of an expression over a record, without waiting for a turn. */
export function evaluateAtOnce(expression: Evaluable, input: unknown): Evaluated {
  const turn = begin(expression, recordOf(input));
  for (;;) {
    const result = turn();
    if (result) return result;
  }
}

/** @throws ExpressionSetAside when the expression was stopped, over another record, while this evaluation waited for its turn */
async function inTurns(source: string, turn: Turn): Promise<Evaluated> {
  const before = stopped.get(source);
  await setImmediate();
  // On a busy machine the time of the first turn may pass before the evaluation has begun.
  const soon = turn();
  if (soon) return soon;
  return await oneByOne(async () => {
    if (stopped.get(source) !== before) throw new ExpressionSetAside(source, 'aside');
    for (;;) {
      await setImmediate();
      const result = turn();
      if (result) return result;
    }
  });
}

export function foundBy(source: string, result: Evaluated): ExpressionResult {
  if (result.ok) return result;
  return {
    ok: false,
    why: `The expression ${quoted(source)} failed${place(result.failure)}: ${reason(result.failure)}`,
  };
}

/**
 * The truth of a value, by JSONata's `$boolean`: an empty text, 0, null, an empty object and a list without a true entry are false;
 * undefined where an expression finds nothing.
 */
export function truth(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 1 ? truth(value[0]) : value.some((one) => truth(one));
  if (typeof value === 'number') return !Number.isNaN(value) && value !== 0;
  if (typeof value === 'object' && value !== null) return !isFunction(value) && Object.keys(value).length > 0;
  return value === true || (typeof value === 'string' && value !== '');
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

/** A longer text is left to JSONata, whose results are checked for their size. */
const longestPlain = limits.text / 8;
