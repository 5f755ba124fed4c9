import type { CrmRecord, Owner, Pipeline, Property } from './definitions.ts';
import type { Store } from './store.ts';

/** Every value is text; a wanted property without a value is null; a name that no property has is left out. */
export function viewRecord(
  store: Store,
  record: CrmRecord,
  wanted: { properties: readonly string[]; propertiesWithHistory?: readonly string[] },
  random: () => number,
): object {
  const modified = record.type === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate';
  const known = store.properties[record.type];
  const names = new Set([
    'createdate',
    modified,
    'hs_object_id',
    ...wanted.properties,
    ...(wanted.propertiesWithHistory ?? []),
  ]);
  const properties = Object.fromEntries(
    [...names].filter((name) => known.has(name)).map((name) => [name, record.properties.get(name) ?? null]),
  );
  const histories = (wanted.propertiesWithHistory ?? []).filter((name) => known.has(name));
  return {
    id: String(record.id),
    properties,
    ...(histories.length === 0
      ? {}
      : {
          propertiesWithHistory: Object.fromEntries(histories.map((name) => [name, viewHistory(record, name, random)])),
        }),
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    archived: record.archived,
  };
}

/** In no documented order. */
function viewHistory(record: CrmRecord, name: string, random: () => number): object[] {
  const items = (record.history.get(name) ?? []).map(({ value, at, changeSource, sourceId }) => ({
    value,
    timestamp: new Date(at).toISOString(),
    sourceType: changeSource,
    sourceId,
    sourceLabel: null,
    ...(sourceId.startsWith('userId:') ? { updatedByUserId: Number(sourceId.slice('userId:'.length)) } : {}),
  }));
  return shuffled(items, random);
}

export function viewPipeline({ id, label, displayOrder, archived, stages }: Pipeline): object {
  const times = { createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' };
  return {
    id,
    label,
    displayOrder,
    ...times,
    archived,
    stages: stages.map((stage) => ({ ...stage, ...times, writePermissions: 'CRM_PERMISSIONS_ENFORCEMENT' })),
  };
}

/** Pipelines and stages are the options of their properties. */
export function viewProperty(
  { readOnly, hubspotDefined, sensitive, ...property }: Property,
  pipelines: readonly Pipeline[],
): object {
  const listed =
    property.name === 'hs_pipeline' || property.name === 'pipeline'
      ? pipelines
      : property.name === 'hs_pipeline_stage' || property.name === 'dealstage'
        ? pipelines.flatMap(({ stages }) => stages)
        : undefined;
  const options = listed?.map(({ id, label }, displayOrder) => ({ label, value: id, displayOrder, hidden: false }));
  return {
    ...property,
    ...(options === undefined ? {} : { options }),
    dataSensitivity: sensitive ? 'sensitive' : 'non_sensitive',
    displayOrder: -1,
    externalOptions: property.name === 'hubspot_owner_id',
    hasUniqueValue: property.name === 'hs_object_id',
    hidden: false,
    hubspotDefined,
    formField: false,
    modificationMetadata: {
      archivable: !hubspotDefined,
      readOnlyDefinition: hubspotDefined,
      readOnlyValue: readOnly || property.calculated,
    },
  };
}

export function viewOwner({ id, email, firstName, lastName, userId, type, archived }: Owner): object {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id,
    email,
    type,
    firstName,
    lastName,
    userId,
    userIdIncludingInactive: userId,
    teams: [],
    createdAt: at,
    updatedAt: at,
    archived,
  };
}

export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  // One random key per item: the same numbers give the same order.
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
