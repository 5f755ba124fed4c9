import type { CloseloopError } from '../../errors.ts';
import {
  type AnswerPart,
  answeredTag,
  cut,
  isAnswerTag,
  isOlderThan,
  isOutdated,
  isSameText,
  markerOf,
  notOverNewer,
  placed,
  placesOf,
  surveyText,
  tagsOf,
} from '../answer.ts';
import { chunks, tryEach, writeInBatches } from '../batches.ts';
import { aboutRecords } from '../calls.ts';
import { VendorError } from '../classify.ts';
import type { Source, WriteBack, WriteResult } from '../contract.ts';
import { inSeconds } from '../seconds.ts';
import { isFailure, type RowReading, rowsOf } from './rows.ts';
import {
  type Change,
  type ChangedRow,
  type DeskNotes,
  type DeskWords,
  type DeskWriting,
  Refusal,
  type Written,
} from './writing.ts';

/*
 * How closeloop writes an answer on a record at every vendor, and how it removes the answer: read the record, stop if it has a newer answer,
 * compare, send the differences, read again, report what the vendor did not store, and add a note once. A desk declares the calls.
 */

/** A change in progress on its record. `change`: the part of `wanted` that the record lacks. */
interface Job<Row, Value> extends ChangedRow<Row, Value> {
  wanted: Change<Value>;
  findings: string[];
  remarks: string[];
  /** The places that the vendor has refused, for which a finding exists already. */
  refused: Set<string>;
  /** The record as the vendor stores it after the write. */
  after: Row | undefined;
  /** Why the change could not be written. `gone`: the record no longer exists. */
  failure: CloseloopError | 'gone' | undefined;
  /** Where the vendor has refused a part of the change, the rest is not sent either. */
  isWhole?: boolean;
}

/** An answer in progress on its record. */
interface AnswerJob<Row, Value> extends Job<Row, Value> {
  item: WriteBack;
}

const isEmpty = ({ values, tags }: Change<unknown>): boolean => values.size === 0 && tags === undefined;

/** Whether a record holds a value: the default of `DeskWriting.holds`. */
export function holdsValue(current: unknown, value: unknown): boolean {
  if (value === null) return current === null || current === undefined || current === '';
  if (typeof value === 'string') return isSameText(String(current ?? ''), value);
  return current === value;
}

/** Grades are numbers, times are ISO 8601 in whole seconds, everything else is text of at most `commentLength`; an empty part is null. */
export function inPlainForm(
  { part, value }: AnswerPart,
  { commentLength }: { commentLength?: number },
): string | number | null {
  if (value === null || value === '') return null;
  if (value instanceof Date) return inSeconds(value);
  return part === 'grade' ? Number(value) : cut(surveyText(value), commentLength ?? Number.POSITIVE_INFINITY);
}

/** The write-back of a desk, and its `forget`. */
export function deskWriter<Row, Value>(
  words: DeskWords,
  writing: DeskWriting<Row, Value> & { rows: RowReading<Row> },
): Required<Pick<Source, 'writeBack' | 'forget'>> {
  const writer = new DeskWriter(words, writing);
  return {
    writeBack: (items) => writeInBatches(items, writing.rows.size ?? 100, (batch) => writer.write(batch)),
    forget: (recordIds) => writer.forget(recordIds),
  };
}

export class DeskWriter<Row, Value> {
  readonly #words: DeskWords;
  readonly #writing: DeskWriting<Row, Value> & { rows: RowReading<Row> };

  constructor(words: DeskWords, writing: DeskWriting<Row, Value> & { rows: RowReading<Row> }) {
    this.#words = words;
    this.#writing = writing;
  }

  /** @param items at most one for each record */
  async write(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const unread = items.filter((item) => this.#needsNoRow(item));
    const ids = items.filter((item) => !unread.includes(item)).map(({ recordId }) => recordId);
    const rows = await rowsOf(this.#writing.rows, ids);
    const planned = items.map((item) => {
      const blank = unread.includes(item) ? this.#writing.blank?.(item.recordId) : undefined;
      return this.#plan(item, blank ?? rows.get(item.recordId), blank !== undefined);
    });
    const jobs = planned.flatMap((one) => ('item' in one ? [one] : []));
    const { notes, rows: reading } = this.#writing;
    const isJoined = notes?.joins !== undefined;
    await this.#each(isJoined ? jobs : [], async (job) => {
      if (await this.#lacksNote(job)) job.note = job.item;
    });
    for (const job of await this.#send(jobs, reading)) this.#tellLost(job);
    // A note with a call of its own is added last, because it can't be repeated.
    await this.#each(isJoined ? [] : jobs, async (job) => {
      if (await this.#lacksNote(job)) await notes?.add(job.row, job.item, job.id);
    });
    return planned.map((one) => ('item' in one ? this.#resultOf(one) : one));
  }

  /** Whether the whole answer can be sent without knowing what the record holds. */
  #needsNoRow({ recordId, status }: WriteBack): boolean {
    const { settings, rows, blank } = this.#writing;
    const looks = settings.answeredAt !== undefined || settings.tags === true || settings.note === true;
    return blank !== undefined && status === 'answered' && !looks && rows.isId(recordId);
  }

  /**
   * Sets values on a record, in the way that an answer is written. Returns why the record lacks any of them after that, in words.
   * @throws CloseloopError if nothing was set
   */
  async set(id: string, row: Row, values: ReadonlyMap<string, Value | null>): Promise<readonly string[]> {
    const job = { ...jobOf(id, row, { values }, this.#lackingOn(row, { values })), isWhole: true };
    for (const sent of await this.#send([job], this.#writing.rows)) this.#tellLost(sent);
    if (isGone(job.failure)) return [`the ${this.#words.record} ${id} is gone`];
    if (job.failure !== undefined) throw job.failure;
    return job.findings;
  }

  #plan(item: WriteBack, row: Row | CloseloopError | undefined, isBlank: boolean): AnswerJob<Row, Value> | WriteResult {
    const { settings, written, closed, further } = this.#writing;
    if (isFailure(row)) return { ok: false, why: 'error', error: row };
    if (row === undefined) return this.#notFound(item);
    const why = closed?.(row);
    if (why !== undefined) return this.#noMore(item, why);
    if (this.#isOutdated(item, row)) return notOverNewer(this.#words.record);
    const values = new Map<string, Value | null>();
    const findings: string[] = [];
    for (const { place, value } of placed(item, settings, (part) => written(part, settings)))
      if (value instanceof Refusal) findings.push(...value.findings);
      else values.set(place, value);
    for (const [place, value] of further?.(row, item) ?? []) values.set(place, value);
    const tags = this.#tagsWith(row, item);
    const wanted = { values, ...(tags && { tags }) };
    const lacking = isBlank ? wanted : this.#lackingOn(row, wanted);
    return { item, ...jobOf(item.recordId, row, wanted, lacking), findings };
  }

  #isOutdated(item: WriteBack, row: Row): boolean {
    const { settings, at, tags, keepsEarlier, instantOf = (current) => Date.parse(String(current)) } = this.#writing;
    if (keepsEarlier === true)
      return settings.answeredAt !== undefined && isOlderThan(item, instantOf(at(row, settings.answeredAt)));
    const isTagged = item.status === 'no-answer' && tags?.(row).includes(answeredTag) === true;
    return isTagged || isOutdated(item, settings, (place) => at(row, place), instantOf);
  }

  /** All tags of the record, with the answer's in place of closeloop's earlier tags; undefined where answers are not written as tags. */
  #tagsWith(row: Row, item: WriteBack): string[] | undefined {
    const { settings, tags, keepsEarlier } = this.#writing;
    if (settings.tags !== true || tags === undefined) return undefined;
    const isKept = keepsEarlier === true && item.status === 'no-answer';
    return [...new Set([...tags(row).filter((tag) => isKept || !isAnswerTag(tag)), ...tagsOf(item)])];
  }

  #lackingOn(row: Row, { values, tags }: Change<Value>): Change<Value> {
    const { at, holds = holdsValue } = this.#writing;
    const lacking = new Map([...values].filter(([place, value]) => !holds(at(row, place), value, place)));
    // Only closeloop's own tags are compared: other tags may change meanwhile.
    const ours = (all: readonly string[] = []) => all.filter(isAnswerTag).sort().join();
    const isTagged = tags === undefined || ours(tags) === ours(this.#writing.tags?.(row));
    return { values: lacking, ...(!isTagged && { tags }) };
  }

  /** Does one step for each job that has not failed, as `tryEach` does. */
  async #each<J extends Job<Row, Value>>(jobs: readonly J[], step: (job: J) => Promise<void>): Promise<void> {
    const left = jobs.filter(({ failure }) => failure === undefined);
    const failures = await tryEach(left, (job) => aboutRecords([job.id], () => step(job)));
    for (const [job, failure] of failures) job.failure = failure;
  }

  /** Sends the values that records lack, and reads the records that no response shows. Returns the jobs whose changes were sent. */
  async #send<J extends Job<Row, Value>>(jobs: readonly J[], rows: RowReading<Row>): Promise<J[]> {
    const { putMany } = this.#writing;
    const toSend = jobs.filter(
      ({ change, note, failure }) => failure === undefined && (note !== undefined || !isEmpty(change)),
    );
    const sent = toSend.length > 0 ? await putMany?.(toSend) : undefined;
    await this.#each(toSend, async (job) => {
      const row = sent?.get(job.id);
      const first = sent ? (refusalIn(this.#words, job, row) ?? row) : await putOne(this.#words, job, this.#writing);
      // A failure of one record among many does not stop the others.
      if (isFailure(first)) job.failure = first;
      else job.after = first instanceof Refusal ? await this.#sendRest(job, first) : first;
    });
    const unread = toSend.filter(({ after, failure }) => failure === undefined && after === undefined);
    const again = await rowsOf(
      rows,
      unread.map(({ id }) => id),
    );
    for (const job of unread) {
      const after = again.get(job.id);
      if (isFailure(after)) job.failure = after;
      else if (after === undefined) job.failure = 'gone';
      else job.after = after;
    }
    return toSend.filter(({ failure }) => failure === undefined);
  }

  /** Sends the rest of a change after the vendor has refused a part. */
  async #sendRest(job: Job<Row, Value>, refusal: Refusal, { values, tags } = job.change): Promise<Row | undefined> {
    const isAll = refusal.unfit === 'all' || job.isWhole === true;
    const unfit = refusal.unfit === 'all' || job.isWhole ? [...values.keys()] : refusal.unfit;
    const rest = new Map([...values].filter(([place]) => !unfit.includes(place)));
    job.findings.push(...refusal.findings);
    for (const place of unfit) job.refused.add(place);
    const change = { values: rest, ...(tags && !isAll && { tags }) };
    if (isEmpty(change)) return job.row;
    // A refusal that names no place of the change would repeat for ever.
    if (rest.size === values.size)
      throw new TypeError(`${this.#words.vendor}: a refusal without a place of the change`);
    const written = await putOne(this.#words, { ...job, change }, this.#writing);
    return written instanceof Refusal ? await this.#sendRest(job, written, change) : written;
  }

  /** Adds a finding for each value that the vendor accepted but did not store. */
  #tellLost({ id, wanted, change, findings, remarks, refused, after }: Job<Row, Value>): void {
    const { vendor, record } = this.#words;
    const { tagsGone, tags = () => [], notKept = () => 'look at what it takes, and at what guards it' } = this.#writing;
    if (after === undefined) return;
    const lost = this.#lackingOn(after, { ...wanted, values: change.values });
    for (const [place, value] of lost.values)
      if (!refused.has(place)) findings.push(`${vendor} did not keep "${place}": ${notKept(place, value)}`);
    if (lost.tags === undefined) return;
    const gone = lost.tags.filter((tag) => isAnswerTag(tag) && !tags(after).includes(tag));
    if (tagsGone === undefined) findings.push(`${vendor} did not keep the tags of the ${record} ${id}`);
    else if (gone.length > 0) remarks.push(tagsGone(gone));
  }

  /** Whether to add the answer's note. Looks for the note if an earlier attempt may have written it. */
  async #lacksNote({ item, row, wanted, change, findings }: AnswerJob<Row, Value>): Promise<boolean> {
    const { settings, notes } = this.#writing;
    if (notes === undefined || settings.note !== true || item.status === 'no-answer') return false;
    const given = [...wanted.values].filter(([, value]) => value !== null);
    const isFirst = given.length > 0 && given.every(([place]) => change.values.has(place)) && findings.length === 0;
    const mayBeThere = notes.joins === undefined ? !isFirst : notes.joins(row, item, wanted, change);
    return !mayBeThere || !(await isNoted(item, row, notes));
  }

  async forget(recordIds: readonly string[]): Promise<string[]> {
    const { rows, forgetRows = rows } = this.#writing;
    const left: string[] = [];
    for (const some of chunks([...new Set(recordIds)], forgetRows.size ?? 100))
      left.push(...(await this.#forgetOn(some, forgetRows)));
    return left;
  }

  async #forgetOn(ids: readonly string[], reading: RowReading<Row>): Promise<string[]> {
    const { record } = this.#words;
    const found = await rowsOf(reading, ids);
    const rows = [...found];
    const left = rows.flatMap(([id, row]) =>
      isFailure(row) ? [`the answer on ${record} ${id}, which can't be read: take it off by hand`] : [],
    );
    const others = ids.filter((id) => reading.isId(id) && !found.has(id));
    if (others.length > 0) left.push(...((await this.#writing.unseen?.(others)) ?? []));
    const jobs = rows.flatMap(([id, row]) => (isFailure(row) ? [] : [this.#emptying(id, row)]));
    await this.#send(jobs, reading);
    for (const job of jobs) left.push(...this.#leftOn(job), ...(await this.#removeNotes(job)));
    return left;
  }

  #emptying(id: string, row: Row): Job<Row, Value> {
    const { settings, at, tags, further, holds = holdsValue } = this.#writing;
    const wanted = [...placesOf(settings).values()].map((place) => [place, null] as const);
    const all = [...wanted, ...(further?.(row, undefined) ?? [])];
    const values = new Map(all.filter(([place, value]) => !holds(at(row, place), value, place)));
    // Removes closeloop's tags even if the settings no longer write answers as tags.
    const [ours, rest] = [true, false].map((isOurs) => tags?.(row).filter((tag) => isAnswerTag(tag) === isOurs));
    const change: Change<Value> = { values, ...(ours?.length && rest && { tags: rest }) };
    return jobOf(id, row, change, change);
  }

  /** @throws CloseloopError if another attempt may remove the answer */
  #leftOn({ id, wanted, after, failure }: Job<Row, Value>): string[] {
    const { record } = this.#words;
    const { leaves } = this.#writing;
    if (isEmpty(wanted) || isGone(failure)) return [];
    if (failure !== undefined && failure.advice.kind !== 'permanent') throw failure;
    if (failure !== undefined) return [`the answer on ${record} ${id}, which takes no change: take it off by hand`];
    const still = after === undefined ? wanted.values : this.#lackingOn(after, wanted).values;
    const told = [...still.keys()].map((place) => `"${place}" of ${record} ${id}: empty it by hand`);
    return leaves === undefined ? told : [...told, leaves(id)];
  }

  async #removeNotes({ id, row }: Job<Row, Value>): Promise<string[]> {
    const { vendor, record } = this.#words;
    const { notes } = this.#writing;
    const all = (await notes?.list(row, id).catch(unlessGone)) ?? [];
    const ours = all.filter(({ text }) => markerOf(text) !== undefined);
    if (ours.length > 0 && notes?.remove === undefined) return [`the notes on ${record} ${id}: ${vendor} deletes none`];
    for (const note of ours) await notes?.remove?.(row, note.id, id).catch(unlessGone);
    return [];
  }

  #resultOf({ item, findings, remarks, failure }: AnswerJob<Row, Value>): WriteResult {
    if (failure === undefined) return { ok: true, findings, ...(remarks.length > 0 && { remarks }) };
    if (isGone(failure)) return this.#notFound(item);
    const why = failure instanceof VendorError ? this.#writing.closed?.(failure) : undefined;
    return why === undefined ? { ok: false, why: 'error', error: failure } : this.#noMore(item, why);
  }

  #notFound({ recordId }: WriteBack): WriteResult {
    const { vendor, record } = this.#words;
    const id = this.#writing.rows.isId(recordId) ? ` ${recordId}` : '';
    return { ok: false, why: 'not-found', message: `${vendor} has no ${record}${id} any more.` };
  }

  #noMore({ recordId }: WriteBack, why: string): WriteResult {
    const { vendor, record } = this.#words;
    return { ok: false, why: 'closed', message: `${vendor} takes no answer on ${record} ${recordId}: ${why}.` };
  }
}

/** Writes on one record. @throws CloseloopError where the record, or the whole call, fails */
export async function putOne<Row, Value>(
  words: DeskWords,
  changed: ChangedRow<Row, Value>,
  { put, putMany }: Pick<DeskWriting<Row, Value>, 'put' | 'putMany'>,
): Promise<Written<Row>> {
  const write = async () => (put === undefined ? (await putMany?.([changed]))?.get(changed.id) : await put(changed));
  const written = await write().catch((error: unknown) => {
    if (isFailure(error)) return error;
    throw error;
  });
  const found = refusalIn(words, changed, written) ?? written;
  if (isFailure(found)) throw found;
  return found;
}

/** The refusal of values. A finding may name a grade, but never a text, which is the customer's. */
export function refusalOf<Value>(vendor: string, unfit: readonly (readonly [place: string, value: Value])[]): Refusal {
  const shown = (value: Value) => (typeof value === 'number' ? value : 'such text');
  const findings = unfit.map(
    ([place, value]) => `"${place}" takes no ${shown(value)}: look at its type, bounds and choices`,
  );
  return new Refusal(
    unfit.map(([place]) => place),
    findings.map((said) => `${vendor}: ${said}`),
  );
}

/**
 * The refusal in an error that names fields; undefined for anything else. A vendor may refuse every change of a record because of a field that
 * the change does not have.
 */
function refusalIn<Row, Value>(words: DeskWords, { id, change }: ChangedRow<Row, Value>, error: unknown) {
  const fields = error instanceof VendorError && error.advice.kind === 'permanent' ? error.fields : [];
  if (fields.length === 0) return undefined;
  const unfit = [...change.values].filter(([place]) => fields.includes(place));
  if (unfit.length > 0) return refusalOf(words.vendor, unfit);
  const why = 'another field of it is refused, perhaps a required field that is empty: open it and correct that';
  return new Refusal('all', [`${words.vendor}: ${words.record} ${id} takes no answer, as ${why}`]);
}

/** Whether the record already has the note that ends with this marker. */
export async function isNoted<Row>(
  { recordId, marker }: Pick<WriteBack, 'recordId' | 'marker'>,
  row: Row,
  { list }: Pick<DeskNotes<Row>, 'list'>,
): Promise<boolean> {
  return (await list(row, recordId)).some(({ text }) => markerOf(text) === marker);
}

const jobOf = <Row, Value>(id: string, row: Row, wanted: Change<Value>, change: Change<Value>): Job<Row, Value> => ({
  ...{ id, row, wanted, change },
  ...{ findings: [], remarks: [], refused: new Set(), after: undefined, failure: undefined },
});

const isGone = (failure: CloseloopError | 'gone' | undefined): failure is VendorError | 'gone' =>
  failure === 'gone' || (failure instanceof VendorError && failure.isGone);

/** Ignores a 404: the record or its note may have been deleted since it was read. */
function unlessGone(error: unknown): undefined {
  if (error instanceof VendorError && error.isGone) return undefined;
  throw error;
}
