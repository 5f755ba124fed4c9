import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, invalid, notFound, scopeFor, typeOf } from './context.ts';
import type { Engagement, EngagementKind, ObjectType } from './definitions.ts';
import { shuffled } from './views.ts';

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
const associated = z.object({ inputs: z.array(z.object({ id: z.string(), after: z.string().optional() })) });

export const engagementRoutes: Route<Context>[] = (['notes', 'tasks'] as const).flatMap((kind) => {
  const batch = `/crm/objects/${version}/${kind}/batch`;
  const associations = `/crm/associations/${version}/{type:tickets|deals}/${kind}/batch/read`;
  return [
    route('POST', `${batch}/create`, (context: Context) => create(context, kind)),
    route('POST', `${batch}/read`, (context: Context) => read(context, kind)),
    route('POST', `${batch}/archive`, (context: Context) => archive(context, kind)),
    route('POST', associations, (context: Context, params) => readAssociations(context, params, kind)),
  ];
});

/** All or nothing: a note on a record that isn't there has the whole call refused. */
function create(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, created(kind));
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const { store, now, random } = context;
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
  const at = new Date(now).toISOString();
  return {
    status: 201,
    body: { status: 'COMPLETE', results: shuffled(made.map(view), random), startedAt: at, completedAt: at },
  };
}

function read(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.read');
  const { inputs } = bodyOf(context, asked);
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const ids = new Set(inputs.map(({ id }) => id));
  const found = context.store.engagements.filter((one) => one.kind === kind && ids.has(String(one.id)));
  return ok({ status: 'COMPLETE', results: shuffled(found.map(view), context.random) });
}

/** Ids that are not there are passed over. */
function archive(context: Context, kind: EngagementKind): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, doomed);
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const ids = new Set(inputs.map(({ id }) => id));
  const { engagements: all } = context.store;
  all.splice(0, all.length, ...all.filter((one) => one.kind !== kind || !ids.has(String(one.id))));
  return { status: 204 };
}

/** As for contacts: an id without notes is an error in a 207, and so is an id that was merged away. */
function readAssociations(context: Context, params: Params, kind: EngagementKind): StandinResponse {
  const type = typeOf(params.type);
  if (typeIds[kind][type] === undefined) throw notFound();
  context.need(scopeFor(type, 'read'));
  const { inputs } = bodyOf(context, associated);
  if (inputs.length === 0 || inputs.length > 1000) throw invalid('The number of inputs must be between 1 and 1000');
  const results: object[] = [];
  const errors: object[] = [];
  for (const { id, after = '0' } of inputs) {
    const record = context.store.records[type].get(Number(id));
    const all = context.store.engagements.filter(
      (one) => one.kind === kind && record?.archived === false && one.records.includes(record),
    );
    const until = Number(after) + context.settings.associationPage;
    const to = all.slice(Number(after), until).map((note) => ({
      toObjectId: note.id,
      associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: typeIds[kind][type], label: null }],
    }));
    const paging = until < all.length ? { paging: { next: { after: String(until) } } } : {};
    if (to.length > 0) results.push({ from: { id }, to: shuffled(to, context.random), ...paging });
    else
      errors.push({
        status: 'error',
        category: 'OBJECT_NOT_FOUND',
        subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
        message: `No ${kind} are associated with ${id}.`,
        context: { fromObjectId: [id] },
      });
  }
  const body = { status: 'COMPLETE', results };
  if (errors.length === 0) return ok(body);
  return { status: 207, body: { ...body, numErrors: errors.length, errors } };
}

const givenIn = (properties: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function view({ id, properties }: Engagement): object {
  return { id: String(id), properties, archived: false };
}
