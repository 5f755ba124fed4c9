import { InvalidArgumentError } from 'commander';

export function repeated(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

export function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

export function positiveNumber(text: string): number {
  const n = wholeNumber(text);
  if (n === 0) throw new InvalidArgumentError('It must be more than 0.');
  return n;
}

export function grade(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, like 4 or 4.5.');
  return Number(text);
}

/** On one line, as traces and tables have it. */
export function words(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  if (line === '') throw new InvalidArgumentError('It must not be empty.');
  return line;
}
