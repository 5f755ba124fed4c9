import { ZodError } from 'zod';
import { CloseloopError } from '../../errors.ts';
import { firstMismatch } from '../../mismatches.ts';
import { chunks } from '../batches.ts';
import { aboutRecords } from '../calls.ts';
import { VendorError } from '../classify.ts';

/** Records by id, as the vendor has them. A record may have an error of its own. Ids that the vendor doesn't have are absent. */
export type Rows<Row> = ReadonlyMap<string, Row | CloseloopError>;

/** How a desk reads records: lists first, then each record that the lists lack. At least one of `many` and `one` is given. */
export interface RowReading<Row> {
  /** Whether a text can be a record's id. Any other text counts as not found, and never gets into a path. */
  isId(id: string): boolean;
  /** How many ids one call of `many` takes. Default 100. */
  size?: number;
  /**
   * Reads the records in as few calls as possible.
   * @param since an instant before which none of the records closed, if the worker knows it: a vendor without reading by ids can list what
   * changed since
   */
  many?(ids: readonly string[], since?: Date): Promise<Rows<Row>>;
  /** Reads one record. Called for each id that `many` does not return. Left out: such ids count as not found. */
  one?(id: string): Promise<Row | undefined>;
}

/** @throws CloseloopError for a failure of the whole call: a quota, a token, the network */
export async function rowsOf<Row>(
  { isId, size = 100, many, one }: RowReading<Row>,
  recordIds: readonly string[],
  since?: Date,
): Promise<Rows<Row>> {
  const rows = new Map<string, Row | CloseloopError>();
  const ids = [...new Set(recordIds)].filter(isId);
  if (many !== undefined) {
    for (const some of chunks(ids, size)) {
      const found = await aboutRecords(some, () => many(some, since));
      for (const id of some) {
        const row = found.get(id);
        if (row !== undefined) rows.set(id, row);
      }
    }
  }
  if (one === undefined) return rows;
  for (const id of ids.filter((each) => !rows.has(each))) {
    const row = await aboutRecords([id], () => one(id)).catch(ownError);
    if (row !== undefined) rows.set(id, row);
  }
  return rows;
}

/** The error of one record, which must not fail the others; undefined: the record does not exist. @throws any other error */
export function ownError(error: unknown): CloseloopError | undefined {
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  return error instanceof VendorError && error.isGone ? undefined : error;
}

export const isFailure = (row: unknown): row is CloseloopError => row instanceof CloseloopError;

/**
 * The error of one record that its schema refuses: it must not fail the other records of the response.
 * @param record the record in messages: 'Shopify order 17'. @throws any error that isn't of one record
 */
export function misshapen(record: string, error: unknown, remedy = 'report it as a bug of this connector') {
  if (error instanceof CloseloopError) return error;
  if (!(error instanceof ZodError)) throw error;
  const message = `${record}: it has another shape than documented, at ${firstMismatch(error)}; ${remedy}.`;
  return new CloseloopError(message, { kind: 'permanent', doubtful: true }, { cause: error });
}
