import { createRequire } from 'node:module';
import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { type Evaluated, type Failure, limits } from './expression-limits.ts';
import { pathsOf } from './expression-paths.ts';
import { plainEvaluation } from './expression-plain.ts';
import type { Reported } from './expression-sandbox.ts';
import { ExpressionStopped, runInThread } from './expression-thread.ts';
import { truth } from './expression-truth.ts';
import type { Step, TaskReport } from './expression-worker.ts';

/** A JSONata expression, ready to run over records. */
export interface Expression {
  readonly source: string;
  /** The paths that the expression reads, from the record's top. */
  readonly reads: readonly (readonly string[])[];
  /** The result of an expression that reads nothing of the record (`"North"`, `5 * 60`), or why it has none. */
  readonly constant: Found | undefined;
  /** Evaluates on the main thread; undefined for an expression that needs the thread and its limits. */
  readonly plain: ((input: unknown) => Evaluated) | undefined;
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
  readonly #stopped: Pick<ExpressionStopped, 'source' | 'why'>;

  /** @param place where it stands: 'rule "phone team"' */
  constructor(stopped: Pick<ExpressionStopped, 'source' | 'why'>, place = '') {
    const { source, why } = stopped;
    const what = {
      time: `was stopped, as it ran for more than ${limits.timeMs / 1_000} s`,
      memory: 'was stopped, as it used up the memory that expressions have',
      aside: 'is set aside, as it or another one beside it was stopped just before',
    };
    const where = place === '' ? '' : ` of ${place}`;
    super(
      `The expression ${quoted(source)}${where} ${what[why]}. ${endless}`,
      { kind: 'config' },
      { outcome: 'never-sent' },
    );
    this.source = source;
    this.#stopped = stopped;
  }

  /** The same error, with the place of the expression. */
  in(place: string): ExpressionSetAside {
    return new ExpressionSetAside(this.#stopped, place);
  }
}

/**
 * Compiles a JSONata expression once.
 * @throws CloseloopError config with the place of the mistake
 */
export function compileExpression(source: string): Expression {
  const ast = parsed(source);
  const plain = plainEvaluation(ast);
  const expression: Expression = {
    source,
    reads: pathsOf(ast),
    constant: plain && readsNothing(ast) ? foundBy(source, plain(null)) : undefined,
    plain,
    evaluate: async (input) => {
      const found = (await evaluateAll([expression], input)).of(expression);
      if (found.ok) return found.value;
      throw failed(found.why, 'permanent');
    },
  };
  return expression;
}

const require = createRequire(import.meta.url);

/** JSONata is loaded with the first expression: many commands need none. */
const jsonata = (): typeof import('jsonata') => require('jsonata');

function parsed(source: string): unknown {
  try {
    return jsonata()(source).ast();
  } catch (error) {
    // JSONata overflows the stack over deeply nested brackets, without a message of its own.
    const mistake = error instanceof RangeError ? {} : Mistake.catch({}).parse(error);
    const { position, message = 'not a JSONata expression' } = mistake;
    throw failed(`The expression ${quoted(source)} has a mistake${place({ position })}: ${message}`, 'config');
  }
}

const Mistake = z.object({ position: z.number(), message: z.string() }).partial();

/** The results of several expressions over one record. */
export interface Findings {
  of(expression: Expression): Found;
}

/**
 * Evaluates expressions over one record; all that need the thread in one message. Results are copies, in JSON values; undefined
 * where an expression finds nothing. `input` must be JSON values, and expressions can't change it. No variable outlives its
 * evaluation. `$now()` is the machine's clock.
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
  const isPlain = !Array.isArray(input) && !isDisguised(input);
  const here = (one: Expression): Evaluated | undefined => (isPlain ? one.plain?.(input) : undefined);
  const tried: { choice: Choice; verdict: Evaluated | undefined }[] = [];
  for (const choice of choices) {
    const verdict = choice.when === undefined ? { ok: true as const, value: true } : here(choice.when);
    tried.push({ choice, verdict });
    if (verdict !== undefined && (!verdict.ok || isTrue(verdict))) break;
  }
  const open = tried.filter(({ verdict }) => verdict === undefined || isTrue(verdict));
  const steps = open.map(({ choice, verdict }) => stepOf(choice, verdict === undefined, isPlain));
  const reports = await guarded(steps, input);

  const verdicts: Found[] = [];
  const found = new Map<Expression, Found>();
  for (const one of tried) {
    const number = open.indexOf(one);
    const { when, then = [] } = reports?.[number] ?? {};
    const source = one.choice.when?.source ?? '';
    const verdict = one.verdict ? foundBy(source, one.verdict) : when && foundBy(source, evaluated(when));
    if (verdict === undefined) break;
    verdicts.push(verdict);
    if (verdict.ok && !isTrue(verdict)) continue;
    for (const [i, expression] of (one.choice.then ?? []).filter((each) => isGuarded(each, isPlain)).entries()) {
      const report = then[i];
      if (report) found.set(expression, foundBy(expression.source, evaluated(report)));
    }
    break;
  }
  return { verdicts, findings: { of: (one) => found.get(one) ?? foundBy(one.source, here(one) ?? notAsked) } };
}

/** Whether a condition holds, by JSONata's own truth (`$boolean`). */
export function isTrue(verdict: { ok: true; value: unknown } | { ok: false }): boolean {
  return verdict.ok && truth(verdict.value) === true;
}

const notAsked: Evaluated = { ok: false, failure: { code: 'unknown' } };

/** Whether the record has properties that JSONata gives a meaning of its own: only JSONata can evaluate over it. */
function isDisguised(input: unknown): boolean {
  return typeof input === 'object' && input !== null && ('outerWrapper' in input || 'tupleStream' in input);
}

function isGuarded({ plain }: Expression, isPlain: boolean): boolean {
  return plain === undefined || !isPlain;
}

function stepOf({ when, then = [] }: Choice, isOpen: boolean, isPlain: boolean): Step {
  return {
    ...(isOpen && when && { when: when.source }),
    then: then.filter((one) => isGuarded(one, isPlain)).map(({ source }) => source),
  };
}

/** Undefined: nothing needs the thread. */
async function guarded(steps: readonly Step[], input: unknown): Promise<TaskReport | undefined> {
  if (steps.every(({ when, then }) => when === undefined && then.length === 0)) return undefined;
  const json = JSON.stringify(input) ?? 'null';
  if (json.length > limits.input) return steps.map(tooLarge);
  try {
    return await runInThread({ input: json, steps });
  } catch (error) {
    throw error instanceof ExpressionStopped ? new ExpressionSetAside(error) : error;
  }
}

function tooLarge({ when, then }: Step): TaskReport[number] {
  const report = { failure: { code: 'input' } };
  return { ...(when !== undefined && { when: report }), then: then.map(() => report) };
}

function evaluated(report: Reported): Evaluated {
  if ('failure' in report) return { ok: false, failure: report.failure };
  return { ok: true, value: report.json === undefined ? undefined : JSON.parse(report.json) };
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

const endless = 'Look for a function that calls itself without end, or a regular expression with nested repetitions';

/** Messages of our own: JSONata's quote the values. */
const reasons: Readonly<Record<string, string>> = {
  input: `the record is longer than ${limits.input} characters`,
  'too-much': 'it made too much text or too deep a nesting',
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
const functionNames = new Set(
  (
    'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match ' +
    'contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power ' +
    'random boolean not map zip filter single reduce foldLeft sift keys lookup append exists spread merge reverse each ' +
    'error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent ' +
    'decodeUrl eval toMillis fromMillis clone'
  ).split(' '),
);
