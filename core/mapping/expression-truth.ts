import type { Failure } from './expression-limits.ts';

/** Why an expression has no result. */
export class Fault extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** A record may pretend to be a function of JSONata's: it isn't looked into. */
export function isFunction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function';
  return (
    ('_jsonata_function' in value && value._jsonata_function === true) ||
    ('_jsonata_lambda' in value && value._jsonata_lambda === true)
  );
}

/**
 * What JSONata's `$boolean` makes of a value: an empty text, 0, null, an empty object and a list without anything true are false;
 * undefined where an expression finds nothing.
 */
export function truth(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 1 ? truth(value[0]) : value.some((one) => truth(one));
  if (typeof value === 'number') return isNumber(value) && value !== 0;
  if (typeof value === 'object' && value !== null) return !isFunction(value) && Object.keys(value).length > 0;
  return value === true || (typeof value === 'string' && value !== '');
}

/** @throws Fault for an infinite number, as JSONata does */
export function isNumber(value: unknown): value is number {
  if (typeof value !== 'number' || Number.isNaN(value)) return false;
  if (!Number.isFinite(value)) throw new Fault({ code: 'D1001' });
  return true;
}
