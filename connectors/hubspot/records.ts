import { z } from 'zod';
import { isSameValue, newestBy } from '../../core/connector/answer.ts';
import { chunks, sendApart, type Writable } from '../../core/connector/batches.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { listOf, mapOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { mismatchesOf } from '../../core/mismatches.ts';
import type { HubSpotApi } from './api.ts';
import { type Plural, type Properties, paths } from './objects.ts';
import { ErrorBody, inWords, type Refusal, refusalOf } from './responses.ts';

/** The most records in one batch call. */
export const batchSize = 100;

/**
 * HubSpot documents every value as a string or null; other values are converted to strings, so that they don't fail the other 99 records.
 */
export const Texts = mapOf(z.union([z.string(), z.number(), z.boolean()]).transform(String).nullable());

const Id = z.union([z.string(), z.number()]).transform(String);
const Identified = z.object({ id: Id });
const Change = z
  .object({ value: z.string().nullish(), timestamp: z.union([z.string(), z.number()]).pipe(z.coerce.date()) })
  .transform(({ value, timestamp }) => ({ value: value ?? '', at: timestamp }));
const Row = z
  .object({ id: Id, properties: Texts.default({}), propertiesWithHistory: mapOf(listOf(Change)).default({}) })
  .transform(({ propertiesWithHistory, ...row }) => ({ ...row, history: Object.values(propertiesWithHistory).flat() }));
type Row = z.output<typeof Row>;

/**
 * A record whose shape is not the documented shape must not fail the other records: of that record only the id (if readable) and the
 * mismatch are read.
 */
const Result = z.unknown().transform((raw) => {
  const { data: row, error } = Row.safeParse(raw);
  return { id: Identified.safeParse(raw).data?.id, row, odd: error && mismatchesOf(error).slice(0, 5).join('; ') };
});

/** The response of batch/read and batch/update. `errors` decides, not the status (200 and 207 mean the same). */
const BatchResponse = z.object({ results: listOf(Result, 1_000), errors: listOf(ErrorBody).default([]) });

/** Records by their requested ids, or the error of a single record; undefined for a record that HubSpot does not have. */
export type Found<Record = Row> = Map<string, Record | CloseloopError | undefined>;

export const isFound = <Record>(row: Record | CloseloopError | undefined): row is Record =>
  row !== undefined && !isFailure(row);

/**
 * The records in the response of one call. Results come in any order, and a merged record's result has another id, so the result of a call
 * for one id belongs to this id. Ids of which the response says nothing are left out, unless the call had only one id.
 */
function rowsIn(path: string, ids: readonly string[], { results, errors }: z.output<typeof BatchResponse>): Found {
  const only = ids.length === 1 ? ids[0] : undefined;
  const found: Found = new Map(only === undefined ? [] : [[only, undefined]]);
  const failure = (said: string, more = {}) =>
    new CloseloopError(`HubSpot: POST ${path}${said}`, { kind: 'permanent', ...more });
  for (const { id, row, odd } of results) {
    const whose = id !== undefined && ids.includes(id) ? id : only;
    const unreadable = () =>
      failure(` answered a record in another shape than documented, at ${odd}`, { doubtful: true });
    if (whose !== undefined) found.set(whose, row ?? unreadable());
  }
  for (const refusal of errors.map((body) => refusalOf(0, body))) {
    const error = refusal.category === 'OBJECT_NOT_FOUND' ? undefined : failure(`: ${inWords(refusal)}`);
    const about = refusal.ids.filter((id) => ids.includes(id));
    for (const id of about.length === 0 && only !== undefined ? [only] : about) found.set(id, error);
  }
  return found;
}

/** The property with the ids of the records that were merged into a record, separated by `;`; empty without a merge. */
export const mergedIds = 'hs_merged_object_ids';

/** Where the next page of a list begins; undefined on the last page. */
export const Paging = z
  .object({ next: z.object({ after: z.coerce.string() }).nullish() })
  .nullish()
  .transform((paging) => paging?.next?.after);

// HubSpot's types say that an id is text, but its API sends a number.
const Associated = z.object({
  toObjectId: z.coerce.string(),
  associationTypes: listOf(z.object({ typeId: z.number() })).default([]),
});
export type Associated = z.output<typeof Associated>;
const Associations = z.object({
  results: listOf(z.object({ from: z.object({ id: z.coerce.string() }), to: listOf(Associated), paging: Paging })),
  errors: listOf(ErrorBody).default([]),
});

/** One record, and the new value of each property; '' clears the property. */
export interface Write extends Writable {
  /** The time of the write: of two writes of one record the later counts. */
  at: Date;
}

const newest = (writes: Iterable<Write>) =>
  newestBy(
    writes,
    ({ id }) => id,
    ({ at }) => at,
  );

/** An updated record: its present id, and findings about the properties that hold other values than were sent. */
export interface Updated {
  id: string;
  findings: string[];
}

/** `history`: a property whose history is read as well; `size`: the most records of one call. */
interface Reading {
  history?: string;
  size?: number;
}

/** The records of one kind, which are read and updated 100 in a call. */
export class Records {
  readonly #api: HubSpotApi;
  readonly #plural: Plural;

  constructor(api: HubSpotApi, plural: Plural) {
    this.#api = api;
    this.#plural = plural;
  }

  /**
   * HubSpot returns the surviving record for the id of a merged record: `mergedIds` (if requested) shows whose survivor it is. An id
   * without a result is read alone, as the result then belongs to this id.
   */
  async read(ids: readonly string[], properties: readonly string[], options: Reading = {}): Promise<Found> {
    const wanted = [...new Set(ids)];
    const found = await this.#readMany(wanted, properties, options);
    const left = wanted.filter((id) => !found.has(id));
    const alone = await Promise.all(left.map((id) => this.#readMany([id], properties, options)));
    return new Map([found, ...alone].flatMap((some) => [...some]));
  }

  /** Reads records, 100 in a call. Ids without a result are left out. */
  async #readMany(
    ids: readonly string[],
    properties: readonly string[],
    { history, size = batchSize }: Reading = {},
  ): Promise<Found> {
    const path = paths.objects(this.#plural, 'batch/read');
    const propertiesWithHistory = history === undefined ? [] : [history];
    const found: Found = new Map();
    const readSome = async (some: readonly string[]) => {
      const body = { inputs: some.map((id) => ({ id })), properties, propertiesWithHistory };
      const response = await this.#api.call('POST', path, BatchResponse, { body });
      for (const [id, row] of rowsIn(path, some, response)) found.set(id, row);
      for (const { row } of response.results)
        for (const id of row?.properties[mergedIds]?.split(';') ?? [])
          if (some.includes(id) && !isFound(found.get(id))) found.set(id, row);
    };
    await Promise.all(chunks(ids, size).map(readSome));
    return found;
  }

  /** The present values of these properties by record. Records that aren't found under their id are left out. */
  async current(ids: Iterable<string>, properties: readonly string[]): Promise<Map<string, Properties>> {
    const found = [...(await this.#readMany([...new Set(ids)], properties))];
    return new Map(
      found.flatMap(([id, row]) => (isFound(row) && row.id === id ? [[id, row.properties] as const] : [])),
    );
  }

  /** The contacts, notes or tasks of records, in one call. */
  async associated(to: Plural, inputs: readonly { id: string; after?: string }[]) {
    const path = `${paths.associations(this.#plural, to)}/batch/read`;
    const { results, errors } = await this.#api.call('POST', path, Associations, { body: { inputs } });
    // For a record without associations HubSpot returns an error, and not an empty list.
    const isNone = ({ subCategory }: ErrorBody) => subCategory?.endsWith('NO_ASSOCIATIONS_FOUND') === true;
    const refusals = (some: readonly ErrorBody[]) => some.map((body) => refusalOf(0, body));
    const none = refusals(errors.filter(isNone)).flatMap(({ ids }) => ids);
    return { path, results, none, errors: refusals(errors.filter((one) => !isNone(one))) };
  }

  /**
   * Writes properties, and verifies every property: properties that the response leaves out are read, in one more call per 100 such
   * records.
   * Idempotent. For merged records it writes the survivors, which takes two more calls in total.
   * @returns the updates by the requested id; of two writes of one record both have the later's
   */
  async update(given: readonly Write[]): Promise<Found<Updated>> {
    const writes = newest(given);
    const first = await this.#updateAll(writes.values());
    const gone = [...writes.keys()].filter((id) => first.get(id) === undefined);
    const living = [...(await this.read(gone, [mergedIds]))];
    const survivors = new Map(living.flatMap(([id, row]) => (isFound(row) ? [[id, row.id] as const] : [])));
    const present = new Set(survivors.values());
    const moved = [...writes.values()].map((write) => ({ ...write, id: survivors.get(write.id) ?? write.id }));
    const again = newest(moved.filter(({ id }) => present.has(id)));
    const second = await this.#updateAll(again.values());
    const updates = [...writes].map(([id, own]) => {
      const write = again.get(survivors.get(id) ?? id) ?? own;
      return { id, write, row: (write === own ? first : second).get(write.id) };
    });
    const untold = updates.flatMap(({ write, row }) => {
      const names = Object.keys(write.properties);
      return isFound(row) && names.some((name) => row.properties[name] === undefined) ? [{ id: row.id, names }] : [];
    });
    const ids = untold.map(({ id }) => id);
    const current = await this.current(ids, [...new Set(untold.flatMap(({ names }) => names))]);
    return new Map(
      updates.map(({ id, write, row }): [string, Updated | CloseloopError | undefined] => {
        if (!isFound(row)) return [id, row];
        const held = { ...current.get(row.id), ...row.properties };
        return [id, { id: row.id, findings: notTaken(write.properties, held) }];
      }),
    );
  }

  /** Updates in one call. @returns the records after the update, or HubSpot's refusal of the whole call */
  async updateOnce(writes: readonly Writable[]): Promise<Found | Refusal> {
    const path = paths.objects(this.#plural, 'batch/update');
    const inputs = writes.map(({ id, properties }) => ({ id, properties }));
    const answer = await this.#api.attempt('POST', path, BatchResponse, { body: { inputs } });
    const ids = writes.map(({ id }) => id);
    return answer.ok ? rowsIn(path, ids, answer.body) : answer.refusal;
  }

  /** Sends an empty update, which HubSpot refuses or ignores. @throws VendorError if the app lacks the scope for updates */
  async tryWriting(): Promise<void> {
    await this.#api.attempt('POST', paths.objects(this.#plural, 'batch/update'), z.unknown(), { body: { inputs: [] } });
  }

  async #updateAll(writes: Iterable<Write>): Promise<Found> {
    const send = async (some: readonly Writable[]) => {
      const found = await this.updateOnce(some);
      const problems = found instanceof Map ? [] : found.problems;
      const missing = problems.find(({ code }) => /^PROPERTY_(DOESNT_EXIST|NOT_FOUND)$/.test(code));
      if (missing) throw noSuchProperty(this.#plural, missing.property);
      return found;
    };
    const refusedOne = (refusal: Refusal) => refused(this.#plural, refusal);
    const all = await Promise.all(chunks([...writes], batchSize).map((some) => sendApart(some, send, refusedOne)));
    return new Map(all.flatMap((found) => [...found]));
  }
}

/** Findings for the properties whose present values differ from the sent values. Properties that HubSpot leaves out count as empty. */
export const notTaken = (sent: Write['properties'], current: Properties): string[] =>
  Object.entries(sent)
    .filter(([name, value]) => !isSameValue(current[name] ?? '', value))
    .map(([name]) => `HubSpot holds another value in ${name} than was sent: check the property's type and rules`);

const wordFor = (plural: Plural) => plural.slice(0, -1);

const noSuchProperty = (plural: Plural, property = '(not named)') =>
  new CloseloopError(
    `HubSpot has no ${wordFor(plural)} property ${property}. Let "closeloop setup" create it (or restore it in HubSpot, Settings > Properties), or correct its internal name under writeBack`,
    { kind: 'config' },
  );

/** The error that says what a person must change before this record can be written; undefined for a record that HubSpot does not have. */
function refused(plural: Plural, refusal: Refusal): CloseloopError | undefined {
  if (refusal.status === 404 || refusal.category === 'OBJECT_NOT_FOUND') return undefined;
  const why = `HubSpot did not take the answer on the ${wordFor(plural)}: ${inWords(refusal)}`;
  return new CloseloopError(`${why}. ${remedy(refusal)}`, { kind: 'permanent' });
}

function remedy({ category, problems }: Refusal): string {
  const codes = new Set([category, ...problems.map(({ code }) => code)]);
  if (codes.has('MISSING_CONDITIONAL_REQUIRED_PROPERTY'))
    return 'A rule of the account requires another property on this record: fill it in there, or relax the rule in HubSpot';
  if (codes.has('INVALID_OPTION'))
    return "Add the value to the property's options in HubSpot: every grade; answered and no_answer for status";
  if (codes.has('INVALID_DATE')) return 'answeredAt needs a property of type date and time';
  return "Check the property's type in HubSpot: grade number, comment multi-line text, answeredAt date and time";
}
