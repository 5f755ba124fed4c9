import { z } from 'zod';
import { type AnswerPlaces, type PartName, placesOf } from '../../core/connector/answer.ts';
import { type Cached, cached } from '../../core/connector/cached.ts';
import { errorAt } from '../../core/connector/check.ts';
import type { ConnectorPorts, Finding, WriteResult } from '../../core/connector/contract.ts';
import type { FieldSuggestion } from '../../core/connector/onboarding.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { idText, readAll, type ZendeskApi } from './api.ts';
import type { ZendeskSettings } from './settings.ts';

/* The fields that an account adds to its tickets, its users and the records of a custom object, and the fields among them that take answers. */

const text = orElse(z.string(), null).optional();
const isSet = orElse(z.boolean(), null).optional();

/** An option. `value`: its tag. `raw_name`: the placeholder of dynamic content, where `name` is the text in the language of closeloop's user. */
const FieldOption = z.object({
  id: orElse(z.number(), null).optional(),
  name: z.string(),
  raw_name: text,
  value: z.string(),
});
export type FieldOption = z.output<typeof FieldOption>;

const properties = {
  ...{ type: z.string(), title: z.string().nullish(), active: z.boolean().nullish(), regexp_for_validation: text },
  /** The tag of a checkbox, if it has one. */
  tag: text,
  custom_field_options: listOf(FieldOption).nullish(),
  /** False for Zendesk's own fields, which every account has. */
  removable: isSet,
  agent_can_edit: isSet,
  /** Whether agents can solve a ticket only with a value in the field. */
  required: isSet,
};
const TicketField = z.object({ id: idText, ...properties });
/** A field of users or of a custom object's records, which the key identifies. */
const KeyedField = z
  .object({ key: z.string().nullish(), ...properties })
  .transform(({ key: id, ...field }) => ({ ...field, id: id ?? '' }));
export type Field = z.output<typeof TicketField>;

/** A kind of fields for parts of answers: of tickets, of users, or of a custom object's records. */
export interface FieldKind {
  /** The account in messages: 'Zendesk acme'. */
  account: string;
  /** The setting that names the fields, and the fields by part of the answer; `ticket` holds the id of the ticket. */
  setting: string;
  places: AnswerPlaces<string> & { ticket?: string | undefined };
  /** The word for one of the records that have the fields. */
  record: string;
  /** Names a field in words. @param name its id in digits, or its title or key in quotes */
  named(name: string): string;
  /** Where admins find the fields. */
  place: string;
  /** What the setting may use in place of a field's id. */
  by: 'title' | 'field key';
  /** The path of the fields, and Zendesk's word for one field in a body. */
  path: string;
  one: string;
  read(): Promise<Field[]>;
  /** The account's fields, at most a quarter of an hour old. */
  fields: Cached<readonly Field[]>;
}

export type FieldKinds = Readonly<Record<'tickets' | 'users' | 'records', FieldKind>>;

/** How long closeloop caches lists of the account. */
export const cacheMs = 15 * 60_000;

/** One Zendesk account, with everything that one source needs to work with it. */
export interface Account {
  settings: ZendeskSettings;
  ports: Pick<ConnectorPorts, 'now' | 'log'>;
  api: ZendeskApi;
  kinds: FieldKinds;
}

export function fieldKinds(settings: ZendeskSettings, api: ZendeskApi, now: () => Date): FieldKinds {
  const { userFields = {}, customObject } = settings.writeBack;
  const object = customObject?.object;
  const [account, admin, by] = [`Zendesk ${settings.subdomain}`, 'Admin Center >', 'field key'] as const;
  const kind = (about: Omit<FieldKind, 'account' | 'fields' | 'read'>): FieldKind => {
    const keyed = () => readAll(api, about.path, `${about.one}s`, KeyedField);
    const read = about.by === 'title' ? () => api.listTicketFields(listOf(TicketField)) : keyed;
    return { account, ...about, read, fields: cached(() => read().catch(concernsAccount), cacheMs, now) };
  };
  return {
    tickets: kind({
      ...{ setting: 'writeBack', places: settings.writeBack, by: 'title', record: 'ticket', one: 'ticket_field' },
      ...{ path: '/api/v2/ticket_fields', place: `${admin} Objects and rules > Tickets > Fields` },
      named: (name) => `ticket field ${name}`,
    }),
    users: kind({
      ...{ setting: 'writeBack.userFields', places: userFields, by, record: 'user', one: 'user_field' },
      ...{ path: '/api/v2/user_fields', place: `${admin} People > Configuration > User fields` },
      named: (name) => `user field ${name}`,
    }),
    records: kind({
      ...{ setting: 'writeBack.customObject', places: customObject ?? {}, by, record: 'record' },
      one: 'custom_object_field',
      path: `/api/v2/custom_objects/${object}/fields`,
      place: `${admin} Objects and rules > Custom objects > Objects`,
      named: (name) => `field ${name} of the custom object "${object}"`,
    }),
  };
}

/** Rethrows a failure to read the fields as an error of the account, not of one ticket. */
function concernsAccount(error: unknown): never {
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  const { message, outcome, reference } = error;
  throw new CloseloopError(message, { kind: 'config', doubtful: true }, { outcome, reference, cause: error });
}

/** Whether the name is an id (digits); every other name is a title or a key. */
const isFieldId = (name: string): boolean => /^\d+$/.test(name);
const inQuotes = (name: string): string => (isFieldId(name) ? name : `"${name}"`);

/** The field's name, by which a person finds it. */
export const nameOf = ({ named }: FieldKind, { id, title }: Field): string =>
  named(isFieldId(id) && title ? `${id} "${title}"` : inQuotes(id));

/** The content of a field: a part of an answer, or the id of the ticket. */
export type Part = PartName | 'ticket';
export type Targets = ReadonlyMap<Part, Field>;

/**
 * A configured field that closeloop can't write; `name` as in the configuration. `setup` creates a missing field that the configuration names
 * by its title or key.
 */
type FieldProblem = Finding & { part: Part; name: string; isMissing: boolean };

/** The field types that can hold each part. Text fields of every kind can hold anything. A dropdown is called `tagger` on tickets only. */
const [texts, choices] = [['text', 'textarea'] as const, ['tagger', 'dropdown'] as const];
const fitting: Readonly<Record<string, readonly string[]>> = {
  grade: ['integer', 'decimal', ...texts, 'regexp', ...choices, 'multiselect', 'checkbox'],
  comment: texts,
  answeredAt: ['date', ...texts],
  status: [...texts, ...choices],
  answers: [...texts, 'integer', 'decimal', 'date', 'checkbox', ...choices, 'multiselect'],
};

/**
 * Finds the fields that the settings name. Titles are compared exactly, among the account's own fields; if several fields have the title, the
 * only active field counts.
 */
export function resolve(kind: FieldKind, fields: readonly Field[]): { targets: Targets; problems: FieldProblem[] } {
  const targets = new Map<Part, Field>();
  const problems: FieldProblem[] = [];
  const { setting, place, by, places } = kind;
  const wanted = new Map<Part, string>(placesOf(places));
  if (places.ticket !== undefined) wanted.set('ticket', places.ticket);
  for (const [part, name] of wanted) {
    const [field, ...others] = candidates(kind, name, fields);
    const said = (what: string, remedy: string): void => {
      const finding = errorAt(`${setting}.${part}`, `${kind.named(inQuotes(name))} ${what}.`, remedy);
      problems.push({ ...finding, part, name, isMissing: field === undefined && !isFieldId(name) });
    };
    const types = fitting[part.split('.')[0] ?? ''];
    const make = isFieldId(name) ? '' : ', or let "closeloop setup" create it';
    const own = `Create a field for it (${place}), or give a title and run "closeloop setup"`;
    if (field === undefined)
      said('does not exist', `Take the ${isFieldId(name) ? 'id' : `exact ${by}`} from ${place}${make}.`);
    else if (others.length > 0)
      said(`exists ${others.length + 1} times`, `Give its id (${place}) in place of the title.`);
    else if (field.active === false) said('is inactive', 'Activate it in Admin Center.');
    else if (field.removable === false) said("is one of Zendesk's own fields", own);
    else if (types?.includes(field.type) === false)
      said(`has the type ${field.type}`, `It must be one of ${types.join(', ')}.`);
    else targets.set(part, field);
  }
  return { targets, problems };
}

function candidates({ by }: FieldKind, name: string, fields: readonly Field[]): readonly Field[] {
  if (isFieldId(name) || by !== 'title') return fields.filter(({ id }) => id === name);
  const titled = fields.filter(({ title, removable }) => title?.trim() === name && removable !== false);
  const active = titled.filter((field) => field.active !== false);
  return active.length === 0 ? titled : active;
}

/**
 * Writes on the fields that the settings name. Zendesk silently ignores values for a field that was deleted or deactivated since closeloop
 * read the fields. So closeloop reads the fields once more if one doesn't fit (a person may have corrected it), and if a value was not stored.
 * @throws CloseloopError config, which names the fields
 */
export async function onFields(kind: FieldKind, write: (targets: Targets) => Promise<WriteResult[]>) {
  const known = resolve(kind, await kind.fields());
  const results = await write(known.problems.length === 0 ? known.targets : await targetsNow(kind));
  if (results.some((result) => result.ok && result.findings.length > 0)) await targetsNow(kind);
  return results;
}

async function targetsNow(kind: FieldKind): Promise<Targets> {
  const { targets, problems } = resolve(kind, await kind.fields('now'));
  if (problems.length === 0) return targets;
  const why = problems.map(({ at, problem, remedy }) => `${at}: ${problem} ${remedy}`).join(' ');
  const message = `${kind.account}: ${why} "closeloop check" looks at all of them.`;
  throw new CloseloopError(message, { kind: 'config' }, { outcome: 'never-sent' });
}

/** The account's ticket fields as expressions read them. */
export interface Catalogue {
  fields: readonly Field[];
  byId: ReadonlyMap<string, Field>;
  /** Names in expressions by field id, for fields with a name of their own. */
  slugs: ReadonlyMap<string, string>;
}

/**
 * The fields by their names in expressions. A name is the field's title in small letters with `_` between words: "Order No." is `order_no`.
 * If two titles give the same name an active field wins over an inactive one, then the older field (the lower id): a field that is added later
 * can't take the name away from a rule in use. A field's id is a name as well.
 */
export function catalogueOf(fields: readonly Field[]): Catalogue {
  const inactive = (field: Field): number => (field.active === false ? 1 : 0);
  const oldestFirst = fields.toSorted((a, b) => inactive(a) - inactive(b) || Number(a.id) - Number(b.id));
  const owners = new Map<string, string>();
  for (const { id, title } of oldestFirst) {
    const slug = slugOf(title ?? '');
    if (slug !== '' && !owners.has(slug)) owners.set(slug, id);
  }
  return {
    fields,
    byId: new Map(fields.map((field) => [field.id, field])),
    slugs: new Map([...owners].map(([slug, id]) => [id, slug])),
  };
}

/** The fields that the account has added, as expressions read them. */
export function suggestionsOf({ fields, slugs }: Catalogue): FieldSuggestion[] {
  const own = fields.filter(({ active, removable }) => active !== false && removable !== false);
  return own.map(({ id, title }) => {
    const slug = slugs.get(id);
    const name = slug !== undefined && /^[a-z]\w*$/.test(slug) ? slug : `\`${id}\``;
    return { name: `ticket field "${title ?? id}"`, expression: `ticket.fields.${name}` };
  });
}

/** A limit above the length of Zendesk's titles, because normalising many accents takes quadratic time. */
const longestTitle = 1_000;

/** The name for a title. Keeps letters of every script, and drops accents, which people type in different ways: "Größe (cm)" is `grosse_cm`. */
export function slugOf(title: string): string {
  return title
    .slice(0, longestTitle)
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}
