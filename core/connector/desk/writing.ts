import type { CloseloopError } from '../../errors.ts';
import type { AnswerPart, AnswerPlaces, Noted } from '../answer.ts';
import type { VendorError } from '../classify.ts';
import type { WriteBack } from '../contract.ts';
import type { RowReading } from './rows.ts';

/* What a desk declares so that answers can be written on its records: write.ts does the rest. */

/** The wanted state of a record: values by place, null to clear; `tags`: all tags of the record. At least one of the two is not empty. */
export interface Change<Value> {
  values: ReadonlyMap<string, Value | null>;
  tags?: readonly string[];
}

/** A record and its wanted state. */
export interface ChangedRow<Row, Value> {
  id: string;
  row: Row;
  change: Change<Value>;
  /** The note that is sent in the same call as the change (`DeskNotes.joins`). */
  note?: Noted;
}

/** The vendor refused a whole change because of some of its places: closeloop sends the rest again without these places. */
export class Refusal {
  /** The places whose values this record can't take. `all`: the record takes no part of the change, tags included. */
  readonly unfit: readonly string[] | 'all';
  /** The steps for a person, in words for the trace. */
  readonly findings: readonly string[];

  constructor(unfit: readonly string[] | 'all', findings: readonly string[]) {
    this.unfit = unfit;
    this.findings = findings;
  }
}

/** The result of a write: the record as the vendor stores it; undefined: closeloop reads the record again. */
export type Written<Row> = Row | Refusal | undefined;

/** closeloop's notes on a record. No vendor makes notes idempotent, so closeloop looks for a note before it adds the note again. */
export interface DeskNotes<Row> {
  /** The notes that may be closeloop's, with their texts as the vendor gives them: HTML or plain. */
  list(row: Row, id: string): Promise<readonly { id: string; text: string }[]>;
  /** Adds a note that customers can't see (`noteHtml`, `noteText`). */
  add(row: Row, about: Noted, id: string): Promise<unknown>;
  /** Deletes a note. Left out: the vendor deletes no notes, and an erasure says so. */
  remove?(row: Row, noteId: string, id: string): Promise<unknown>;
  /**
   * Set for a vendor that takes the note of an answer in the same call as the values (`ChangedRow.note`, in place of `add`). Returns whether
   * an earlier attempt may have written the note, so that closeloop has to look for it.
   */
  joins?(row: Row, item: WriteBack, wanted: Change<unknown>, lacking: Change<unknown>): boolean;
}

/** The vendor and the record in messages: 'Freshdesk', 'ticket'. */
export interface DeskWords {
  vendor: string;
  record: string;
}

export interface DeskWriting<Row, Value> {
  /** `writeBack` of the source's settings. */
  settings: AnswerPlaces<string> & { note?: boolean; tags?: boolean; noAnswer?: boolean; commentLength?: number };
  /** Reads the records to write on. Left out: as for rules. */
  rows?: RowReading<Row>;
  /**
   * Reads the records from which an erasure removes answers, including records that take no more answers: in the trash, for example. Default:
   * `rows`.
   */
  forgetRows?: RowReading<Row>;
  /**
   * A record without any answer, for vendors that read one record per call: closeloop writes an answer without reading the record if it needs
   * nothing of it (no time to compare, no tags, no note).
   */
  blank?(id: string): Row;
  /**
   * A part of an answer in the vendor's form; null clears the place; a refusal if the place can't hold the value. `inPlainForm` fits most
   * vendors.
   */
  written(part: AnswerPart, settings: DeskWriting<Row, Value>['settings']): Value | null | Refusal;
  /** The record's value at a place. */
  at(row: Row, place: string): unknown;
  /**
   * Values at further places, which depend on the record: a line in the record's only note, for example. @param item undefined: an erasure
   * removes the answer
   */
  further?(row: Row, item: WriteBack | undefined): readonly (readonly [place: string, value: Value | null])[];
  /** Whether the current value counts as the wanted value. Default: both are empty, or the same, or texts that differ only in white space. */
  holds?(current: unknown, value: Value | null, place: string): boolean;
  /** Epoch ms of the record's value at `answeredAt`. Default: `Date.parse`. */
  instantOf?(current: unknown): number | undefined;
  /**
   * Set where a record keeps the answer to an earlier closing if the next closing gets no answer: then `no-answer` is written beside the
   * earlier answer. Left out: then `no-answer` is not written.
   */
  keepsEarlier?: true;
  /** The record's tags, at vendors where a write replaces all tags. */
  tags?(row: Row): readonly string[];
  /** Set where the vendor's own rules remove tags again, and no person has to act: the remark about these tags. */
  tagsGone?(tags: readonly string[]): string;
  /** Why the record takes no more changes ("it is archived"). */
  closed?(row: Row | VendorError): string | undefined;
  /** Writes on one record. */
  put?(changed: ChangedRow<Row, Value>): Promise<Written<Row>>;
  /** Writes on up to `size` records, each with a result of its own. Used in place of `put`. */
  putMany?(changed: readonly ChangedRow<Row, Value>[]): Promise<ReadonlyMap<string, Written<Row> | CloseloopError>>;
  notes?: DeskNotes<Row>;
  /** What an erasure can't remove from a record whose answer it removed: "the history of ticket 4". */
  leaves?(id: string): string;
  /** The remarks of an erasure about records that the vendor does not show. Left out: these records are deleted, and hold nothing. */
  unseen?(ids: readonly string[]): Promise<readonly string[]>;
  /**
   * What a person has to do if the vendor did not store a value (a dropdown lacks the value, for example). A text is a customer's words: never
   * repeat it.
   */
  notKept?(place: string, value: Value | null): string;
}
