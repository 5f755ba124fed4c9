import { z } from 'zod';

/*
 * ASSUMPTIONS. The specification doesn't show the wire form of get, create, grade, comment and cancel, nor the fields
 * of a feedback request's record, nor filters of its list. Everything assumed about them is in `assumedOperations`,
 * and `feedback.operations` in the configuration overrides any part of it.
 *
 * A place is a dot path from the root of a JSON body: `grade`, `data.attributes.grade`; '' is the root itself.
 */

const segments = /^[^.\s]+(?:\.[^.\s]+)*$/;
const unsafeSegment = /(?:^|\.)(?:__proto__|prototype|constructor)(?:\.|$)/;

const Place = z
  .string()
  .regex(segments, { error: 'is not a place in a JSON body; give a name or a dot path such as data.grade' })
  .refine((text) => !unsafeSegment.test(text), { error: 'holds a name that JavaScript reserves' });
const RootOrPlace = z.union([z.literal(''), Place]);
/** Null: not sent (in a body), not there (in a record). */
const PlaceOrNone = Place.nullable();

const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** A GET may be repeated by us and by anything on the way, so nothing that changes something is one. */
const ChangeMethod = Method.exclude(['GET']);
const Scalar = z.union([z.string(), z.number(), z.boolean()]);
/** Sent as they are, whatever the call: `{data.type: appeal}`. */
const Constants = z.record(Place, Scalar);
/** From the base address on, with `:id` or `:campaign` in the path or the query: `/appeals/get?number=:id`. */
const PathTemplate = z.string().superRefine((text, context) => {
  const flaw = pathFlaw(text);
  if (flaw !== undefined) context.addIssue({ code: 'custom', message: flaw });
});

const Create = z.strictObject({
  method: ChangeMethod,
  path: PathTemplate,
  body: z.strictObject({
    campaign: PlaceOrNone,
    /** Exactly one of the three is sent; the same place may serve all. */
    phone: PlaceOrNone,
    email: PlaceOrNone,
    identifier: PlaceOrNone,
    scheduled: PlaceOrNone,
    /** '' puts the values at the root, beside the other ones. */
    customFields: RootOrPlace.nullable(),
  }),
  constants: Constants,
  /** Where the record is in the answer. */
  record: RootOrPlace,
});

const Get = z.strictObject({
  method: Method,
  path: PathTemplate,
  body: z.strictObject({ id: PlaceOrNone }),
  constants: Constants,
  record: RootOrPlace,
});

const Grade = z.strictObject({
  method: ChangeMethod,
  path: PathTemplate,
  body: z.strictObject({ id: PlaceOrNone, grade: PlaceOrNone }),
  constants: Constants,
});

const Comment = z.strictObject({
  method: ChangeMethod,
  path: PathTemplate,
  body: z.strictObject({ id: PlaceOrNone, comment: PlaceOrNone }),
  constants: Constants,
});

const Cancel = z.strictObject({
  method: ChangeMethod,
  path: PathTemplate,
  body: z.strictObject({ id: PlaceOrNone }),
  constants: Constants,
});

/** `object`: {name: value}. `array`: [{name, value}], with the two keys called as given. Both are understood in a record. */
const CustomFieldLayout = z.strictObject({ layout: z.enum(['object', 'array']), name: Place, value: Place });

const RecordFields = z.strictObject({
  id: Place,
  campaign: PlaceOrNone,
  phone: PlaceOrNone,
  email: PlaceOrNone,
  identifier: PlaceOrNone,
  scheduled: PlaceOrNone,
  status: PlaceOrNone,
  grade: PlaceOrNone,
  comment: PlaceOrNone,
  customFields: RootOrPlace.nullable(),
});

const Statuses = z.strictObject({ scheduled: z.string().min(1) });

/** What a value of `list.filters` may hold; a filter whose placeholder has no value in a call is left out of it. */
export const filterPlaceholders = [
  '{campaign}',
  '{changedSince}',
  '{dateFrom}',
  '{dateTo}',
  '{contact}',
  '{status}',
] as const;
const anyBrace = /\{[^}]*\}?/g;

const List = z.strictObject({
  /** Query parameters added to GET /appeals/: name → a constant, or text with one of the placeholders. */
  filters: z.record(
    z.string().min(1),
    z.string().superRefine((text, context) => {
      for (const found of text.match(anyBrace) ?? []) {
        if (filterPlaceholders.some((known) => known === found)) continue;
        const message = `holds ${found}, which is none of ${filterPlaceholders.join(' ')}`;
        context.addIssue({ code: 'custom', message });
      }
    }),
  ),
  /** Where the record is in an entry of `results`. */
  record: RootOrPlace,
});

const OperationTable = z.strictObject({
  create: Create,
  get: Get,
  grade: Grade,
  comment: Comment,
  cancel: Cancel,
  customFields: CustomFieldLayout,
  record: RecordFields,
  status: Statuses,
  list: List,
});
export type Operations = z.output<typeof OperationTable>;
export type OperationName = 'create' | 'get' | 'grade' | 'comment' | 'cancel';

/** The assumed forms. Source: design.md, The five operations whose wire form the specification does not show. */
export const assumedOperations: Operations = {
  create: {
    method: 'POST',
    path: '/appeals/',
    body: {
      campaign: 'campaign',
      phone: 'phone',
      email: 'email',
      identifier: 'identifier',
      scheduled: 'scheduled',
      customFields: 'custom_fields',
    },
    constants: {},
    record: '',
  },
  get: { method: 'GET', path: '/appeals/:id', body: { id: null }, constants: {}, record: '' },
  grade: { method: 'POST', path: '/appeals/:id/grade', body: { id: null, grade: 'grade' }, constants: {} },
  comment: { method: 'POST', path: '/appeals/:id/comment', body: { id: null, comment: 'comment' }, constants: {} },
  cancel: { method: 'POST', path: '/appeals/:id/cancel', body: { id: null }, constants: {} },
  customFields: { layout: 'object', name: 'name', value: 'value' },
  record: {
    id: 'id',
    campaign: 'campaign',
    phone: 'phone',
    email: 'email',
    identifier: 'identifier',
    scheduled: 'scheduled',
    status: 'status',
    grade: 'grade',
    comment: 'comment',
    customFields: 'custom_fields',
  },
  status: { scheduled: 'Scheduled' },
  list: { filters: {}, record: '' },
};

/** A form of its own for any of the five: every key may be left out, and keeps its assumed value then. */
const Partials = z
  .strictObject({
    create: z.strictObject({ ...Create.partial().shape, body: Create.shape.body.partial().optional() }),
    get: z.strictObject({ ...Get.partial().shape, body: Get.shape.body.partial().optional() }),
    grade: z.strictObject({ ...Grade.partial().shape, body: Grade.shape.body.partial().optional() }),
    comment: z.strictObject({ ...Comment.partial().shape, body: Comment.shape.body.partial().optional() }),
    cancel: z.strictObject({ ...Cancel.partial().shape, body: Cancel.shape.body.partial().optional() }),
    customFields: CustomFieldLayout.partial(),
    record: RecordFields.partial(),
    status: Statuses.partial(),
    list: List.partial(),
  })
  .partial();
export type OperationOverrides = z.output<typeof Partials>;

/** `feedback.operations` of the configuration. Also finds what can't work once merged: a grade without a place to go. */
export const OperationOverrides = Partials.superRefine((overrides, context) => {
  // zod comes here with flawed parts too; those have their own message already.
  const table = OperationTable.safeParse(merged(overrides));
  for (const { path, message } of table.success ? gaps(table.data) : []) {
    context.addIssue({ code: 'custom', path, message });
  }
});

/** The table in force: the assumed forms with the configured parts laid over them. */
export function resolveOperations(overrides: OperationOverrides | undefined): Operations {
  return OperationTable.parse(merged(overrides));
}

function merged(overrides: OperationOverrides | undefined): unknown {
  const base = assumedOperations;
  const { create, get, grade, comment, cancel, customFields, record, status, list } = overrides ?? {};
  return {
    create: { ...base.create, ...create, body: { ...base.create.body, ...create?.body } },
    get: { ...base.get, ...get, body: { ...base.get.body, ...get?.body } },
    grade: { ...base.grade, ...grade, body: { ...base.grade.body, ...grade?.body } },
    comment: { ...base.comment, ...comment, body: { ...base.comment.body, ...comment?.body } },
    cancel: { ...base.cancel, ...cancel, body: { ...base.cancel.body, ...cancel?.body } },
    customFields: { ...base.customFields, ...customFields },
    record: { ...base.record, ...record },
    status: { ...base.status, ...status },
    list: { ...base.list, ...list },
  };
}

interface Gap {
  path: string[];
  message: string;
}

function gaps(table: Operations): Gap[] {
  const found: Gap[] = [];
  for (const name of ['get', 'grade', 'comment', 'cancel'] as const) {
    const { path, body } = table[name];
    if (placeholdersOf(path).includes('id') || body.id !== null) continue;
    found.push({ path: [name, 'path'], message: 'does not say which request: put :id in the path or set body.id' });
  }
  if (table.grade.body.grade === null) {
    found.push({ path: ['grade', 'body', 'grade'], message: 'leaves the grade nowhere to go' });
  }
  if (table.comment.body.comment === null) {
    found.push({ path: ['comment', 'body', 'comment'], message: 'leaves the comment nowhere to go' });
  }
  const { path, body } = table.create;
  if (body.campaign === null && !placeholdersOf(path).includes('campaign')) {
    found.push({ path: ['create', 'body', 'campaign'], message: 'leaves the campaign out: put :campaign in the path' });
  }
  if (placeholdersOf(path).includes('id')) {
    found.push({ path: ['create', 'path'], message: 'holds :id, which a new request does not have yet' });
  }
  if (table.get.method === 'GET' && (table.get.body.id !== null || Object.keys(table.get.constants).length > 0)) {
    found.push({ path: ['get', 'method'], message: 'is GET, which carries no body' });
  }
  return found;
}

/** The placeholders of a path template, without their colon. */
function placeholdersOf(template: string): string[] {
  return [...template.matchAll(/:([A-Za-z]\w*)/g)].map((found) => found[1] ?? '');
}

function pathFlaw(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with / (it continues the base address)';
  if (/[\s#\\]/.test(text)) return 'holds a space, # or \\, which no path has';
  if (/\/(?:\.|%2e){1,2}(?:\/|\?|$)/i.test(text)) return 'must not hold . or .. as a segment';
  const unknown = placeholdersOf(text).find((name) => name !== 'id' && name !== 'campaign');
  return unknown === undefined ? undefined : `holds :${unknown}; the placeholders are :id and :campaign`;
}
