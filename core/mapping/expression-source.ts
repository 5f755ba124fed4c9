import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { compileExpression } from './expression.ts';

/** A JSONata expression as a setting: a syntax error is a mistake of the configuration. Describe what it runs over. */
export const ExpressionSource = z
  .string()
  .trim()
  .min(1, 'is empty; leave it out, or give an expression')
  .superRefine((source, context) => {
    try {
      compileExpression(source);
    } catch (error) {
      const message = error instanceof CloseloopError ? error.message : 'is not an expression';
      context.addIssue({ code: 'custom', message });
    }
  });
