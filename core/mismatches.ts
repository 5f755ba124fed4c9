import type { z } from 'zod';

/** An identifier as programs write it. Other keys may be values, such as an address. */
const name = /^[\p{L}_$][\w$-]{0,59}$/u;

/** A path within a response, without keys that may be personal data: `results.3.*.grade`. */
export function shownPath(path: readonly PropertyKey[]): string {
  return path.map((key) => (typeof key === 'number' || name.test(String(key)) ? String(key) : '*')).join('.');
}

/** The other side's name of a field, shown only if closeloop sent it or it looks like a name: some systems use the value as an error's key. */
export function shownField(field: string, sent: readonly string[] = []): string {
  const isName = field.split('.').every((part) => part === '' || /^\d{1,4}$/.test(part) || name.test(part));
  return isName || sent.includes(field) ? field : 'a field whose name is not shown here';
}

/** The paths of a failed parse and what was expected at each, without the values. */
export function mismatchesOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = shownPath(issue.path) || '(root)';
    return issue.code === 'invalid_type' ? `${path} (expected ${issue.expected})` : path;
  });
}

export function firstMismatch(error: z.ZodError): string {
  return shownPath(error.issues[0]?.path ?? []) || 'its top';
}
