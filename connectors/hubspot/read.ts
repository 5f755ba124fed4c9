import type { RecordState } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import type { DeskReading } from '../../core/connector/desk/desk.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { idsByType, type ObjectType, objectTypes, parseRecordId, recordId } from './objects.ts';
import { chooseContacts, type OwnerReader } from './people.ts';
import type { PipelineReader, Pipelines } from './pipelines.ts';
import { type HubSpotShape, localeOf, present, type RawRecord, stageOf, stateOf } from './record.ts';
import { isFound, mergedIds, Records } from './records.ts';
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
    const read = idsByType(recordIds).map(([type, ids]) => standings(context, type, ids));
    return new Map((await Promise.all(read)).flat());
  },
  present: (rows) => presenter(context, rows),
});

/** The records by the requested id. Records that HubSpot does not have are left out. */
async function standings({ settings, api, pipelines, now }: Context, type: ObjectType, ids: readonly string[]) {
  const { plural, stage, pipeline, properties } = objectTypes[type];
  const shown = [...new Set([stage, pipeline, mergedIds, ...properties, ...settings.properties])];
  const found = await new Records(api, plural).read(ids, shown, { history: stage, size: settings.historyPerCall });
  const stages = await pipelines[type]([...found.values()].filter(isFound).map((record) => stageOf(type, record)));
  return [...found].flatMap(([id, record]): [string, Standing | CloseloopError][] => {
    if (record === undefined) return [];
    if (isFailure(record)) return [[recordId(type, id), record]];
    const state = stateOf(type, record, stages, settings, now());
    return [[recordId(type, id), state.is === 'unclear' ? unclear(type) : { type, record, state, stages }]];
  });
}

const unclear = (type: ObjectType) =>
  new CloseloopError(`HubSpot shows the ${type} as closed but its stage history has no closing yet; read again`, {
    kind: 'transient',
  });

/** Contacts and owners are read for closed records only. */
async function presenter({ settings, api, owners }: Context, rows: readonly Standing[]) {
  const closed = rows.filter(({ state }) => state.is === 'closed');
  const recordIds = closed.map(({ type, record }) => recordId(type, record.id));
  const choosing = idsByType(recordIds).map(async ([type, ids]) =>
    [...(await chooseContacts(api, type, ids, settings))].map(([id, one]) => [recordId(type, id), one] as const),
  );
  const ownerIds = closed.flatMap(({ record }) => record.properties.hubspot_owner_id || []);
  const [chosen, known] = await Promise.all([Promise.all(choosing), owners.read([...new Set(ownerIds)])]);
  const choices = new Map(chosen.flat());

  return ({ type, record, state, stages }: Standing) => {
    const currentId = recordId(type, record.id);
    const choice = choices.get(currentId) ?? { contact: null, why: `the ${type} is not closed: not looked up` };
    if (isFailure(choice)) return choice;
    const { contact, why: contactChoice } = choice;
    const owner = known.get(record.properties.hubspot_owner_id ?? '') ?? null;
    const shape = { ...present(type, record, stages, state), contact, contactChoice, owner };
    return { currentId, state, shape, ...customerOf({ ...contact, personId: contact?.id, locale: localeOf(contact) }) };
  };
}
