import type { CloseloopError } from '../../errors.ts';
import { sendApart } from '../batches.ts';
import type { VendorError } from '../classify.ts';
import { isFailure, type Rows } from './rows.ts';
import { refusalOf } from './write.ts';
import type { ChangedRow, Refusal } from './writing.ts';

/*
 * Writes on many records in one call, at a vendor that refuses more than it has to, or doesn't name what it refuses: a refused call is
 * repeated in halves, and each value of a refused record is tried alone.
 */

interface Together<Row, Value> {
  /** The vendor's name, at the begin of findings. */
  vendor: string;
  /** Makes one call. A record may have an error of its own. @throws for a failure of the whole call */
  put(changed: readonly ChangedRow<Row, Value>[]): Promise<Rows<Row>>;
  /** The most bytes of JSON that the changes of one call may take. */
  mostBytes: number;
  /** Whether the vendor refused a value, of the record or of some record in the call. */
  isRefusal(error: unknown): error is VendorError;
}

/** Makes the `putMany` of a desk. */
export function putTogether<Row, Value>({ vendor, put, mostBytes, isRefusal }: Together<Row, Value>) {
  type Changed = ChangedRow<Row, Value>;
  const nobody = { ids: [] };
  const fits = (changed: readonly Changed[]): boolean =>
    Buffer.byteLength(JSON.stringify(changed.map(({ id, change }) => [id, ...change.values]))) <= mostBytes;

  async function send(changed: readonly Changed[]) {
    if (changed.length > 1 && !fits(changed)) return nobody;
    const rows = await put(changed).catch((error: unknown) => {
      if (isRefusal(error)) return nobody;
      throw error;
    });
    return 'ids' in rows ? rows : new Map<string, Row | CloseloopError | undefined>(rows);
  }

  async function refusedOf({ id, row, change }: Changed): Promise<Refusal> {
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

  return async (changed: readonly Changed[]): Promise<Map<string, Row | Refusal | CloseloopError>> => {
    const sent = await sendApart(changed, send, () => undefined);
    const written = new Map<string, Row | Refusal | CloseloopError>();
    for (const one of changed.filter(({ id }) => sent.has(id))) {
      const row = sent.get(one.id);
      const isRefused = row === undefined || (isFailure(row) && isRefusal(row));
      written.set(one.id, isRefused ? await refusedOf(one) : row);
    }
    return written;
  };
}
