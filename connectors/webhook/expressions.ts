import { type Expression, evaluateAll } from '../../core/mapping/expression.ts';
import { compileExpression } from '../../core/mapping/expression-compile.ts';
import type { WebhookSettings } from './settings.ts';

/** An expression gave a value of the wrong kind. `message` names the expression, never the value. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** The value of one expression of the settings; undefined without an expression or a value. @throws Unreadable */
export type Find = (at: string) => unknown;

/** All expressions of `event`, compiled once, by their paths in it: `graded.when`. */
export function compileAll(event: WebhookSettings['event']) {
  const all = new Map<string, Expression>();
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'string') all.set(name, compileExpression(value));
    else {
      for (const [part, source] of Object.entries(value ?? {})) {
        if (source !== undefined) all.set(`${name}.${part}`, compileExpression(source));
      }
    }
  }
  /** Evaluates all expressions over one body. @throws ExpressionSetAside */
  const over = async (body: unknown): Promise<Find> => {
    const findings = await evaluateAll([...all.values()], body);
    return (at) => {
      const expression = all.get(at);
      const found = expression && findings.of(expression);
      if (found?.ok === false) throw new Unreadable(`event.${at}: ${found.why}`);
      return found?.value ?? undefined;
    };
  };
  return { over, all };
}

/** A string or an integer; '' counts as no value. @throws Unreadable */
export function textFrom(find: Find, at: string): string | undefined {
  const value = find(at);
  if (value === undefined) return undefined;
  // The parser has turned larger integers into texts; a larger number here is the rounded result of an expression.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new Unreadable(`event.${at} finds a number that is not whole, or too large to be exact: send it as a text`);
  }
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new Unreadable(`event.${at} finds neither a text nor a number`);
  }
  const text = String(value).trim();
  return text === '' ? undefined : text;
}

const instant = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/** Whether the text is a real instant. `Date` alone would read 31 February as 3 March. */
function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !instant.test(value)) return false;
  const day = new Date(`${value.slice(0, 10)}T00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value.slice(0, 10));
}

/** @throws Unreadable for an ambiguous or invalid instant */
export function instantFrom(find: Find, at: string): Date | undefined {
  const value = find(at);
  if (value === undefined || value === '') return undefined;
  const date = new Date(isInstant(value) ? value.replace(' ', 'T') : Number.NaN);
  if (!Number.isNaN(date.getTime())) return date;
  const remedy = typeof value === 'number' ? ': for milliseconds since 1970 write $fromMillis(…)' : '';
  throw new Unreadable(`event.${at} finds no instant like 2026-11-20T10:00:00Z${remedy}`);
}
