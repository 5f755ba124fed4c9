import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import type { Note } from './model.ts';
import { invalid, notFound } from './problem.ts';
import { bodyOf, scopeFor, typeOf } from './request-body.ts';
import { shuffled } from './views.ts';

const version = '{version:\\d{4}-\\d{2}}';
const notes = `/crm/objects/${version}/notes/batch`;

/** Note to ticket, note to deal. */
const noteTypeIds: Readonly<Record<string, number>> = { tickets: 228, deals: 214 };
const longestBody = 65_536;

const created = z.object({
  inputs: z.array(
    z.object({
      properties: z.object({ hs_timestamp: z.iso.datetime(), hs_note_body: z.string().max(longestBody) }),
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

export const noteRoutes: Route<Context>[] = [
  route('POST', `${notes}/create`, create),
  route('POST', `${notes}/read`, read),
  route('POST', `${notes}/archive`, archive),
  route('POST', `/crm/associations/${version}/{type:tickets|deals}/notes/batch/read`, readAssociations),
];

/** All or nothing: a note on a record that isn't there has the whole call refused. */
function create(context: Context): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, created);
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const { store, now, random } = context;
  const made = inputs.map(({ properties, associations }): Note => {
    const records = associations.flatMap(({ to, types }) =>
      types.map(({ associationTypeId }) => {
        const type = (['tickets', 'deals'] as const).find((one) => noteTypeIds[one] === associationTypeId);
        const record = type === undefined ? undefined : store.find(type, Number(to.id));
        if (record === undefined) throw invalid('An association leads to a record that does not exist');
        return record;
      }),
    );
    return { id: store.nextId(), at: properties.hs_timestamp, body: properties.hs_note_body, records };
  });
  store.notes.push(...made);
  const at = new Date(now).toISOString();
  return {
    status: 201,
    body: { status: 'COMPLETE', results: shuffled(made.map(view), random), startedAt: at, completedAt: at },
  };
}

function read(context: Context): StandinResponse {
  context.need('crm.objects.contacts.read');
  const { inputs } = bodyOf(context, asked);
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const ids = new Set(inputs.map(({ id }) => id));
  const found = context.store.notes.filter(({ id }) => ids.has(String(id)));
  return ok({ status: 'COMPLETE', results: shuffled(found.map(view), context.random) });
}

/** Ids of notes that are not there are passed over. */
function archive(context: Context): StandinResponse {
  context.need('crm.objects.contacts.write');
  const { inputs } = bodyOf(context, doomed);
  if (inputs.length === 0 || inputs.length > 100) throw invalid('The number of inputs must be between 1 and 100');
  const ids = new Set(inputs.map(({ id }) => id));
  const { notes } = context.store;
  notes.splice(0, notes.length, ...notes.filter(({ id }) => !ids.has(String(id))));
  return { status: 204 };
}

/** As for contacts: an id without notes is an error in a 207, and so is an id that was merged away. */
function readAssociations(context: Context, params: Params): StandinResponse {
  const type = typeOf(params.type);
  if (noteTypeIds[type] === undefined) throw notFound();
  context.need(scopeFor(type, 'read'));
  const { inputs } = bodyOf(context, associated);
  if (inputs.length === 0 || inputs.length > 1000) throw invalid('The number of inputs must be between 1 and 1000');
  const results: object[] = [];
  const errors: object[] = [];
  for (const { id, after = '0' } of inputs) {
    const record = context.store.records[type].get(Number(id));
    const all = context.store.notes.filter(({ records }) => record?.archived === false && records.includes(record));
    const until = Number(after) + context.settings.associationPage;
    const to = all.slice(Number(after), until).map((note) => ({
      toObjectId: note.id,
      associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: noteTypeIds[type], label: null }],
    }));
    const paging = until < all.length ? { paging: { next: { after: String(until) } } } : {};
    if (to.length > 0) results.push({ from: { id }, to: shuffled(to, context.random), ...paging });
    else
      errors.push({
        status: 'error',
        category: 'OBJECT_NOT_FOUND',
        subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
        message: `No note is associated with ${id}.`,
        context: { fromObjectId: [id] },
      });
  }
  const body = { status: 'COMPLETE', results };
  if (errors.length === 0) return ok(body);
  return { status: 207, body: { ...body, numErrors: errors.length, errors } };
}

function view({ id, at, body }: Note): object {
  return { id: String(id), properties: { hs_timestamp: at, hs_note_body: body }, archived: false };
}
