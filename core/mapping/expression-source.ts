import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { callAdvice, quotesAdvice } from './expression-advice.ts';
import { compileExpression } from './expression-compile.ts';
import { functionNames } from './expression-failure.ts';

/** The schema of a setting that holds a JSONata expression, with its syntax checked. Add a description of the input. */
export const ExpressionSource = z
  .string({ error: ({ input }) => (isPlainValue(input) ? inQuotes : undefined) })
  .trim()
  .min(1, { error: 'is empty; leave it out, or give an expression', abort: true })
  .superRefine((source, context) => {
    const message = flawOf(source);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ title: 'expression' });

const inQuotes = 'must be a text: a fixed number is written "5", and what is always true "true"';
const isPlainValue = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

function flawOf(source: string): string | undefined {
  try {
    compileExpression(source);
    return quotesAdvice(source) ?? callAdvice(source, functionNames);
  } catch (error) {
    return error instanceof CloseloopError ? error.message : 'is not an expression';
  }
}
