import type { z } from 'zod';

/** Places of a failed parse with what was expected, without the values found. */
export function mismatchesOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = issue.path.length === 0 ? '(root)' : issue.path.map(String).join('.');
    return issue.code === 'invalid_type' ? `${path} (expected ${issue.expected})` : path;
  });
}
