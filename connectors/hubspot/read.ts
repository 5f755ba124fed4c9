import { chunks } from '../../core/connector/batches.ts';
import type { RecordState } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import type { DeskReading } from '../../core/connector/desk/desk.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { type BatchResult, type Fate, fates, livingOn, mergedIds, readBatch } from './batch.ts';
import { type RawRecord, stageOf, stateOf } from './closing.ts';
import { type ObjectType, objectTypes, parseRecordId, paths, recordId } from './objects.ts';
import { chooseContacts, type OwnerReader } from './people.ts';
import type { PipelineReader, Pipelines } from './pipelines.ts';
import { type HubSpotShape, localeOf, present } from './record.ts';
import type { HubSpotSettings } from './settings.ts';

export interface Context {
  settings: HubSpotSettings;
  api: HubSpotApi;
  pipelines: Record<ObjectType, PipelineReader>;
  owners: OwnerReader;
  now: () => Date;
}

/** A record, its state, and the pipelines of its kind. */
export interface Standing {
  type: ObjectType;
  record: RawRecord;
  state: RecordState;
  stages: Pipelines;
}

/** Per 1,000 closed tickets: 20 + 1 (associations) + 10 (contacts) calls; pipelines and owners are cached. */
export const reading = (context: Context): DeskReading<Standing, HubSpotShape> => ({
  isId: (id) => parseRecordId(id) !== undefined,
  // One associations call takes 500 records; the other calls take 50 or 100.
  size: 500,
  async many(recordIds) {
    const byType = Map.groupBy(
      recordIds.flatMap((name) => parseRecordId(name) ?? []),
      ({ type }) => type,
    );
    const read = [...byType].map(async ([type, some]) => {
      const ids = some.map(({ id }) => id);
      return [...(await standings(context, type, ids))].map(([id, one]) => [recordId(type, id), one] as const);
    });
    return new Map((await Promise.all(read)).flat());
  },
  present: (rows) => presenter(context, rows),
});

/** The records by the requested id. Records that HubSpot does not have are left out. */
async function standings({ settings, api, pipelines, now }: Context, type: ObjectType, ids: readonly string[]) {
  const found = await readRecords(settings, api, type, ids);
  const records = [...found].flatMap(([id, fate]) =>
    fate.is === 'done' ? [[id, raw(type, fate.result)] as const] : [],
  );
  const stages = await pipelines[type].read(records.map(([, record]) => stageOf(type, record)));
  const rows = new Map<string, Standing | CloseloopError>();
  for (const [id, fate] of found) if (fate.is === 'refused') rows.set(id, fate.error);
  for (const [id, record] of records) {
    const state = stateOf(type, record, stages, settings, now());
    rows.set(id, state.is === 'unclear' ? unclear(type) : { type, record, state, stages });
  }
  return rows;
}

/** Reads the records. An id without a result is read alone: then the result belongs to this id, also after a merge. */
async function readRecords(settings: HubSpotSettings, api: HubSpotApi, type: ObjectType, ids: readonly string[]) {
  const { plural, stage, pipeline, properties } = objectTypes[type];
  const shown = [...new Set([stage, pipeline, mergedIds, ...properties, ...settings.properties])];
  const found = new Map<string, Fate>();
  const readSome = async (some: readonly string[]) => {
    const answer = await readBatch(api, plural, some, shown, [stage]);
    for (const [id, fate] of fates(paths.batchRead(plural), some, answer)) found.set(id, fate);
    for (const [id, result] of livingOn(some, answer.results)) found.set(id, { is: 'done', result });
  };
  await Promise.all(chunks(ids, settings.historyPerCall).map(readSome));
  await Promise.all(ids.filter((id) => !found.has(id)).map((id) => readSome([id])));
  return found;
}

function raw(type: ObjectType, { id, properties, propertiesWithHistory }: BatchResult): RawRecord {
  return { id, properties, history: propertiesWithHistory?.[objectTypes[type].stage] ?? [] };
}

const unclear = (type: ObjectType) =>
  new CloseloopError(`HubSpot shows the ${type} as closed but its stage history has no closing yet; read again`, {
    kind: 'transient',
  });

/** Contacts and owners are read for closed records only. */
async function presenter({ settings, api, owners }: Context, rows: readonly Standing[]) {
  const closed = Map.groupBy(
    rows.filter(({ state }) => state.is === 'closed'),
    ({ type }) => type,
  );
  const choosing = [...closed].map(async ([type, some]) => {
    const ids = [...new Set(some.map(({ record }) => record.id))];
    return [...(await chooseContacts(api, type, ids, settings))].map(([id, one]) => [recordId(type, id), one] as const);
  });
  const ownerIds = [...closed.values()].flat().flatMap(({ record }) => record.properties.hubspot_owner_id || []);
  const [chosen, known] = await Promise.all([Promise.all(choosing), owners.read([...new Set(ownerIds)])]);
  const choices = new Map(chosen.flat());

  return ({ type, record, state, stages }: Standing) => {
    const currentId = recordId(type, record.id);
    const choice = choices.get(currentId) ?? { contact: null, why: `the ${type} is not closed: not looked up` };
    if (choice instanceof CloseloopError) return choice;
    const { contact, why: contactChoice } = choice;
    const owner = known.get(record.properties.hubspot_owner_id ?? '') ?? null;
    const shape = { ...present(type, record, stages, state), contact, contactChoice, owner };
    return { currentId, state, shape, ...customerOf({ ...contact, personId: contact?.id, locale: localeOf(contact) }) };
  };
}
