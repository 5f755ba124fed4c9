export const limits = {
  /** Milliseconds of CPU time for one expression over one record. */
  timeMs: 250,
  /** The same for an expression that was stopped before: enough for other records, and a record that makes it run long again costs little. */
  suspectTimeMs: 25,
  /** Milliseconds after which other work of the process gets its turn. */
  turnMs: 2,
  /** Levels of nested evaluations: enough for some 20 nested function calls that aren't tail calls. */
  depth: 200,
  /** Entries of any list that an evaluation makes. */
  list: 100_000,
  /** Values in any value that an evaluation makes, on all levels together; the same value counts at each place. */
  values: 1_000_000,
  /** Characters of any text that an evaluation makes, and of the result as JSON. */
  text: 1_000_000,
  /** Entries of all lists and objects that an evaluation makes, and eight characters of its texts as one entry: some 25 MB. */
  made: 2_000_000,
  /** Characters of the record as JSON. */
  input: 2_000_000,
} as const;

/** A failure, as JSONata's code and position. JSONata's messages are not used: they quote the record's values. */
export interface Failure {
  code: string;
  /** Characters from the start, about where the fault is. */
  position?: number | undefined;
  token?: string | undefined;
  /** Only for a fault in the text of the expression itself, which holds nothing of the record. */
  message?: string | undefined;
}

export type Evaluated = { ok: true; value: unknown } | { ok: false; failure: Failure };
