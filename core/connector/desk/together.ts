import type { CloseloopError } from '../../errors.ts';
import type { VendorError } from '../classify.ts';
import { isFailure } from './rows.ts';
import { type ChangedRow, type Refusal, refusalOf } from './write.ts';

/*
 * Writes on many records in one call, at a vendor that refuses more than it has to, or doesn't name what it refuses: a refused call is
 * repeated in halves, and each value of a refused record is tried alone.
 */

interface Together<Row, Value> {
  /** The vendor's name, at the begin of findings. */
  vendor: string;
  /** Makes one call. A record may have an error of its own. @throws for a failure of the whole call */
  put(changed: readonly ChangedRow<Row, Value>[]): Promise<ReadonlyMap<string, Row | CloseloopError>>;
  /** The most bytes of JSON that the changes of one call may take. */
  mostBytes: number;
  /** Whether the vendor refused a value, of the record or of some record in the call. */
  isRefusal(error: unknown): error is VendorError;
}

type Put<Row> = Map<string, Row | Refusal | CloseloopError>;

/** Makes the `putMany` of a desk. */
export function putTogether<Row, Value>({ vendor, put, mostBytes, isRefusal }: Together<Row, Value>) {
  const fits = (changed: readonly ChangedRow<Row, Value>[]): boolean =>
    Buffer.byteLength(JSON.stringify(changed.map(({ id, change }) => [id, ...change.values]))) <= mostBytes;

  async function refusedOf({ id, row, change }: ChangedRow<Row, Value>): Promise<Refusal> {
    const values = [...change.values];
    const refused: typeof values = [];
    for (const one of values.length > 1 ? values : []) {
      const alone = { id, row, change: { values: new Map([one]) } };
      const written = await put([alone]).then(
        (rows) => rows.get(id),
        (error: unknown) => error,
      );
      if (isRefusal(written)) refused.push(one);
      else if (written instanceof Error) throw written;
    }
    return refusalOf(vendor, refused.length > 0 ? refused : values);
  }

  return async function putMany(changed: readonly ChangedRow<Row, Value>[]): Promise<Put<Row>> {
    const [first, ...others] = changed;
    const written: Put<Row> = new Map();
    if (first === undefined) return written;
    const rows = others.length === 0 || fits(changed) ? await put(changed).catch(refusedCall) : undefined;
    if (rows === undefined || isRefusal(rows)) {
      if (others.length === 0) return written.set(first.id, await refusedOf(first));
      const half = Math.ceil(changed.length / 2);
      return new Map([...(await putMany(changed.slice(0, half))), ...(await putMany(changed.slice(half)))]);
    }
    for (const one of changed) {
      const row = rows.get(one.id);
      if (row !== undefined) written.set(one.id, isFailure(row) && isRefusal(row) ? await refusedOf(one) : row);
    }
    return written;
  };

  function refusedCall(error: unknown): VendorError {
    if (isRefusal(error)) return error;
    throw error;
  }
}
