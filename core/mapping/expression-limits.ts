/** Limits of every evaluation, wherever it runs. */
export const limits = {
  /** Milliseconds of its thread's own work that one expression may take over one record. */
  timeMs: 1_000,
  /** Nested evaluations: some 20 nested function calls that aren't tail calls. */
  depth: 200,
  /** Entries of any list made on the way. */
  list: 100_000,
  /** Characters of any text made on the way, and of the result as JSON. */
  text: 1_000_000,
  /** Characters of the record as JSON. More than this is no ticket and no order. */
  input: 2_000_000,
} as const;

/** What went wrong, as JSONata's code and place; its own messages quote the record's values and stay behind. */
export interface Failure {
  code: string;
  /** Characters from the start, about where the fault is. */
  position?: number | undefined;
  /** The operator or function in question. */
  token?: string | undefined;
  /** Only for a fault in the text of the expression itself, which holds nothing of the record. */
  message?: string | undefined;
}

export type Evaluated = { ok: true; value: unknown } | { ok: false; failure: Failure };
