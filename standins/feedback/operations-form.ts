/**
 * The wire form of the five operations that the specification does not show. The default is the form assumed in the
 * design; a test gives another one, to see that a client follows its configuration and not its habits.
 *
 * A place is a dotted path into a JSON object ("contact.phone"). Paths are relative to `/api`; `:id` is the request's id,
 * `:campaign` the campaign's, both digits.
 */
export interface OperationsForm {
  create: Omit<Operation, 'id'> & { body: CreateBody };
  get: Operation;
  grade: Operation & { grade: string };
  comment: Operation & { comment: string };
  cancel: Operation;
  record: RecordForm;
}

export interface Operation {
  method: string;
  path: string;
  /** Where the id is when the path has no `:id`. */
  id?: { in: 'body' | 'query'; at: string };
  /** Place → value that must be in the body as well ("kind": "csat"). */
  constants?: Record<string, string | number | boolean>;
}

/** Places of what is sent. `campaign` is not looked for when the path has `:campaign`. */
export interface CreateBody {
  campaign: string;
  phone: string;
  email: string;
  identifier: string;
  scheduled: string;
  customFields: string;
  fieldsAs: FieldsForm;
}

/** Places in the record, as answered by all five and listed by the export. */
export interface RecordForm {
  id: string;
  campaign: string;
  phone: string;
  email: string;
  identifier: string;
  scheduled: string;
  status: string;
  grade: string;
  comment: string;
  customFields: string;
  fieldsAs: FieldsForm;
  /** Place of the record in the answer to the five operations (not in lists); the answer itself when left out. */
  envelope?: string;
}

/** `{name: value}`, or a list of objects with these keys. */
export type FieldsForm = 'object' | { name: string; value: string };

export const defaultForm: OperationsForm = {
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
      fieldsAs: 'object',
    },
  },
  get: { method: 'GET', path: '/appeals/:id' },
  grade: { method: 'POST', path: '/appeals/:id/grade', grade: 'grade' },
  comment: { method: 'POST', path: '/appeals/:id/comment', comment: 'comment' },
  cancel: { method: 'POST', path: '/appeals/:id/cancel' },
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
    fieldsAs: 'object',
  },
};

type Tree = { [key: string]: unknown };

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Puts `value` at `place`, making the objects on the way. */
export function put(tree: Tree, place: string, value: unknown): void {
  const keys = place.split('.');
  const last = keys.pop() ?? place;
  let at = tree;
  for (const key of keys) {
    const next = at[key];
    if (isTree(next)) at = next;
    else {
      const made: Tree = {};
      at[key] = made;
      at = made;
    }
  }
  at[last] = value;
}

/** What is at `place`; undefined when nothing is. */
export function pick(tree: unknown, place: string): unknown {
  let at = tree;
  for (const key of place.split('.')) {
    if (!isTree(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** Places in `tree` that are neither one of `known` nor on the way to or inside one. */
export function unknownFields(tree: unknown, known: readonly string[], at = ''): string[] {
  if (!isTree(tree)) return at === '' ? [] : [at];
  return Object.entries(tree).flatMap(([key, value]) => {
    const place = at === '' ? key : `${at}.${key}`;
    if (known.includes(place)) return [];
    return known.some((one) => one.startsWith(`${place}.`)) ? unknownFields(value, known, place) : [place];
  });
}
