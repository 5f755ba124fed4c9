import { CloseloopError } from '../errors.ts';
import { pathsOf } from './expression-paths.ts';
import { type Failure, sandbox, timeLimitMs } from './expression-sandbox.ts';

/** A JSONata expression, ready to run over records. */
export interface Expression {
  readonly source: string;
  /** What it reads of the record: names from the record's top. */
  readonly reads: readonly (readonly string[])[];
  /** For an expression that reads nothing of the record (`"North"`, `5 * 60`): its result, or why it has none. */
  readonly constant: { ok: true; value: unknown } | { ok: false; why: string } | undefined;
  /**
   * The result as plain JSON, a copy; undefined when the expression finds nothing. `input` must be JSON values.
   * Safe to call concurrently: no variable outlives its evaluation, and the input can't be changed. `$now()` is the
   * machine's clock.
   * @throws CloseloopError permanent when it fails for this record, and after one second or too many nested calls
   */
  evaluate(input: unknown): Promise<unknown>;
  /** The same, at once: for what can't wait (`Source.events`). */
  evaluateNow(input: unknown): unknown;
}

/**
 * Compiles a JSONata expression once.
 * @throws CloseloopError config with the place of the mistake
 */
export function compileExpression(source: string): Expression {
  const made = sandbox().compile(source);
  if (!made.ok) {
    const { message = 'not a JSONata expression' } = made.failure;
    throw failed(`The expression ${quoted(source)} has a mistake${place(made.failure)}: ${message}`, 'config');
  }
  const run = (input: unknown): unknown => {
    const result = sandbox().run(made.compiled, input);
    if (result.ok) return result.value;
    throw failed(
      `The expression ${quoted(source)} failed${place(result.failure)}: ${reason(result.failure)}`,
      'permanent',
    );
  };
  return {
    source,
    reads: pathsOf(made.ast),
    constant: readsNothing(made.ast) ? constantOf(run) : undefined,
    evaluate: async (input) => run(input),
    evaluateNow: run,
  };
}

function constantOf(run: (input: unknown) => unknown): Expression['constant'] {
  try {
    return { ok: true, value: run(null) };
  } catch (error) {
    if (error instanceof CloseloopError) return { ok: false, why: error.message };
    throw error;
  }
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

function place({ position }: Failure): string {
  return position === undefined ? '' : ` near character ${position}`;
}

const endless = 'Look for a function that calls itself without end, or a regular expression with nested repetitions';

/** In our own words, because JSONata's quote the values. */
const reasons: Readonly<Record<string, string>> = {
  time: `it ran for more than ${timeLimitMs / 1_000} s. ${endless}`,
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

/** A token may be a text of the record in some errors: only an operator or a function of JSONata's is shown. */
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
