import { z } from 'zod';

/*
 * ASSUMPTIONS. The specification doesn't show the wire form of get, create, grade, comment and cancel, nor the fields
 * of a feedback request's record, nor filters of its list. All assumptions about these forms are in `assumedOperations`,
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
/** Null: the value is not sent (body), or the service does not show it (record). */
const PlaceOrNone = Place.nullable();

const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Without GET: closeloop and proxies may repeat a GET, so no operation that changes something may use GET. */
const ChangeMethod = Method.exclude(['GET']);
const Scalar = z.union([z.string(), z.number(), z.boolean()]);
/** Values sent with every call: `{data.type: appeal}`. */
const Constants = z.record(Place, Scalar);
/** Continues the base address, with `:id` or `:campaign` in the path or the query: `/appeals/get?number=:id`. */
const PathTemplate = textWithout(pathFlaw);

const body = (what: string) => `Where each value goes in the JSON body, as a place in it. ${what}`;
const notSent = 'null: it is not sent';
const constants = Constants.describe(
  'Values that are in every body of this operation as well: place → text, number or true/false, as in { data.type: invitation }',
);
const method = 'HTTP method';
const path =
  'Path and perhaps query, continuing baseUrl: /invitations/:id, or /invitations/find?number=:id. :id is the feedback request';
const idPlace = PlaceOrNone.describe(`The id of the feedback request. ${notSent} (it is in the path then)`);
const recordPlace = (where: string) =>
  RootOrPlace.describe(
    `Where the record of the feedback request is in ${where}: a place, as data in {"data": {"id": 7, …}}; "": it is the whole of it`,
  );

const Create = z.strictObject({
  method: ChangeMethod.describe(method),
  path: PathTemplate.describe(`${path.replace(':id is the feedback request', '')}; :campaign is the campaign's id`),
  body: z
    .strictObject({
      campaign: PlaceOrNone.describe(`The campaign's id, a number. ${notSent}: :campaign has to be in the path then`),
      phone: PlaceOrNone.describe('The contact, where it is a phone number; exactly one of the three is sent'),
      email: PlaceOrNone.describe('The contact, where it is an e-mail address; it may be the same place as phone'),
      identifier: PlaceOrNone.describe('The contact, where it is an identifier (external campaigns)'),
      scheduled: PlaceOrNone.describe(
        `When to send, ISO 8601 in UTC. ${notSent}: the service waits the campaign's own delay, and closeloop does not`,
      ),
      customFields: RootOrPlace.nullable().describe(
        `The custom field values, in the layout of customFields. "": their names stand at the root of the body, beside the other values. ${notSent}`,
      ),
    })
    .describe(body('data.attributes.email puts the address in {"data": {"attributes": {"email": …}}}')),
  constants,
  record: recordPlace('the answer'),
});

/** @param more the places of further values, beside the id's @param about describes the body */
function commandOf<More extends z.ZodRawShape>(more: More, about: string) {
  return z.strictObject({
    method: ChangeMethod.describe(method),
    path: PathTemplate.describe(path),
    body: z.strictObject({ id: idPlace, ...more }).describe(body(about)),
    constants,
  });
}

const done = 'Any 2xx answer counts as done';
const Grade = commandOf({ grade: PlaceOrNone.describe('The grade, a number') }, done);
const Comment = commandOf({ comment: PlaceOrNone.describe('The comment, a text') }, done);
const Cancel = commandOf({}, 'Without any value no body is sent');
const Get = z.strictObject({
  ...commandOf({}, 'For methods other than GET').shape,
  method: Method.describe(`${method}; GET carries no body`),
  record: recordPlace('the answer'),
});

/** The layout of custom fields in a request. In a record closeloop reads both layouts. */
const CustomFieldLayout = z.strictObject({
  layout: z
    .enum(['object', 'array'])
    .describe(
      'How custom field values are sent. object: {"Store": "Tartu"}; array: [{"name": "Store", "value": "Tartu"}]. Read are both',
    ),
  name: Place.describe("With layout array: the place of the field's name in each entry"),
  value: Place.describe('With layout array: the place of its value in each entry, as content.raw'),
});

const notThere = 'null: a record has none';
const RecordFields = z.strictObject({
  id: Place.describe('The id of the feedback request, a number or text'),
  campaign: PlaceOrNone.describe(`The campaign's id, a number. ${notThere}`),
  phone: PlaceOrNone.describe(`The phone number it went to. ${notThere}`),
  email: PlaceOrNone.describe(`The e-mail address it went to. ${notThere}`),
  identifier: PlaceOrNone.describe(`The identifier, in external campaigns. ${notThere}`),
  scheduled: PlaceOrNone.describe(`When it is or was to be sent, ISO 8601 with an offset. ${notThere}`),
  status: PlaceOrNone.describe(`Its status, a text. ${notThere}`),
  grade: PlaceOrNone.describe(
    `The grade: a number, text with a number, or null. ${notThere}: grades can not be collected`,
  ),
  comment: PlaceOrNone.describe(`The comment: a text or null. ${notThere}`),
  customFields: RootOrPlace.nullable().describe(
    `Its custom field values, in either layout. "": their names stand in the record itself. ${notThere}`,
  ),
});

const Statuses = z.strictObject({
  scheduled: z.string().min(1).describe('The status of a request that can still be cancelled, as the record spells it'),
});

/** The placeholders in values of `list.filters`; a call that has no value for a filter's placeholder leaves the filter out. */
const filterPlaceholders = ['{campaign}', '{changedSince}', '{dateFrom}', '{dateTo}', '{contact}', '{status}'] as const;
type FilterPlaceholder = (typeof filterPlaceholders)[number];
const anyBrace = /\{[^}]*\}?/g;

const List = z.strictObject({
  filters: z
    .record(
      z.string().min(1),
      z.string().superRefine((text, context) => {
        for (const found of text.match(anyBrace) ?? []) {
          if (filterPlaceholders.some((known) => known === found)) continue;
          const message = `holds ${found}, which is none of ${filterPlaceholders.join(' ')}`;
          context.addIssue({ code: 'custom', message });
        }
      }),
    )
    .describe(
      `Query parameters added to GET /appeals/: name → text, which may hold ${filterPlaceholders.join(' ')}; one whose placeholder has no value in a call is left out of it`,
    ),
  record: recordPlace('an entry of results'),
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

function partial<Shape extends { body: z.ZodObject }>(operation: z.ZodObject<Shape>) {
  const { body } = operation.shape;
  const described = body
    .partial()
    .optional()
    .describe(body.description ?? '');
  return z.strictObject({ ...operation.partial().shape, body: described });
}

/** Overrides for the forms of the operations. A key that is left out keeps its assumed value. */
const Partials = z
  .strictObject({
    create: partial(Create).describe('Creates a feedback request; answers with its record'),
    get: partial(Get).describe('Reads one feedback request; answers with its record'),
    grade: partial(Grade).describe('Grades a request of an external campaign'),
    comment: partial(Comment).describe('Comments on a request of an external campaign'),
    cancel: partial(Cancel).describe('Cancels a request that is still scheduled'),
    customFields: CustomFieldLayout.partial().describe('How the values of custom fields are laid out'),
    record: RecordFields.partial().describe(
      'What the fields of a feedback request are called, as places in its record: in the answers of create and get, and in the list',
    ),
    status: Statuses.partial().describe('What its statuses are called'),
    list: List.partial().describe('The list of feedback requests, GET /appeals/, whose envelope is specified'),
  })
  .partial();
export type OperationOverrides = z.output<typeof Partials>;

/** `feedback.operations` of the configuration. Also reports overrides that can't work once merged, such as a grade without a place. */
export const OperationOverrides = Partials.superRefine((overrides, context) => {
  // zod calls this for invalid parts too, which are reported already.
  const table = OperationTable.safeParse(merged(overrides));
  for (const { path, message } of table.success ? gaps(table.data) : []) {
    context.addIssue({ code: 'custom', path, message });
  }
});

/** The table in force: the assumed forms, overridden by the configured parts. */
export function resolveOperations(overrides: OperationOverrides | undefined): Operations {
  return overrides === undefined ? assumedOperations : OperationTable.parse(merged(overrides));
}

/** Whether a filter of the configuration sends this value, so that the service can narrow the list of feedback requests by it. */
export function canFilterBy({ list }: Operations, placeholder: FilterPlaceholder): boolean {
  return Object.values(list.filters).some((filter) => filter.includes(placeholder));
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

/** The schema of a text in which `flawOf` finds no flaw. */
export function textWithout(flawOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = flawOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

function pathFlaw(text: string): string | undefined {
  if (!text.startsWith('/')) return 'must begin with / (it continues the base address)';
  if (/[\s#\\]/.test(text)) return 'holds a space, # or \\, which no path has';
  if (/\/(?:\.|%2e){1,2}(?:\/|\?|$)/i.test(text)) return 'must not hold . or .. as a segment';
  const unknown = placeholdersOf(text).find((name) => name !== 'id' && name !== 'campaign');
  return unknown === undefined ? undefined : `holds :${unknown}; the placeholders are :id and :campaign`;
}
