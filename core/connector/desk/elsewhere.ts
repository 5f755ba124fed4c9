import { adviceOf } from '../../errors.ts';
import type { WriteBack, WriteResult } from '../contract.ts';

/* Answers that are written beside their record: on the person who gave them, or elsewhere where the record takes none any more. */

/** A place for answers whose record takes none any more. */
export interface Elsewhere {
  /** As the settings call it: 'userFields'. */
  name: string;
  /** For the trace: "written on …". */
  where: string;
  /** Set where the place takes also that no answer came. */
  takesNoAnswer?: true;
  /** One result per answer, in order. */
  write(items: readonly WriteBack[]): Promise<readonly (WriteResult | undefined)[]>;
}

/**
 * Each place gets the answers that are `closed` and that the places before it did not take; the rest stays `closed`. After a failure that
 * is transient, or that a person can correct, the next attempt begins at the first place again.
 * @param written the results of `items` on their records
 */
export async function placeElsewhere(
  places: readonly Elsewhere[],
  items: readonly WriteBack[],
  written: readonly WriteResult[],
): Promise<WriteResult[]> {
  const results = [...written];
  for (const { name, where, takesNoAnswer, write } of places) {
    const open = results.flatMap((result, n) => {
      const item = items[n];
      const isTaken = item !== undefined && (takesNoAnswer === true || item.status === 'answered');
      return isTaken && !result.ok && result.why === 'closed' ? [{ n, item, message: result.message }] : [];
    });
    const placed = open.length === 0 ? [] : await write(open.map(({ item }) => item));
    for (const [index, { n, message }] of open.entries()) {
      const result = placed[index];
      if (result?.ok) results[n] = { where, ...result };
      else if (result?.why === 'error' && adviceOf(result.error).kind !== 'permanent') results[n] = result;
      else if (result) results[n] = { ok: false, why: 'closed', message: `${message} ${name}: ${messageIn(result)}` };
    }
  }
  return results;
}

const messageIn = (result: Exclude<WriteResult, { ok: true }>): string =>
  result.why === 'error' ? result.error.message : result.message;

/**
 * The result of a record and of the person who gets the answer as well. A person who is gone does not fail a record that has its answer.
 * @param gone the remark then
 */
export function withPerson(record: WriteResult, person: WriteResult | undefined, gone: string): WriteResult {
  if (person === undefined) return record;
  if (!person.ok && person.why === 'error' && adviceOf(person.error).kind !== 'permanent') return person;
  if (!record.ok) return record;
  if (!person.ok && person.why !== 'error') return { ...record, remarks: [...(record.remarks ?? []), gone] };
  const said = person.ok ? person.findings : [person.error.message];
  return { ...record, findings: [...new Set([...record.findings, ...said])] };
}
