import { CloseloopError } from '../errors.ts';
import { type Failure, limits } from './expression-limits.ts';

/**
 * An expression was stopped because it took too much time or memory, now or just before, because of the expression or the record.
 * Nothing is decided: jobs that need the expression wait for a person, and other jobs go on.
 */
export class ExpressionSetAside extends CloseloopError {
  override readonly name = 'ExpressionSetAside';
  readonly source: string;
  readonly #why: keyof typeof stops;

  /** @param place the place of the expression: 'rule "phone team"' */
  constructor(source: string, why: keyof typeof stops, place = '') {
    const where = place === '' ? '' : ` of ${place}`;
    const message = `The expression ${quoted(source)}${where} ${stops[why]}. ${endless}`;
    super(message, { kind: 'config' }, { outcome: 'never-sent' });
    this.source = source;
    this.#why = why;
  }

  /** This error with the place of the expression. */
  in(place: string): ExpressionSetAside {
    return new ExpressionSetAside(this.source, this.#why, place);
  }
}

const stops = {
  time: 'was stopped, as it ran for too long',
  memory: 'was stopped, as it used up the memory that expressions have',
  aside: 'is set aside, as it was stopped just before',
};

export function quoted(source: string): string {
  const line = source.trim().replaceAll(/\s+/g, ' ');
  return `\`${line.length > 80 ? `${line.slice(0, 79)}…` : line}\``;
}

export function place({ position }: Pick<Failure, 'position'>): string {
  return position === undefined ? '' : ` near character ${position}`;
}

const endless = 'Look for a function that calls itself without end, or lists that are made of lists';

/** closeloop's own messages, as the messages of JSONata quote values. */
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

export function reason({ code, token }: Failure): string {
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

/** The name of an operator or function of JSONata, for messages. In some errors the token is a text of the record, which must not be shown. */
function nameOf(token: string | undefined): string | undefined {
  if (token === undefined) return undefined;
  if (operators.has(token)) return token;
  return functionNames.has(token) ? `$${token}()` : undefined;
}

/** Operators that need numbers on both sides, or values of one kind. */
const operators = new Set('+ - * / % < <= > >='.split(' '));

export const functionNames: ReadonlySet<string> = new Set(
  (
    'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match ' +
    'contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power ' +
    'random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each ' +
    'error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent ' +
    'decodeUrl eval now millis toMillis fromMillis clone'
  ).split(' '),
);
