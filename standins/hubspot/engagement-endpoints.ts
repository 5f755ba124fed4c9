import { z } from 'zod';
import type { StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { batchAnswer, bodyOf, type Context, checkSize, invalid, notFound, scopeFor, typeOf } from './context.ts';
import type { Engagement, EngagementKind, ObjectType } from './definitions.ts';
import { readAssociations } from './other-endpoints.ts';

const version = '{version:\\d{4}-\\d{2}}';
/** Note to ticket, note to deal; task to ticket, task to deal. */
const typeIds: Readonly<Record<EngagementKind, Readonly<Partial<Record<ObjectType, number>>>>> = {
  notes: { tickets: 228, deals: 214 },
  tasks: { tickets: 230, deals: 216 },
};
const longestBody = 65_536;

const body = z.string().max(longestBody);
/** All values are texts; a property that the kind does not have is refused. */
const properties = {
  notes: z.strictObject({
    hs_timestamp: z.iso.datetime(),
    hs_note_body: body,
    hubspot_owner_id: z.string().optional(),
  }),
  tasks: z.strictObject({
    hs_timestamp: z.iso.datetime(),
    hs_task_subject: z.string().optional(),
    hs_task_body: body.optional(),
    hs_task_status: z.enum(['NOT_STARTED', 'COMPLETED']).optional(),
    hs_task_priority: z.enum(['LOW', 'MEDIUM', 'HIGH', 'NONE']).optional(),
    hs_task_type: z.enum(['EMAIL', 'CALL', 'TODO']).optional(),
    hubspot_owner_id: z.string().optional(),
  }),
};
const created = (kind: EngagementKind) =>
  z.object({
    inputs: z.array(
      z.object({
        properties: properties[kind],
        associations: z.array(
          z.object({
            to: z.object({ id: z.string() }),
            types: z.array(
              z.object({ associationCategory: z.literal('HUBSPOT_DEFINED'), associationTypeId: z.number().int() }),
            ),
          }),
        ),
        objectWriteTraceId: z.string().optional(),
      }),
    ),
  });
const asked = z.object({
  inputs: z.array(z.object({ id: z.string() })),
  properties: z.array(z.string()),
  propertiesWithHistory: z.array(z.string()),
});
const doomed = z.object({ inputs: z.array(z.object({ id: z.string() })) });

export const engagementRoutes: Route<Context>[] = (['notes', 'tasks'] as const).flatMap((kind) => {
  const batch = `/crm/objects/${version}/${kind}/batch`;
  const associations = `/crm/associations/${version}/{type:tickets|deals}/${kind}/batch/read`;
  return [
    route('POST', `${batch}/create`, (context: Context) => create(context, kind)),
    route('POST', `${batch}/read`, (context: Context) => read(context, kind)),
    route('POST', `${batch}/archive`, (context: Context) => archive(context, kind)),
    route('POST', associations, (context: Context, params) => notesOf(context, params, kind)),
  ];
});

/** All or nothing: a note on a record that isn't there has the whole call refused. */
function create(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, created(kind));
  checkSize(inputs, 100);
  const { store } = context;
  const made = inputs.map(({ properties, associations }): Engagement => {
    const { hubspot_owner_id: owner } = properties;
    if (owner !== undefined && !store.owners.has(owner)) throw invalid('hubspot_owner_id is not the id of an owner');
    const records = associations.flatMap(({ to, types }) =>
      types.map(({ associationTypeId }) => {
        const type = (['tickets', 'deals'] as const).find((one) => typeIds[kind][one] === associationTypeId);
        const record = type === undefined ? undefined : store.find(type, Number(to.id));
        if (record === undefined) throw invalid('An association leads to a record that does not exist');
        return record;
      }),
    );
    return { id: store.nextId(), kind, properties: givenIn(properties), records };
  });
  store.engagements.push(...made);
  return { ...batchAnswer(context, made.map(view)), status: 201 };
}

function read(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.read');
  const { inputs } = bodyOf(context, asked);
  checkSize(inputs, 100);
  const ids = new Set(inputs.map(({ id }) => id));
  const found = context.store.engagements.filter((one) => one.kind === kind && ids.has(String(one.id)));
  return batchAnswer(context, found.map(view));
}

/** Ids that are not there are passed over. */
function archive(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, doomed);
  checkSize(inputs, 100);
  const ids = new Set(inputs.map(({ id }) => id));
  const { engagements: all } = context.store;
  all.splice(0, all.length, ...all.filter((one) => one.kind !== kind || !ids.has(String(one.id))));
  return { status: 204 };
}

function notesOf(context: Context, params: Params, kind: EngagementKind): StandinResponse {
  const type = typeOf(params.type);
  const typeId = typeIds[kind][type];
  if (typeId === undefined) throw notFound();
  context.need(scopeFor(type, 'read'));
  const associationTypes = [{ category: 'HUBSPOT_DEFINED', typeId, label: null }];
  return readAssociations(context, {
    of: (id) => {
      const record = context.store.records[type].get(Number(id));
      if (record?.archived !== false) return [];
      const all = context.store.engagements.filter((one) => one.kind === kind && one.records.includes(record));
      return all.map((note) => ({ toObjectId: note.id, associationTypes }));
    },
    none: (id) => ({ message: `No ${kind} are associated with ${id}.`, context: { fromObjectId: [id] } }),
  });
}

const givenIn = (properties: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function view({ id, properties }: Engagement): object {
  return { id: String(id), properties, archived: false };
}
