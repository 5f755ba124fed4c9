import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Records the HTTP calls of a piece of work: `send` reports each call to the recorder of the work around it, however deep below the call is
 * made. A call of a batch serves many records, so a part of the work can name its records.
 */

/** Why a call has no status: `never-sent`: there was no connection; the others as in `SendFailure`. */
export type NoStatus = 'never-sent' | 'late' | 'stopped' | 'cut' | 'unbearable';

/** The called system and the operation, without query, body or anybody's id. */
export interface CalledAs {
  /** 'Zendesk acme', 'Feedback service' */
  to: string;
  /** 'GET /tickets/{id}' */
  operation: string;
}

/** One call, without anything that people must not see. */
export interface HttpCall extends CalledAs {
  end: number | NoStatus;
  /** The begin of the call, by `performance.now`. */
  begunAt: number;
  ms: number;
  /** How often the request was sent. */
  tries: number;
}

export interface CallNotes {
  /** @param recordIds the records that the call is about; left out: all records of the work */
  note(call: HttpCall, recordIds?: readonly string[] | undefined): void;
}

const current = new AsyncLocalStorage<CallNotes>();

/** The recorder of the current work's calls, if there is one. */
export const callNotes = (): CallNotes | undefined => current.getStore();

/** Does the work, and records its calls. */
export const notingCalls = <T>(notes: CallNotes, work: () => T): T => current.run(notes, work);

/** Does the part of a batch's work that is about these records alone. */
export function aboutRecords<T>(recordIds: readonly string[], work: () => T): T {
  const outer = current.getStore();
  if (outer === undefined) return work();
  return current.run({ note: (call, inner) => outer.note(call, inner ?? recordIds) }, work);
}
