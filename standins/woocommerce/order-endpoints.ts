import { z } from 'zod';
import { jsonBody, ok, Problem, type StandinResponse } from '../kit/message.ts';
import { type Params, type Route, route } from '../kit/router.ts';
import { type Context, invalidParam, noSuchOrder, problem } from './context.ts';
import type { Order } from './definitions.ts';
import { onlyFields, viewNote, viewOrder } from './views.ts';

const base = '/wp-json/wc/v3/orders';
const batchLimit = 100;

const Id = z.int().positive();
const MetaEntry = z.object({ id: z.int().optional(), key: z.string().min(1), value: z.unknown() });
const Update = z.looseObject({
  status: z.string().optional(),
  customer_note: z.string().optional(),
  meta_data: z.array(MetaEntry).optional(),
});
/** Their mere presence makes WooCommerce calculate the totals anew. */
const recalculating = ['billing', 'shipping', 'line_items', 'shipping_lines', 'fee_lines', 'coupon_lines'];

const Batch = z.object({
  create: z.array(z.unknown()).default([]),
  update: z.array(z.looseObject({ id: z.unknown() })).default([]),
  delete: z.array(z.unknown()).default([]),
});

const NewNote = z.object({
  note: z.string().min(1),
  customer_note: z.boolean().default(false),
  added_by_user: z.boolean().default(false),
});

export const orderRoutes: Route<Context>[] = [
  route('GET', base, list),
  route('POST', `${base}/batch`, batch),
  route('GET', `${base}/{id:\\d+}`, (context, params) => shown(context, here(context, params))),
  route('PUT', `${base}/{id:\\d+}`, (context, params) =>
    shown(context, update(context, here(context, params), jsonBody(context.req))),
  ),
  route('GET', `${base}/{id:\\d+}/notes`, (context, params) => ok(here(context, params).notes.map(viewNote))),
  route('POST', `${base}/{id:\\d+}/notes`, addNote),
  route('DELETE', `${base}/{id:\\d+}/notes/{note:\\d+}`, deleteNote),
];

function here({ store }: Context, { id }: Params): Order {
  const order = store.orders.get(Number(id));
  if (order === undefined) throw noSuchOrder();
  return order;
}

function shown({ site, query }: Context, order: Order): StandinResponse {
  return ok(onlyFields(viewOrder(order, site), query.get('_fields')));
}

const Flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
const WholeNumber = z.string().regex(/^\d+$/, 'is not an integer').transform(Number);
const LocalDate = z.iso.datetime({ local: true, offset: true });

const ListQuery = z.strictObject({
  page: WholeNumber.pipe(z.number().min(1)).default(1),
  per_page: WholeNumber.pipe(z.number().min(1).max(100)).default(10),
  include: z
    .string()
    .regex(/^\d+(,\d+)*$/)
    .exactOptional(),
  status: z.string().default('any'),
  modified_after: LocalDate.exactOptional(),
  dates_are_gmt: Flag.default(false),
  orderby: z.enum(['date', 'modified', 'id', 'include', 'title', 'slug']).default('date'),
  order: z.enum(['asc', 'desc']).default('desc'),
  _fields: z.string().exactOptional(),
  consumer_key: z.string().exactOptional(),
  consumer_secret: z.string().exactOptional(),
});

function list({ query, store, site }: Context): StandinResponse {
  const parsed = ListQuery.safeParse(Object.fromEntries(query));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = issue?.code === 'unrecognized_keys' ? issue.keys[0] : String(issue?.path[0]);
    throw invalidParam(name ?? '', issue?.message ?? '');
  }
  const { page, per_page, include, status, modified_after, dates_are_gmt, orderby, order, _fields } = parsed.data;
  const statuses = status.split(',');
  const unknown = statuses.find((one) => one !== 'any' && one !== 'trash' && !store.statuses.has(one));
  if (unknown !== undefined) throw invalidParam('status', `status[0] is not one of ${[...store.statuses].join(', ')}.`);

  const ids = include === undefined ? undefined : new Set(include.split(',').map(Number));
  const after = modified_after === undefined ? undefined : instant(modified_after, dates_are_gmt);
  const by = (one: Order): number =>
    orderby === 'modified' ? one.modifiedAt : orderby === 'id' ? one.id : one.createdAt;
  const found = [...store.orders.values()]
    .filter((one) => ids?.has(one.id) ?? true)
    .filter((one) => (statuses.includes('any') ? one.status !== 'trash' : statuses.includes(one.status)))
    // Whole seconds, as the database holds them.
    .filter((one) => after === undefined || Math.floor(one.modifiedAt / 1000) * 1000 > after)
    .sort((a, b) => (by(a) - by(b) || a.id - b.id) * (order === 'asc' ? 1 : -1));
  return {
    status: 200,
    headers: { 'x-wp-total': String(found.length), 'x-wp-totalpages': String(Math.ceil(found.length / per_page)) },
    body: found
      .slice((page - 1) * per_page, page * per_page)
      .map((one) => onlyFields(viewOrder(one, site), _fields ?? null)),
  };
}

/** Without `dates_are_gmt` a date is the site's own time. */
function instant(text: string, isGmt: boolean): number {
  if (/(?:Z|[+-]\d\d:\d\d)$/.test(text)) return Date.parse(text);
  return Date.parse(`${text}Z`) - (isGmt ? 0 : 3_600_000);
}

function update({ store, now, saved }: Context, order: Order, body: unknown): Order {
  const parsed = Update.safeParse(body ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalidParam(String(issue?.path[0] ?? ''), issue?.message ?? '');
  }
  const { status, meta_data } = parsed.data;
  if (status !== undefined && !store.statuses.has(status)) {
    throw invalidParam('status', `status is not one of ${[...store.statuses].join(', ')}.`);
  }
  if (recalculating.some((name) => name in parsed.data)) order.recalculations += 1;
  if (meta_data !== undefined) store.writeMeta(order, meta_data);
  if (status === undefined) store.touch(order, now);
  else store.enter(order, status, now);
  saved(order);
  return order;
}

/** 200 with each failed row's error in its place. */
function batch(context: Context): StandinResponse {
  const parsed = Batch.safeParse(jsonBody(context.req) ?? {});
  if (!parsed.success) throw invalidParam('update', 'is not an array');
  const { create, update: rows, delete: gone } = parsed.data;
  if (create.length + rows.length + gone.length > batchLimit) {
    throw problem(
      413,
      'woocommerce_rest_request_entity_too_large',
      `Unable to accept more than ${batchLimit} items for this request.`,
    );
  }
  if (create.length + gone.length > 0) throw problem(501, 'standin', 'The stand-in updates only.');
  const answers = rows.map(({ id, ...change }) => {
    try {
      const parsedId = Id.safeParse(id);
      const order = parsedId.success ? context.store.orders.get(parsedId.data) : undefined;
      if (order === undefined) throw noSuchOrder();
      return viewOrder(update(context, order, change), context.site);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { id, error: error.response.body };
    }
  });
  // An empty PHP array is a list, whatever it was meant to be.
  return ok(answers.length === 0 ? [] : { update: answers });
}

function addNote(context: Context, params: Params): StandinResponse {
  const order = here(context, params);
  const parsed = NewNote.safeParse(jsonBody(context.req) ?? {});
  if (!parsed.success) throw problem(400, 'rest_missing_callback_param', 'Missing parameter(s): note');
  const { note, customer_note: customerNote } = parsed.data;
  // Tags are filtered away.
  const text = note.replace(/<\/?[a-z][^>]*>/gi, '');
  const added = { id: context.store.nextId(), note: text, customerNote, at: context.now };
  order.notes.push(added);
  if (customerNote) order.mails += 1;
  return { status: 201, body: viewNote(added) };
}

/** Notes have no trash, so without `force` nothing is deleted. */
function deleteNote(context: Context, params: Params): StandinResponse {
  const order = here(context, params);
  const note = order.notes.find(({ id }) => id === Number(params.note));
  if (note === undefined) throw problem(404, 'woocommerce_rest_invalid_id', 'Invalid resource ID.');
  if (context.query.get('force') !== 'true') {
    throw problem(501, 'woocommerce_rest_trash_not_supported', 'Webhooks do not support trashing.');
  }
  order.notes = order.notes.filter((one) => one !== note);
  return ok(viewNote(note));
}
