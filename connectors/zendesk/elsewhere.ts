import type { WriteBack, WriteResult } from '../../core/connector/contract.ts';
import { adviceOf } from '../../core/errors.ts';

/*
 * Answers that are written elsewhere than on their record: also on the person who gave them, or in another place once the record takes no more
 * answers.
 */

/** A place for answers whose records take no more answers. */
export interface Elsewhere {
  /** The place's name in the settings: 'userFields'. */
  name: string;
  /** The place in words for the trace: "written on …". */
  where: string;
  /** Set where the place can also hold `no-answer`. */
  takesNoAnswer?: true;
  /** One result per answer, in order. */
  write(items: readonly WriteBack[]): Promise<readonly (WriteResult | undefined)[]>;
}

/**
 * Each place gets the answers that are `closed` and that the places before it did not take; the other results stay `closed`. After a failure
 * that is transient, or that a person can correct, the next attempt begins at the first place again.
 * @param written the results of writing `items` on their records
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
 * Combines the results of writing on the record and on the person. A person who no longer exists does not fail the answer on the record.
 * @param gone the remark in that case
 */
export function withPerson(record: WriteResult, person: WriteResult | undefined, gone: string): WriteResult {
  if (person === undefined) return record;
  if (!person.ok && person.why === 'error' && adviceOf(person.error).kind !== 'permanent') return person;
  if (!record.ok) return record;
  if (!person.ok && person.why !== 'error') return { ...record, remarks: [...(record.remarks ?? []), gone] };
  const said = person.ok ? person.findings : [person.error.message];
  return { ...record, findings: [...new Set([...record.findings, ...said])] };
}
