import type { z } from 'zod';

/** A name as programs give it. Where an object is keyed by values, a key may be anybody's address or words. */
const name = /^[\p{L}_$][\w$-]{0,59}$/u;

/** Where in an answer something is, without the keys that may be personal data: `results.3.*.grade`. */
export function shownPath(path: readonly PropertyKey[]): string {
  return path.map((key) => (typeof key === 'number' || name.test(String(key)) ? String(key) : '*')).join('.');
}

/** What the other side calls a field. Some key their refusals by the value: a name is shown that was sent, or looks like one. */
export function shownField(field: string, sent: readonly string[] = []): string {
  const isName = field.split('.').every((part) => part === '' || /^\d{1,4}$/.test(part) || name.test(part));
  return isName || sent.includes(field) ? field : 'a field whose name is not shown here';
}

/** Places of a failed parse with what was expected, without the values found. */
export function mismatchesOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = shownPath(issue.path) || '(root)';
    return issue.code === 'invalid_type' ? `${path} (expected ${issue.expected})` : path;
  });
}

/** The first of them, alone. */
export function firstMismatch(error: z.ZodError): string {
  return shownPath(error.issues[0]?.path ?? []) || 'its top';
}
