import type { Operations } from './operations.ts';
import { type CallForm, fill, form, type Placed } from './request-form.ts';

/* The calls of the operations on one feedback request. */

export const getForm = (table: Operations, id: string): CallForm => commandForm(table.get, id);

export const gradeForm = (table: Operations, id: string, grade: number): CallForm =>
  commandForm(table.grade, id, [table.grade.body.grade, grade]);

export const commentForm = (table: Operations, id: string, text: string): CallForm =>
  commandForm(table.comment, id, [table.comment.body.comment, text]);

export const cancelForm = (table: Operations, id: string): CallForm => commandForm(table.cancel, id);

function commandForm(
  { method, path, body, constants }: Pick<Operations['get'], 'method' | 'path' | 'body' | 'constants'>,
  id: string,
  ...given: Placed[]
): CallForm {
  return form(method, fill(path, { id }), constants, [[body.id, id], ...given]);
}
