import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { adviceOn } from './expression-advice.ts';
import { type Evaluated, type Failure, limits } from './expression-limits.ts';
import { pathsOf, plainPath, plainValueAt, readsUnnamed } from './expression-paths.ts';
import { type Compiled, type Evaluation, type SandboxRecord, sandbox } from './expression-sandbox.ts';
import { truth } from './expression-truth.ts';

/** A JSONata expression, ready to run over records. */
export interface Expression {
  readonly source: string;
  /** The paths that the expression reads, from the record's top. */
  readonly reads: readonly (readonly string[])[];
  /** Whether it may read more of the record than these paths: `$$`. */
  readonly readsUnnamed: boolean;
  /** The result of an expression that reads nothing of the record (`"North"`, `5 * 60`), or why it has none. */
  readonly constant: Found | undefined;
  /** The names, where the expression is only a path of names: `ticket.fields.store`. */
  readonly path: readonly string[] | undefined;
  readonly compiled: Compiled;
  /** The result over a record, without waiting for one's turn; undefined where the expression fails or is stopped. */
  atOnce(input: unknown): { value: unknown } | undefined;
  /** As `evaluateAll` of this one alone. @throws CloseloopError permanent when it fails for this record, ExpressionSetAside */
  evaluate(input: unknown): Promise<unknown>;
}

export type Found = { ok: true; value: unknown } | { ok: false; why: string };

/**
 * An expression was stopped because it took too much time or memory, now or just before, by its own fault or the record's.
 * Nothing is decided: jobs that need the expression wait for a person, and other jobs go on.
 */
export class ExpressionSetAside extends CloseloopError {
  override readonly name = 'ExpressionSetAside';
  readonly source: string;
  readonly #why: keyof typeof stops;

  /** @param place where it stands: 'rule "phone team"' */
  constructor(source: string, why: keyof typeof stops, place = '') {
    const where = place === '' ? '' : ` of ${place}`;
    super(
      `The expression ${quoted(source)}${where} ${stops[why]}. ${endless}`,
      { kind: 'config' },
      { outcome: 'never-sent' },
    );
    this.source = source;
    this.#why = why;
  }

  /** The same error, with the place of the expression. */
  in(place: string): ExpressionSetAside {
    return new ExpressionSetAside(this.source, this.#why, place);
  }
}

const stops = {
  time: 'was stopped, as it ran for too long',
  memory: 'was stopped, as it used up the memory that expressions have',
  aside: 'is set aside, as it was stopped just before',
};

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
      ? foundBy(source, evaluatedAtOnce({ source, compiled, path: undefined }, recordOf(null)))
      : undefined,
    path: plainPath(compiled.ast),
    compiled,
    atOnce: (input) => {
      const result = evaluatedAtOnce(expression, recordOf(input));
      return result.ok ? result : undefined;
    },
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

/** The results of several expressions over one record. */
export interface Findings {
  of(expression: Expression): Found;
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
  /** Left out: always true. */
  when?: Expression | undefined;
  /** Left out: none. */
  then?: readonly Expression[] | undefined;
}

/** The results of conditions, in order, up to the first that is true or failed. */
interface Chosen {
  verdicts: Found[];
  /** The expressions of the choice whose condition is true, if there is one. */
  findings: Findings;
}

/**
 * Evaluates conditions up to the first that is true, and then the expressions of that choice.
 * @throws ExpressionSetAside
 */
export async function evaluateFirst(choices: readonly Choice[], input: unknown): Promise<Chosen> {
  const over = recordOf(input);
  const verdicts: Found[] = [];
  const found = new Map<Expression, Found>();
  for (const { when, then = [] } of choices) {
    const verdict: Found = when ? await find(when, over) : { ok: true, value: true };
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

/** How often an expression was stopped since the process started, by its source. */
const stopped = new Map<string, number>();
/** Those that need more than a turn go on side by side with everything else, and one after the other. */
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

/** @throws RangeError for thousands of lists in lists: V8 writes JSON by a function that calls itself */
function copied(input: unknown): { record: SandboxRecord } | { failure: Failure } {
  const json = JSON.stringify(input) ?? 'null';
  return json.length > limits.input ? { failure: { code: 'input' } } : { record: sandbox().record(json) };
}

type Evaluable = Pick<Expression, 'source' | 'compiled' | 'path'>;

/** Returns the result where JSONata is not needed, or the record is too long for it; else an evaluation that has begun. */
function begin(expression: Evaluable, over: Over): { result: Evaluated } | { evaluation: Evaluation } {
  const plain = expression.path && plainValueAt(over.input, expression.path);
  if (plain) return { result: { ok: true, ...plain } };
  const copy = over.inSandbox();
  return 'failure' in copy
    ? { result: { ok: false, ...copy } }
    : { evaluation: beginInSandbox(expression, copy.record) };
}

function beginInSandbox({ source, compiled }: Evaluable, record: SandboxRecord): Evaluation {
  const evaluation = sandbox().begin(compiled, record, stopped.has(source) ? limits.suspectTimeMs : limits.timeMs);
  return {
    turn: () => {
      const result = evaluation.turn();
      if (result && stopOf(result)) stopped.set(source, (stopped.get(source) ?? 0) + 1);
      return result;
    },
  };
}

function stopOf(result: Evaluated): 'time' | 'memory' | undefined {
  const code = result.ok ? undefined : result.failure.code;
  return code === 'time' || code === 'memory' ? code : undefined;
}

async function find(expression: Evaluable, over: Over): Promise<Found> {
  const { source } = expression;
  const begun = begin(expression, over);
  if ('result' in begun) return foundBy(source, begun.result);
  const { evaluation } = begun;
  const result = evaluation.turn() ?? (await inTurns(source, evaluation));
  const stop = stopOf(result);
  if (stop) throw new ExpressionSetAside(source, stop);
  return foundBy(source, result);
}

function evaluatedAtOnce(expression: Evaluable, over: Over): Evaluated {
  const begun = begin(expression, over);
  if ('result' in begun) return begun.result;
  for (;;) {
    const result = begun.evaluation.turn();
    if (result) return result;
  }
}

/** @throws ExpressionSetAside when the expression was stopped, over another record, while this evaluation waited for its turn */
async function inTurns(source: string, evaluation: Evaluation): Promise<Evaluated> {
  const before = stopped.get(source);
  await setImmediate();
  // On a busy machine the first turn may be over before it has begun.
  const soon = evaluation.turn();
  if (soon) return soon;
  return await oneByOne(async () => {
    if (stopped.get(source) !== before) throw new ExpressionSetAside(source, 'aside');
    for (;;) {
      await setImmediate();
      const result = evaluation.turn();
      if (result) return result;
    }
  });
}

function foundBy(source: string, result: Evaluated): Found {
  if (result.ok) return result;
  return {
    ok: false,
    why: `The expression ${quoted(source)} failed${place(result.failure)}: ${reason(result.failure)}`,
  };
}

/** Kinds of syntax that can't reach the record, the clock or a function. */
const constantTypes = new Set(['string', 'number', 'value', 'unary', 'binary', 'condition', 'block']);

function readsNothing(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return true;
  if ('type' in node && typeof node.type === 'string' && !constantTypes.has(node.type)) return false;
  return Object.values(node).every(readsNothing);
}

function failed(message: string, kind: 'config' | 'permanent'): CloseloopError {
  return new CloseloopError(message, { kind }, { outcome: 'never-sent' });
}

function quoted(source: string): string {
  const line = source.trim().replaceAll(/\s+/g, ' ');
  return `\`${line.length > 80 ? `${line.slice(0, 79)}…` : line}\``;
}

function place({ position }: Pick<Failure, 'position'>): string {
  return position === undefined ? '' : ` near character ${position}`;
}

const endless = 'Look for a function that calls itself without end, or lists that are made of lists';

/** Messages of our own: JSONata's quote the values. */
const reasons: Readonly<Record<string, string>> = {
  input: `the record is longer than ${limits.input} characters`,
  'too-much': 'it made too much text or too deep a nesting',
  time: 'it ran for too long',
  memory: 'it used up the memory that expressions have',
  function: 'its result is a function, not a value',
  D1001: 'a number is out of range (a division by 0?)',
  D1002: 'only a number can be negated',
  D1009: 'two entries of an object have the same key',
  D1011: `it nests too deep. ${endless}`,
  D2014: 'a range (..) is too long',
  D2015: 'a list is too long',
  D3030: 'a value is not a number',
  D3110: 'a text is not an ISO 8601 timestamp',
  D3136: 'the date picture lacks a part',
  D3137: 'its own $error() was called',
  D3138: '$single() found more than one',
  D3139: '$single() found none',
  D3141: 'its own $assert() failed',
  T1003: 'a key of an object is not a text',
  T1005: 'it calls something that is no function (a $ is missing before its name?)',
  T1006: 'it calls something that is no function',
  T2003: 'the start of a range (..) is not a whole number',
  T2004: 'the end of a range (..) is not a whole number',
  T2007: 'an order-by meets values of different kinds',
  T2008: 'an order-by meets values that are neither numbers nor texts',
};

function reason({ code, token }: Failure): string {
  const known = reasons[code];
  if (known !== undefined) return known;
  const subject = nameOf(token);
  if (code === 'T0410') return `an argument of ${subject ?? 'a function'} is of the wrong kind`;
  if (code === 'T0411') return `${subject ?? 'a function'} misses its context value`;
  if (code === 'T0412') return `${subject ?? 'a function'} got a list with entries of the wrong kind`;
  if (code === 'T2001' || code === 'T2002') return `${subject ?? 'an operator'} needs numbers on both sides`;
  if (code === 'T2009' || code === 'T2010') return `${subject ?? 'an operator'} compares values of different kinds`;
  return `JSONata's error ${code}`;
}

/** In some errors the token is text of the record: only operators and functions of JSONata are shown. */
function nameOf(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  if (operators.has(token)) return token;
  return functionNames.has(token) ? `$${token}()` : undefined;
}

/** Those that need numbers on both sides, or values of one kind. */
const operators = new Set('+ - * / % < <= > >='.split(' '));
export const functionNames: ReadonlySet<string> = new Set(
  (
    'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match ' +
    'contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power ' +
    'random boolean not map zip filter single reduce foldLeft sift keys lookup append exists spread merge reverse each ' +
    'error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent ' +
    'decodeUrl eval toMillis fromMillis clone'
  ).split(' '),
);
