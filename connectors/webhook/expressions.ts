import { compileExpression, type Expression, evaluateAll } from '../../core/mapping/expression.ts';
import type { WebhookSettings } from './settings.ts';

/** What an expression found where something else is needed. `message` says where, never what. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** What one expression of the settings gave; undefined where there is none, or it found nothing. @throws Unreadable */
export type Find = (at: string) => unknown;

/** All of `event`, compiled once, by their places in it: `graded.when`. */
export function compileAll(event: WebhookSettings['event']): {
  /** Evaluates them all over one body, together. @throws ExpressionSetAside */
  over: (body: unknown) => Promise<Find>;
  all: ReadonlyMap<string, Expression>;
} {
  const all = new Map<string, Expression>();
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'string') all.set(name, compileExpression(value));
    else {
      for (const [part, source] of Object.entries(value ?? {})) {
        if (source !== undefined) all.set(`${name}.${part}`, compileExpression(source));
      }
    }
  }
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

/** A text or a whole number; '' is nothing. @throws Unreadable */
export function textFrom(find: Find, at: string): string | undefined {
  const value = find(at);
  if (value === undefined) return undefined;
  // JSON's reader has rounded a larger number already.
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

/** `Date` would make 3 March of 31 February. */
function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !instant.test(value)) return false;
  const day = new Date(`${value.slice(0, 10)}T00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value.slice(0, 10));
}

/** @throws Unreadable for what names no instant without a guess */
export function instantFrom(find: Find, at: string): Date | undefined {
  const value = find(at);
  if (value === undefined || value === '') return undefined;
  const date = new Date(isInstant(value) ? value.replace(' ', 'T') : Number.NaN);
  if (!Number.isNaN(date.getTime())) return date;
  const remedy = typeof value === 'number' ? ': for milliseconds since 1970 write $fromMillis(…)' : '';
  throw new Unreadable(`event.${at} finds no instant like 2026-11-20T10:00:00Z${remedy}`);
}
