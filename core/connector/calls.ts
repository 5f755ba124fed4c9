import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * Which HTTP calls a piece of work makes: `send` notes each call with whoever asked for it around the work, however deep below the call is
 * made. A call of a batch serves many records, so a part of the work can say which records it is about.
 */

/** Why a call has no status: `never-sent` there was no connection; the others as in `SendFailure`. */
export type NoStatus = 'never-sent' | 'late' | 'stopped' | 'cut' | 'unbearable';

/** Who is called, and for what: no query, no body, nobody's id. */
export interface CalledAs {
  /** 'Zendesk acme', 'Feedback service' */
  to: string;
  /** 'GET /tickets/{id}' */
  operation: string;
}

/** One call, as far as people may see it. */
export interface HttpCall extends CalledAs {
  end: number | NoStatus;
  /** When it began, by `performance.now`. */
  begunAt: number;
  ms: number;
  /** How often it was sent. */
  tries: number;
}

export interface CallNotes {
  /** @param recordIds the records that the call is about; left out: all of the work */
  note(call: HttpCall, recordIds?: readonly string[] | undefined): void;
}

const current = new AsyncLocalStorage<CallNotes>();

/** Who notes the calls of the current work, if anybody does. */
export const callNotes = (): CallNotes | undefined => current.getStore();

/** Does the work, and has its calls noted. */
export const notingCalls = <T>(notes: CallNotes, work: () => T): T => current.run(notes, work);

/** Does a part of a batch's work that is about these records alone. */
export function aboutRecords<T>(recordIds: readonly string[], work: () => T): T {
  const outer = current.getStore();
  if (outer === undefined) return work();
  return current.run({ note: (call, inner) => outer.note(call, inner ?? recordIds) }, work);
}
