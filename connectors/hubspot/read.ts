import { chunks } from '../../core/connector/batches.ts';
import type { ConnectorPorts, ReadResult, RecordState } from '../../core/connector/contract.ts';
import { customerOf } from '../../core/connector/customer.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { HubSpotApi } from './api.ts';
import { BatchResponse, type BatchResult, type Fate, fates, livingOn, mergedIds } from './batch.ts';
import { type RawRecord, stageOf, stateOf } from './closing.ts';
import { type ContactChoice, chooseContacts } from './contacts.ts';
import { type ObjectType, objectTypes, parseRecordId, paths, recordId } from './objects.ts';
import type { OwnerReader } from './owners.ts';
import type { PipelineReader, Pipelines } from './pipelines.ts';
import { type HubSpotShape, localeOf, present } from './record.ts';
import type { HubSpotSettings } from './settings.ts';

/** Per 1,000 closed tickets: 20 + 1 (associations) + 10 (contacts) calls; pipelines and owners are cached. */
export function reader(
  settings: HubSpotSettings,
  api: HubSpotApi,
  ports: ConnectorPorts,
  pipelines: Record<ObjectType, PipelineReader>,
  owners: OwnerReader,
) {
  return async (recordIds: readonly string[]): Promise<ReadResult<HubSpotShape>[]> => {
    const wanted: Record<ObjectType, Set<string>> = { ticket: new Set(), deal: new Set() };
    for (const { type, id } of recordIds.flatMap((name) => parseRecordId(name) ?? [])) wanted[type].add(id);
    const context = { settings, api, owners, now: ports.now() };
    const [tickets, deals] = await Promise.all([
      readType({ ...context, type: 'ticket', pipelines: pipelines.ticket }, [...wanted.ticket]),
      readType({ ...context, type: 'deal', pipelines: pipelines.deal }, [...wanted.deal]),
    ]);
    const results = new Map([...tickets, ...deals]);
    return recordIds.map((name) => results.get(name) ?? { ok: false, why: 'not-found' });
  };
}

interface StandingContext {
  type: ObjectType;
  settings: HubSpotSettings;
  api: HubSpotApi;
  pipelines: PipelineReader;
  now: Date;
}

interface Context extends StandingContext {
  owners: OwnerReader;
}

/** A record, where it stands, and the pipelines it stands in. */
export interface Standing {
  type: ObjectType;
  record: RawRecord;
  state: RecordState;
  stages: Pipelines;
}

/** By the requested id; those that HubSpot does not have are left out. */
export async function readStandings(
  context: StandingContext,
  ids: readonly string[],
): Promise<Map<string, Standing | CloseloopError>> {
  const { type, settings, now } = context;
  const found = await readRecords(context, ids);
  const records = [...found.values()].flatMap((fate) => (fate.is === 'done' ? [raw(type, fate.result)] : []));
  const stages = await context.pipelines.read(records.map((record) => stageOf(type, record)));
  const standings = new Map<string, Standing | CloseloopError>();
  for (const [id, fate] of found) {
    if (fate.is === 'refused') standings.set(id, fate.error);
    if (fate.is !== 'done') continue;
    const record = raw(type, fate.result);
    const state = stateOf(type, record, stages, settings, now);
    standings.set(id, state.is === 'unclear' ? unclear(type) : { type, record, state, stages });
  }
  return standings;
}

/** By the requested id, as `recordId` writes it. */
async function readType(context: Context, ids: readonly string[]): Promise<Map<string, ReadResult<HubSpotShape>>> {
  if (ids.length === 0) return new Map();
  const { type } = context;
  const standings = await readStandings(context, ids);
  const closed = [...standings.values()].flatMap((one) =>
    one instanceof CloseloopError || one.state.is !== 'closed' ? [] : [one.record],
  );
  const people = await readPeople(context, closed);

  return new Map(ids.map((id) => [recordId(type, id), resultFor(id)]));

  function resultFor(id: string): ReadResult<HubSpotShape> {
    const standing = standings.get(id);
    if (standing === undefined) return { ok: false, why: 'not-found' };
    if (standing instanceof CloseloopError) return { ok: false, why: 'error', error: standing };
    const { record, state, stages } = standing;
    const ids = { id: recordId(type, id), currentId: recordId(type, record.id) };
    const choice = people.contacts.get(record.id) ?? { contact: null, why: `the ${type} is not closed: not looked up` };
    if (choice instanceof CloseloopError) return { ok: false, why: 'error', error: choice };
    const { contact, why: contactChoice } = choice;
    const owner = people.owners.get(record.properties.hubspot_owner_id ?? '') ?? null;
    const shape = { ...present(type, record, stages, state), contact, contactChoice, owner };
    const customer = customerOf({ ...contact, personId: contact?.id, locale: localeOf(contact) });
    return { ok: true, record: { ...ids, state, shape, ...customer } };
  }
}

/** Ids without a result are read alone: the result then belongs to them, also after a merge. */
async function readRecords(context: StandingContext, ids: readonly string[]): Promise<Map<string, Fate<BatchResult>>> {
  const { type, settings, api } = context;
  const { plural, stage, pipeline, properties } = objectTypes[type];
  const path = paths.batchRead(plural);
  const shown = [...properties, ...settings.properties];
  const found = new Map<string, Fate<BatchResult>>();
  const readSome = async (some: readonly string[]) => {
    const body = {
      inputs: some.map((id) => ({ id })),
      properties: [...new Set([stage, pipeline, mergedIds, ...shown])],
      propertiesWithHistory: [stage],
    };
    const answer = await api.call('POST', path, BatchResponse, { body });
    for (const [id, fate] of fates(`POST ${path}`, some, answer)) found.set(id, fate);
    for (const [id, result] of livingOn(some, answer.results)) found.set(id, { is: 'done', result });
  };
  await Promise.all(chunks(ids, settings.historyPerCall).map(readSome));
  await Promise.all(ids.filter((id) => !found.has(id)).map((id) => readSome([id])));
  return found;
}

function raw(type: ObjectType, { id, properties, propertiesWithHistory }: BatchResult): RawRecord {
  return { id, properties, history: propertiesWithHistory?.[objectTypes[type].stage] ?? [] };
}

interface People {
  contacts: Map<string, ContactChoice | CloseloopError>;
  owners: Awaited<ReturnType<OwnerReader['read']>>;
}

async function readPeople({ api, type, settings, owners }: Context, records: readonly RawRecord[]): Promise<People> {
  const ids = [...new Set(records.map(({ id }) => id))];
  const ownerIds = [...new Set(records.flatMap(({ properties }) => properties.hubspot_owner_id || []))];
  const [contacts, known] = await Promise.all([chooseContacts(api, type, ids, settings), owners.read(ownerIds)]);
  return { contacts, owners: known };
}

const unclear = (type: ObjectType) =>
  new CloseloopError(`HubSpot shows the ${type} as closed but its stage history has no closing yet; read again`, {
    kind: 'transient',
  });
