import type { z } from 'zod';
import { ControlError } from '../kit/control.ts';
import { dealStage, defaultGroup, defaultPipelines, defaultProperties, listOptions, ticketStage } from './defaults.ts';
import type * as define from './definitions.ts';
import {
  type AssociationType,
  type CrmRecord,
  type Engagement,
  type ObjectType,
  type Owner,
  objectTypes,
  type Pipeline,
  type Property,
  type Source,
  type Stage,
  stageProperty,
  type WebhookTarget,
} from './definitions.ts';

const usualFieldTypes: Readonly<Record<Property['type'], string>> = {
  string: 'text',
  number: 'number',
  enumeration: 'select',
  datetime: 'date',
  date: 'date',
  bool: 'booleancheckbox',
};

const contactTypeIds: Readonly<Partial<Record<ObjectType, number>>> = { tickets: 16, deals: 3 };

/** Everything one account holds. */
export class Store {
  readonly records: Record<ObjectType, Map<number, CrmRecord>> = {
    tickets: new Map(),
    deals: new Map(),
    contacts: new Map(),
  };
  /** Old id → new id, per type. */
  readonly merged: Record<ObjectType, Map<number, number>> = {
    tickets: new Map(),
    deals: new Map(),
    contacts: new Map(),
  };
  readonly properties: Record<ObjectType, Map<string, Property>>;
  readonly groups: Record<ObjectType, Map<string, string>>;
  readonly pipelines: Record<ObjectType, Pipeline[]>;
  readonly owners = new Map<string, Owner>();
  /** `tickets:12` → contact id → how. */
  readonly contactsOf = new Map<string, Map<number, AssociationType[]>>();
  /** Deleted properties keep their definition, and come back with that. */
  readonly archivedProperties: Record<ObjectType, Map<string, Property>>;
  /** What an association of a ticket or deal with a contact may be called, beside the types HubSpot defines. */
  readonly labels: Record<ObjectType, AssociationType[]>;
  readonly engagements: Engagement[] = [];
  /** When HubSpot's own surveys were answered. */
  readonly feedback: number[] = [];
  webhook: WebhookTarget | undefined;
  #lastId = 541_935_400_000;

  constructor() {
    const perType = <Value>(value: (type: ObjectType) => Value): Record<ObjectType, Value> => ({
      tickets: value('tickets'),
      deals: value('deals'),
      contacts: value('contacts'),
    });
    this.properties = perType((type) => new Map(defaultProperties(type).map((one) => [one.name, one])));
    this.archivedProperties = perType(() => new Map());
    this.labels = perType((type) => {
      const typeId = contactTypeIds[type];
      return typeId === undefined ? [] : [{ category: 'HUBSPOT_DEFINED', typeId, label: null }];
    });
    this.groups = perType((type) => new Map([[defaultGroup[type], 'Information']]));
    this.pipelines = perType(defaultPipelines);
  }

  /** Ids have 12 digits and more. */
  nextId(): number {
    this.#lastId += 7;
    return this.#lastId;
  }

  add(type: ObjectType, definition: z.output<typeof define.recordDefinition>, source: Source, now: number): CrmRecord {
    const { id = this.nextId(), properties, contacts } = definition;
    if (this.records[type].has(id)) throw new ControlError(`there is a record ${id} in ${type} already`);
    for (const name of Object.keys(properties)) {
      if (!this.properties[type].has(name)) throw new ControlError(`${type} have no property "${name}"`);
    }
    const record: CrmRecord = {
      id,
      type,
      properties: new Map(),
      history: new Map(),
      createdAt: now,
      updatedAt: now,
      archived: false,
    };
    this.records[type].set(id, record);
    const first = this.pipelines[type][0];
    const stage = stageProperty[type];
    const placed: Record<string, string> =
      first === undefined || stage === undefined
        ? {}
        : { [type === 'tickets' ? 'hs_pipeline' : 'pipeline']: first.id, [stage]: first.stages[0]?.id ?? '' };
    const all = { ...placed, ...properties, hs_object_id: String(id), createdate: new Date(now).toISOString() };
    for (const [name, value] of Object.entries(all)) this.write(record, name, value, source, now);
    this.touch(record, source, now);
    for (const contactId of contacts) this.associate(record, contactId, undefined);
    return record;
  }

  /** Sets one value, with history and what follows from a stage. True when the value is another than before. */
  write(record: CrmRecord, name: string, value: string, source: Source, now: number): boolean {
    if ((record.properties.get(name) ?? '') === value) return false;
    if (value === '') record.properties.delete(name);
    else record.properties.set(name, value);
    const history = record.history.get(name) ?? [];
    history.push({ ...source, value, at: now });
    record.history.set(name, history);
    if (name === stageProperty[record.type]) this.#enterStage(record, value, source, now);
    return true;
  }

  touch(record: CrmRecord, source: Source, now: number): void {
    record.updatedAt = now;
    const name = record.type === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate';
    this.write(record, name, new Date(now).toISOString(), source, now);
  }

  #enterStage(record: CrmRecord, stageId: string, source: Source, now: number): void {
    const pipeline = this.pipelines[record.type].find(({ stages }) => stages.some((stage) => stage.id === stageId));
    if (pipeline !== undefined) {
      this.write(record, record.type === 'tickets' ? 'hs_pipeline' : 'pipeline', pipeline.id, source, now);
    }
    const entered = `hs_v2_date_entered_${stageId}`;
    const properties = this.properties[record.type];
    const like = properties.get('createdate');
    if (!properties.has(entered) && like !== undefined)
      properties.set(entered, { ...like, name: entered, label: `Date entered ${stageId}`, readOnly: true });
    const at = new Date(now).toISOString();
    this.write(record, entered, at, source, now);
    this.write(record, 'hs_v2_date_entered_current_stage', at, source, now);
    // Kept on reopening: whether the vendor clears it is not known, so nobody may rely on either.
    if (this.stage(record.type, stageId)?.metadata.isClosed === 'true') {
      this.write(record, record.type === 'tickets' ? 'closed_date' : 'closedate', at, source, now);
    }
  }

  stage(type: ObjectType, stageId: string): Stage | undefined {
    return this.pipelines[type].flatMap((pipeline) => pipeline.stages).find((stage) => stage.id === stageId);
  }

  /** The record, or the record that it was merged into; archived records only when asked for. */
  find(type: ObjectType, id: number, archived = false): CrmRecord | undefined {
    let current = id;
    for (let next = this.merged[type].get(current); next !== undefined; next = this.merged[type].get(current))
      current = next;
    const record = this.records[type].get(current);
    return record?.archived === archived ? record : undefined;
  }

  record(type: ObjectType, id: number): CrmRecord {
    const record = this.records[type].get(id);
    if (record === undefined) throw new ControlError(`there is no record ${id} in ${type}`);
    return record;
  }

  associate(
    record: CrmRecord,
    contactId: number,
    label: { typeId: number; label: string } | undefined,
  ): AssociationType {
    this.record('contacts', contactId);
    const typeId = contactTypeIds[record.type];
    if (typeId === undefined) throw new ControlError(`${record.type} have no contacts`);
    const key = `${record.type}:${record.id}`;
    const contacts = this.contactsOf.get(key) ?? new Map<number, AssociationType[]>();
    const own: AssociationType = { category: 'HUBSPOT_DEFINED', typeId, label: null };
    contacts.set(contactId, label === undefined ? [own] : [own, { category: 'USER_DEFINED', ...label }]);
    this.contactsOf.set(key, contacts);
    return own;
  }

  /** The contacts of a record that are there; none for a record that isn't, be it deleted or merged away. */
  contactsHere(type: ObjectType, id: number): [contactId: number, how: AssociationType[]][] {
    if (this.records[type].get(id)?.archived !== false) return [];
    return [...(this.contactsOf.get(`${type}:${id}`) ?? [])].filter(
      ([contactId]) => this.records.contacts.get(contactId)?.archived === false,
    );
  }

  /** Old records lead to the new record from now on; what was associated with them is associated with the new record. */
  leadTo(record: CrmRecord, old: readonly CrmRecord[]): void {
    const { type } = record;
    const own = this.contactsOf.get(`${type}:${record.id}`) ?? new Map<number, AssociationType[]>();
    for (const { id } of old) {
      for (const [contactId, how] of this.contactsOf.get(`${type}:${id}`) ?? []) {
        if (!own.has(contactId)) own.set(contactId, how);
      }
      this.contactsOf.delete(`${type}:${id}`);
    }
    if (own.size > 0) this.contactsOf.set(`${type}:${record.id}`, own);
    this.#combineHistories(record, old);
    const before = record.properties.get('hs_merged_object_ids')?.split(';') ?? [];
    record.properties.set('hs_merged_object_ids', [...before, ...old.map(({ id }) => id)].join(';'));
    for (const one of this.engagements) {
      if (one.records.some((each) => old.includes(each))) one.records = [...one.records, record];
    }
    for (const one of old) {
      one.archived = true;
      this.merged[type].set(one.id, record.id);
      if (type !== 'contacts') continue;
      for (const contacts of this.contactsOf.values()) {
        const how = contacts.get(one.id);
        if (how !== undefined && !contacts.has(record.id)) contacts.set(record.id, how);
        contacts.delete(one.id);
      }
    }
  }

  /** The record that a merge makes has the changes of all records that it was made from. */
  #combineHistories(record: CrmRecord, old: readonly CrmRecord[]): void {
    for (const [name, items] of old.flatMap(({ history }) => [...history])) {
      const all = [...(record.history.get(name) ?? []), ...items];
      record.history.set(
        name,
        all.toSorted((a, b) => a.at - b.at),
      );
    }
  }

  addOwner({
    id = String(this.nextId()),
    userId = 98_000_000 + this.owners.size,
    ...rest
  }: z.output<typeof define.ownerDefinition>): Owner {
    const owner: Owner = { id, ...rest, userId };
    this.owners.set(id, owner);
    return owner;
  }

  addPipeline({ type, id, label, archived, stages }: z.output<typeof define.pipelineDefinition>): Pipeline {
    const pipeline: Pipeline = {
      id,
      label,
      displayOrder: this.pipelines[type].length,
      archived,
      stages: stages.map((stage, index) => ({
        ...(type === 'tickets'
          ? ticketStage(stage.id, stage.label, index, stage.closed)
          : dealStage(stage.id, stage.label, index, stage.probability)),
        archived: stage.archived,
      })),
    };
    this.pipelines[type].push(pipeline);
    return pipeline;
  }

  addProperty({
    type,
    name,
    label = name,
    kind,
    fieldType = usualFieldTypes[kind],
    options,
    readOnly,
    sensitive,
    calculated,
  }: z.output<typeof define.propertyDefinition>): Property {
    const property: Property = {
      name,
      label,
      type: kind,
      fieldType,
      groupName: defaultGroup[type],
      description: '',
      options: listOptions(kind === 'bool' && options.length === 0 ? ['true', 'false'] : options),
      readOnly,
      sensitive,
      hubspotDefined: false,
      calculated,
      archived: false,
    };
    this.properties[type].set(name, property);
    return property;
  }

  archiveProperty(type: ObjectType, name: string): void {
    const property = this.properties[type].get(name);
    if (property === undefined) throw new ControlError(`${type} have no property "${name}"`);
    property.archived = true;
    this.properties[type].delete(name);
    this.archivedProperties[type].set(name, property);
  }

  all(): CrmRecord[] {
    return objectTypes.flatMap((type) => [...this.records[type].values()]);
  }
}
