import { z } from 'zod';
import { CloseloopError } from '../errors.ts';
import { compileExpression } from './expression.ts';

/** The schema of a setting that holds a JSONata expression, with its syntax checked. Add a description of the input. */
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
  })
  .meta({ title: 'expression' });
