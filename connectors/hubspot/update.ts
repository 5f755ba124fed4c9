import { newestBy } from '../../core/connector/answer.ts';
import { chunks } from '../../core/connector/batches.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import {
  BatchResponse,
  type BatchResult,
  batchSize,
  currentOf,
  type Fate,
  fates,
  livingOn,
  mergedIds,
} from './batch.ts';
import { type Plural, paths } from './objects.ts';
import { inWords, type Refusal } from './responses.ts';

/** One record and the string for each of its properties; '' clears. */
export interface Write {
  id: string;
  properties: Record<string, string>;
  /** Of two writes of one record the later one counts. */
  at: Date;
}

/** The record after the update; `write` is the sent one: another write of the record, where that was later. */
export type Update =
  | { is: 'done'; write: Write; result: BatchResult }
  | { is: 'missing' }
  | { is: 'refused'; error: Error };

/**
 * Writes properties, one call per 100 records. Idempotent. For merged records it writes the survivors: two more calls, however many
 * there are.
 * @returns by the requested id
 */
export async function updateAll(
  api: HubSpotApi,
  plural: Plural,
  given: readonly Write[],
): Promise<Map<string, Update>> {
  const writes = newestBy(given, idOf, timeOf);
  const first = await updateOnce(api, plural, [...writes.values()]);
  const lost = [...writes.keys()].filter((id) => (first.get(id) ?? { is: 'missing' }).is === 'missing');
  const current = await whereabouts(api, plural, lost);
  const nowIs = (id: string) => current.get(id) ?? id;

  const merged = new Set(current.values());
  const again = newestBy(
    [...writes.values()].map((write) => ({ ...write, id: nowIs(write.id) })).filter(({ id }) => merged.has(id)),
    idOf,
    timeOf,
  );
  const second = await updateOnce(api, plural, [...again.values()]);
  return new Map(
    [...writes].map(([id, own]): [string, Update] => {
      const write = again.get(nowIs(id)) ?? own;
      const fate = again.has(nowIs(id)) ? second.get(nowIs(id)) : first.get(id);
      if (fate?.is === 'done') return [id, { ...fate, write }];
      return [id, fate ?? { is: 'missing' }];
    }),
  );
}

/**
 * Writes as `updateAll` does, and confirms every property: properties that the response leaves out are read (one more call per 100
 * records that need it).
 */
export async function updateConfirmed(
  api: HubSpotApi,
  plural: Plural,
  writes: readonly Write[],
): Promise<Map<string, Update>> {
  const updates = await updateAll(api, plural, writes);
  const doubtful = [...updates.values()].flatMap((update) => {
    const missing = update.is === 'done' ? missingFrom(update) : [];
    return update.is === 'done' && missing.length > 0 ? [{ id: update.result.id, missing }] : [];
  });
  if (doubtful.length === 0) return updates;
  const names = [...new Set(doubtful.flatMap(({ missing }) => missing))];
  const ids = doubtful.map(({ id }) => id);
  const current = await currentOf(api, plural, ids, names);
  return new Map(
    [...updates].map(([id, update]): [string, Update] => {
      if (update.is !== 'done') return [id, update];
      const properties = { ...current.get(update.result.id), ...update.result.properties };
      return [id, { ...update, result: { ...update.result, properties } }];
    }),
  );
}

function missingFrom({ write, result }: Extract<Update, { is: 'done' }>): string[] {
  return Object.keys(write.properties).filter((name) => result.properties[name] === undefined);
}

const idOf = ({ id }: Write): string => id;
const timeOf = ({ at }: Write): Date => at;

/** Old id → the id of the record that it was merged into; deleted records are left out. */
async function whereabouts(api: HubSpotApi, plural: Plural, ids: readonly string[]): Promise<Map<string, string>> {
  const path = paths.batchRead(plural);
  const found = new Map<string, string>();
  const ask = async (some: readonly string[]): Promise<void> => {
    const body = { inputs: some.map((id) => ({ id })), properties: [mergedIds], propertiesWithHistory: [] };
    const { results } = await api.call('POST', path, BatchResponse, { body });
    const [only, ...others] = some;
    const known = livingOn(some, results);
    for (const [id, result] of known) found.set(id, result.id);
    for (const { id } of results) if (some.includes(id)) found.set(id, id);
    const returned = new Set(found.values());
    const unmatched = results.find(({ id }) => !returned.has(id));
    if (unmatched === undefined) return;
    if (only !== undefined && others.length === 0) found.set(only, unmatched.id);
    else for (const id of some) if (!found.has(id)) await ask([id]);
  };
  for (const some of chunks(ids, batchSize)) await ask(some);
  return found;
}

async function updateOnce(api: HubSpotApi, plural: Plural, writes: readonly Write[]) {
  const found = new Map<string, Fate<BatchResult>>();
  await Promise.all(
    chunks(writes, batchSize).map(async (some) => {
      for (const [id, fate] of await update(api, plural, some)) found.set(id, fate);
    }),
  );
  return found;
}

type Fates = Map<string, Fate<BatchResult>>;

async function update(api: HubSpotApi, plural: Plural, writes: readonly Write[]): Promise<Fates> {
  const path = paths.batchUpdate(plural);
  const inputs = writes.map(({ id, properties }) => ({ id, properties }));
  const answer = await api.attempt('POST', path, BatchResponse, { body: { inputs } });
  if (!answer.ok) return afterRefusal(api, plural, writes, answer.refusal);
  return fates(
    `POST ${path}`,
    writes.map(({ id }) => id),
    answer.body,
  );
}

/**
 * One invalid value fails the whole call: this finds the records with it and writes the others. Records that HubSpot names are taken out.
 * Else the call is halved, sorted by the property that HubSpot names, until the remaining records share the value: a grade that the
 * property's options lack costs a few calls, however many records have it.
 */
async function afterRefusal(
  api: HubSpotApi,
  plural: Plural,
  writes: readonly Write[],
  refusal: Refusal,
): Promise<Fates> {
  const missingProperty = refusal.problems.find(({ code }) => propertyIsMissing.has(code));
  if (missingProperty) throw noSuchProperty(plural, missingProperty.property);

  const property = refusal.problems.find((problem) => problem.property !== undefined)?.property ?? '';
  const sent = (write: Write) => write.properties[property] ?? '';
  const byValue = writes.toSorted((a, b) => compare(sent(a), sent(b)));
  const values = byValue.map(sent);
  const oneBadValue = blamesAValueOf(refusal, property, writes) && new Set(values).size === 1;
  if (writes.length === 1 || oneBadValue) return new Map(writes.map(({ id }) => [id, refused(plural, refusal)]));

  const named = new Set(refusal.ids);
  const guilty = byValue.filter(({ id }) => named.has(id));
  const others = byValue.filter(({ id }) => !named.has(id));
  const middle = middleOf(values);
  const parts =
    guilty.length > 0 && others.length > 0 ? [guilty, others] : [byValue.slice(0, middle), byValue.slice(middle)];
  const results: Fates = new Map();
  for (const part of parts) for (const [id, fate] of await update(api, plural, part)) results.set(id, fate);
  return results;
}

const propertyIsMissing = new Set(['PROPERTY_DOESNT_EXIST', 'PROPERTY_NOT_FOUND']);
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const blamesAValueOf = ({ problems }: Refusal, property: string, writes: readonly Write[]) =>
  problems.some((problem) => problem.property === property && problem.code.startsWith('INVALID')) &&
  writes.every(({ properties }) => property in properties);

/** The index that halves a sorted list: between two values if there are several, so that equal ones stay together. */
function middleOf(values: readonly string[]): number {
  const half = Math.ceil(values.length / 2);
  const value = values[half] ?? '';
  const edge = values.indexOf(value) || values.lastIndexOf(value) + 1;
  return edge < values.length ? edge : half;
}

const wordFor = (plural: Plural) => plural.slice(0, -1);

const noSuchProperty = (plural: Plural, property = '(not named)') =>
  new CloseloopError(
    `HubSpot has no ${wordFor(plural)} property ${property}. Let "closeloop setup" create it (or restore it in HubSpot, Settings > Properties), or correct its internal name under writeBack`,
    { kind: 'config' },
  );

/** The error that says what a person must change before this record can be written. */
function refused(plural: Plural, refusal: Refusal): Fate<BatchResult> {
  if (refusal.status === 404 || refusal.category === 'OBJECT_NOT_FOUND') return { is: 'missing' };
  const error = new CloseloopError(
    `HubSpot did not take the answer on the ${wordFor(plural)}: ${inWords(refusal)}. ${remedy(refusal)}`,
    { kind: 'permanent' },
  );
  return { is: 'refused', error };
}

function remedy({ category, problems }: Refusal): string {
  const codes = new Set([category, ...problems.map(({ code }) => code)]);
  if (codes.has('MISSING_CONDITIONAL_REQUIRED_PROPERTY')) {
    return 'A rule of the account requires another property on this record: fill it in there, or relax the rule in HubSpot';
  }
  if (codes.has('INVALID_OPTION'))
    return "Add the value to the property's options in HubSpot: every grade; answered and no_answer for status";
  if (codes.has('INVALID_DATE')) return 'answeredAt needs a property of type date and time';
  return "Check the property's type in HubSpot: grade number, comment multi-line text, answeredAt date and time";
}
