import type { WriteBack, WriteResult } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { BatchAnswer, type BatchResult, fates } from './batch.ts';
import type { HubSpotApi } from './client.ts';
import { inWords, type Refusal } from './failure.ts';
import { chunks, type ObjectType, objectTypes, parseRecordId, paths, recordId } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

const batchSize = 100;
/** HubSpot's limit for text is 65,536 UTF-16 code units; this leaves room for the mark. */
const maxCommentUnits = 65_000;
const cutMark = '… (cut)';

/** One record and the text for each of its properties; '' clears. */
interface Write {
  id: string;
  properties: Record<string, string>;
}

/** Repeating a write is harmless, so a failed call may always be made again. Per 100 records one call. */
export function writer(settings: HubSpotSettings, api: HubSpotApi) {
  return async (items: readonly WriteBack[]): Promise<WriteResult[]> => {
    if (Object.keys(settings.writeBack).length === 0) return items.map(() => ({ ok: true, findings: [] }));
    const results = new Map<string, WriteResult>();
    for (const type of ['ticket', 'deal'] as const) {
      // no id may be twice in a call: the later answer of a record stands for all of them
      const writes = new Map<string, Write>();
      for (const item of items) {
        const record = parseRecordId(item.recordId);
        if (record?.type === type)
          writes.set(record.id, { id: record.id, properties: propertiesOf(item, settings.writeBack) });
      }
      await Promise.all(
        chunks([...writes.values()], batchSize).map(async (some) => {
          for (const [id, result] of await update(api, type, some)) results.set(recordId(type, id), result);
        }),
      );
    }
    return items.map((item) => results.get(item.recordId) ?? notFound('record'));
  };
}

/** HubSpot takes text only: a number as digits, an instant as ISO 8601 UTC. */
export function propertiesOf(item: WriteBack, names: HubSpotSettings['writeBack']): Record<string, string> {
  return {
    ...(names.grade && { [names.grade]: item.grade === null ? '' : String(item.grade) }),
    ...(names.comment && { [names.comment]: cut(item.comment ?? '') }),
    ...(names.answeredAt && { [names.answeredAt]: item.answeredAt.toISOString() }),
  };
}

/** Never in the middle of a surrogate pair. */
function cut(text: string): string {
  if (text.length <= maxCommentUnits) return text;
  const kept = text.slice(0, maxCommentUnits - cutMark.length).replace(/[\uD800-\uDBFF]$/, '');
  return kept + cutMark;
}

async function update(api: HubSpotApi, type: ObjectType, writes: readonly Write[]): Promise<Map<string, WriteResult>> {
  const path = paths.batchUpdate(objectTypes[type].plural);
  const answer = await api.attempt('POST', path, BatchAnswer, { body: { inputs: writes } });
  if (!answer.ok) return afterRefusal(api, type, writes, answer.refusal);
  const results = new Map<string, WriteResult>();
  const found = fates(
    `POST ${path}`,
    writes.map(({ id }) => id),
    answer.body,
  );
  for (const write of writes) {
    const fate = found.get(write.id);
    if (fate?.is === 'done') results.set(write.id, { ok: true, findings: notTaken(write, fate.result) });
    if (fate?.is === 'missing') results.set(write.id, notFound(type));
    if (fate?.is === 'refused') results.set(write.id, { ok: false, why: 'error', error: fate.error });
    // neither written nor refused: alone, whatever is answered is surely about this one
    if (fate === undefined) for (const [id, result] of await update(api, type, [write])) results.set(id, result);
  }
  return results;
}

/**
 * One bad value fails the whole call: find the guilty, write the others. Where HubSpot names the records, they are set
 * apart. Else the call is halved, sorted by the property that HubSpot names, until all that are left have the value in
 * common: a grade that the property's options lack costs a few calls, however many records carry it.
 */
async function afterRefusal(
  api: HubSpotApi,
  type: ObjectType,
  writes: readonly Write[],
  refusal: Refusal,
): Promise<Map<string, WriteResult>> {
  const missingProperty = refusal.problems.find(({ code }) => propertyIsMissing.has(code));
  if (missingProperty) throw noSuchProperty(type, missingProperty.property);

  const property = refusal.problems.find((problem) => problem.property !== undefined)?.property ?? '';
  const sent = (write: Write) => write.properties[property] ?? '';
  const byValue = writes.toSorted((a, b) => compare(sent(a), sent(b)));
  const values = byValue.map(sent);
  const oneBadValue = blamesAValueOf(refusal, property, writes) && new Set(values).size === 1;
  if (writes.length === 1 || oneBadValue) return new Map(writes.map(({ id }) => [id, refused(type, refusal)]));

  const named = new Set(refusal.ids);
  const guilty = byValue.filter(({ id }) => named.has(id));
  const others = byValue.filter(({ id }) => !named.has(id));
  const middle = middleOf(values);
  const parts =
    guilty.length > 0 && others.length > 0 ? [guilty, others] : [byValue.slice(0, middle), byValue.slice(middle)];
  const results = new Map<string, WriteResult>();
  for (const part of parts) for (const [id, result] of await update(api, type, part)) results.set(id, result);
  return results;
}

const propertyIsMissing = new Set(['PROPERTY_DOESNT_EXIST', 'PROPERTY_NOT_FOUND']);
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const blamesAValueOf = ({ problems }: Refusal, property: string, writes: readonly Write[]) =>
  problems.some((problem) => problem.property === property && problem.code.startsWith('INVALID')) &&
  writes.every(({ properties }) => property in properties);

/** Where to part a sorted list in about two: between two values if there are several, so that equal ones stay together. */
function middleOf(values: readonly string[]): number {
  const half = Math.ceil(values.length / 2);
  const value = values[half] ?? '';
  const edge = values.indexOf(value) || values.lastIndexOf(value) + 1;
  return edge < values.length ? edge : half;
}

const noSuchProperty = (type: ObjectType, property = '(not named)') =>
  new CloseloopError(
    `HubSpot has no ${type} property ${property}. Create it, or correct its internal name under writeBack`,
    { kind: 'config' },
  );

const notFound = (type: string): WriteResult => ({
  ok: false,
  why: 'not-found',
  message: `HubSpot has no such ${type} any more: deleted, or merged into another`,
});

/** What a person must change before this record can be written. */
function refused(type: ObjectType, refusal: Refusal): WriteResult {
  if (refusal.status === 404 || refusal.category === 'OBJECT_NOT_FOUND') return notFound(type);
  const error = new CloseloopError(
    `HubSpot did not take the answer on the ${type}: ${inWords(refusal)}. ${remedy(refusal)}`,
    { kind: 'permanent' },
  );
  return { ok: false, why: 'error', error };
}

function remedy({ category, problems }: Refusal): string {
  const codes = new Set([category, ...problems.map(({ code }) => code)]);
  if (codes.has('MISSING_CONDITIONAL_REQUIRED_PROPERTY')) {
    return 'A rule of the account requires another property on this record: fill it in there, or relax the rule in HubSpot';
  }
  if (codes.has('INVALID_OPTION'))
    return "Add the grade to the property's options in HubSpot, or use a number property";
  if (codes.has('INVALID_DATE')) return 'answeredAt needs a property of type date and time';
  return "Check the property's type in HubSpot: grade number, comment multi-line text, answeredAt date and time";
}

/** What HubSpot says the record holds now, against what we sent. It may write the same value another way. */
export function notTaken(write: Write, { properties }: Pick<BatchResult, 'properties'>): string[] {
  return Object.entries(write.properties).flatMap(([name, sent]) => {
    const now = properties[name];
    if (now === undefined || sameValue(sent, now ?? '')) return [];
    return [`HubSpot holds another value in ${name} than was sent: check the property's type and rules`];
  });
}

function sameValue(sent: string, held: string): boolean {
  const plain = (text: string) => text.replace(/\r\n?/g, '\n').trim();
  if (plain(sent) === plain(held)) return true;
  if (sent === '' || held === '') return false;
  if (Number(sent) === Number(held)) return true;
  const instant = (text: string) => (/^\d{11,}$/.test(text) ? Number(text) : Date.parse(text));
  return instant(sent) === instant(held);
}
