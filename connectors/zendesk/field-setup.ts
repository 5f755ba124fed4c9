import { type AnswerPart, isSurveyPart, type PartName } from '../../core/connector/answer.ts';
import { type Comparison, combined, errorAt, type SetupItem, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { fractionsIn, gradeTypes } from '../../core/connector/fields.ts';
import { type Field, type FieldKind, type FieldKinds, nameOf, resolve } from './fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { isChoice, valueFor } from './values.ts';

/*
 * The fields that the settings name, compared with those that the account has, and with the values that answers put into them: `check`
 * tells the findings, `setup` makes what is missing.
 */

interface Answers {
  writeBack: ZendeskSettings['writeBack'];
  /** The grades of the rules' campaigns; empty where unknown. */
  grades: readonly number[];
}

/** Makes a thing, with the rights of an admin. */
export type Create = (method: 'POST' | 'PATCH', path: string, body: object) => Promise<unknown>;

/** Tag → what has the tag. */
type TagOwners = ReadonlyMap<string, string>;

interface NewOption {
  name: string;
  value: string;
}

interface Shape {
  type: string;
  custom_field_options?: NewOption[];
}

/** What of a kind is compared, and how it is made. */
interface Compared extends Answers {
  kind: FieldKind;
  owners: TagOwners;
  create: Create;
}

export async function compareFields(
  kinds: FieldKinds,
  writeBack: ZendeskSettings['writeBack'],
  grades: readonly number[],
  create: Create,
): Promise<Comparison<SetupItem>> {
  const { customObject } = writeBack;
  const [tickets, users] = [await kinds.tickets.read(), await kinds.users.read()];
  const records = customObject === undefined ? undefined : await kinds.records.read().catch(unlessGone);
  const answers = { writeBack, grades, create };
  const owners = tagOwners(kinds, tickets, users);
  const ofTickets = compareKind({ ...answers, kind: kinds.tickets, owners }, tickets);
  // Options of new ticket fields own their tags, which user fields can't use then.
  const all = new Map([...owners, ...ofTickets.tags.map((tag): [string, string] => [tag, 'a ticket field'])]);
  return combined([
    ofTickets,
    compareKind({ ...answers, kind: kinds.users, owners: all }, users),
    // Records have no tags, so their options own none.
    compareObject({ ...answers, kind: kinds.records, owners: new Map() }, records),
  ]);
}

function unlessGone(error: unknown): undefined {
  if (error instanceof VendorError && error.status === 404) return undefined;
  throw error;
}

/** @returns also the tags of options that are missing */
function compareKind(about: Compared, fields: readonly Field[]): Comparison<SetupItem> & { tags: string[] } {
  const { kind, owners } = about;
  const { targets, problems } = resolve(kind, fields);
  const findings: Finding[] = problems.map(({ part: _part, name: _name, isMissing: _is, ...finding }) => finding);
  const missing: SetupItem[] = [];
  const tags: string[] = [];
  for (const { part, name } of problems.filter(({ isMissing }) => isMissing)) {
    const shape = kind.by === 'title' ? ticketShape(part, about) : keyedShape(part, about);
    missing.push(creation(about, name, shape, titles[part]));
    tags.push(...(shape.custom_field_options ?? []).map(({ value }) => value));
  }
  for (const [part, field] of targets) {
    findings.push(...valueFindings(about, part, field), ...useFindings(about, part, field));
    const [other] = [...targets].find(([, one]) => one === field) ?? [part];
    const problem = `${nameOf(kind, field)} is also ${kind.setting}.${other}: one value overwrites the other`;
    if (other !== part) findings.push(errorAt(`${kind.setting}.${part}`, problem, 'Name another field'));
    const lacking = missingTags(part, field, about);
    // A part of the grades is of no use: `check` says why.
    if (lacking.length === 0 || lacking.some((tag) => obstacle(tag, owners) !== undefined)) continue;
    missing.push(
      addition(
        about,
        field,
        lacking.map((tag) => optionFor(part, tag, about)),
      ),
    );
    tags.push(...lacking);
  }
  return { findings, missing, tags };
}

/** The custom object and its fields, where the settings name one. @param fields Undefined: there is no such object. */
function compareObject(about: Compared, fields: readonly Field[] | undefined): Comparison<SetupItem> {
  const { kind, writeBack, create } = about;
  const { object, ticket } = writeBack.customObject ?? {};
  if (object === undefined) return { findings: [], missing: [] };
  const compared = compareKind(about, fields ?? []);
  const link = ticket === undefined ? [] : [creation(about, ticket, { type: 'text' }, 'Ticket')];
  const remedy = `Let "closeloop setup" create it, or take its key from ${kind.place}`;
  if (fields === undefined) {
    const words = object.replaceAll(/[_-]+/g, ' ').trim();
    const title = words.charAt(0).toUpperCase() + words.slice(1);
    const custom_object = { key: object, title, title_pluralized: `${title} records` };
    const note = `Who sees the records of "${title}", with what customers wrote, is set at the object: ${kind.place}.`;
    const itself = {
      ...{ id: `custom object "${object}"`, what: `create the custom object "${object}"` },
      make: async () => {
        await create('POST', '/api/v2/custom_objects', { custom_object });
        return { note };
      },
    };
    const problem = `there is no custom object with the key "${object}"`;
    return {
      findings: [errorAt(`${kind.setting}.object`, problem, remedy)],
      missing: [itself, ...compared.missing, ...link],
    };
  }
  const found = fields.find(({ id }) => id === ticket);
  if (ticket === undefined || (found !== undefined && found.active !== false)) return compared;
  const [problem, help] = found
    ? [`the field "${ticket}" of the custom object "${object}" is inactive`, `Activate it (${kind.place})`]
    : [`the custom object "${object}" has no field "${ticket}"`, remedy];
  return combined([
    compared,
    { findings: [errorAt(`${kind.setting}.ticket`, problem, help)], missing: found ? [] : link },
  ]);
}

/** The title of a new field that the configuration names by its key. */
const titles: Readonly<Record<string, string>> = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback answered at',
};

function creation({ kind, create }: Compared, name: string, shape: Shape, title: string | undefined): SetupItem {
  const { type, custom_field_options: options } = shape;
  const named = kind.by === 'title' ? { title: name } : { key: name, title };
  const what = options === undefined ? type : `dropdown: ${options.map(({ value }) => value).join(', ')}`;
  const note = `Agents see "${name}" once it is on their ticket forms: Admin Center > Objects and rules > Tickets > Forms. closeloop writes it without that.`;
  return {
    ...{ id: kind.named(`"${name}"`), what: `create the ${kind.named(`"${name}"`)} (${what})` },
    async make() {
      const path = kind.setting === 'writeBack.customObject' ? kind.path : `${kind.path}.json`;
      await create('POST', path, { [kind.one]: { ...named, ...shape } });
      return kind.by === 'title' ? { note } : {};
    },
  };
}

function addition({ kind, create }: Compared, field: Field, options: readonly NewOption[]): SetupItem {
  const name = `the ${nameOf(kind, field)}`;
  const path = `${kind.path}/${field.id}`;
  return {
    id: `options of ${name}`,
    what: `add the options ${options.map(({ value }) => `"${value}"`).join(', ')} to ${name}`,
    async make() {
      if (kind.setting !== 'writeBack.customObject') {
        // One by one: replacing the list would delete options that are added meanwhile, with their values.
        for (const option of options) await create('POST', `${path}/options.json`, { custom_field_option: option });
        return {};
      }
      // There is no call for one option: options that the list lacks would be deleted, with their values.
      const known = (field.custom_field_options ?? []).map(({ id, name, raw_name, value }) => {
        return { ...(id == null ? {} : { id }), name: raw_name ?? name, value };
      });
      await create('PATCH', path, { [kind.one]: { custom_field_options: [...known, ...options] } });
      return {};
    },
  };
}

/** May closeloop write the field, and may agents leave the field to closeloop? */
function useFindings({ kind }: Compared, part: PartName, field: Field): Finding[] {
  const [at, name] = [`${kind.setting}.${part}`, nameOf(kind, field)];
  const locked = `${name} may not be edited by agents, so perhaps not by us`;
  const required = `${name} is required to solve a ticket: agents have to make up the customer's answer`;
  return [
    ...(field.agent_can_edit === false ? [warningAt(at, locked, `Allow agents to edit it (${kind.place})`)] : []),
    ...(field.required === true ? [warningAt(at, required, `Make it optional (${kind.place})`)] : []),
  ];
}

/** Does the field take all values that closeloop would write? */
function valueFindings(about: Compared, part: PartName, field: Field): Finding[] {
  const { kind, owners, writeBack, grades } = about;
  const [at, name, { place }] = [`${kind.setting}.${part}`, nameOf(kind, field), kind];
  const missing = missingTags(part, field, about);
  if (missing.length > 0) {
    const values = part === 'grade' ? 'gradeValues' : 'statusValues';
    const problem = `${name} has no option with the tag ${missing.map((tag) => `"${tag}"`).join(', ')}: Zendesk drops such a value without an error`;
    const obstacles = missing.flatMap((tag) => obstacle(tag, owners) ?? []);
    const other = part === 'grade' ? 'a number field' : 'a text field';
    const instead = `Name other tags in writeBack.${values} and run "closeloop setup", or name ${other} (${place})`;
    const add = `Run "closeloop setup", add the options yourself (${place}), or name existing tags in writeBack.${values}`;
    if (obstacles.length === 0) return [errorAt(at, problem, add)];
    return [errorAt(at, `${problem}; it can't be added: ${obstacles.join('; ')}`, instead)];
  }
  const fractions = fractionsIn(grades);
  if (part !== 'grade') return [];
  if (field.type === 'integer' && fractions !== undefined) {
    const remedy = `Name another field, of type decimal (${place}): "closeloop setup" creates such a field`;
    return [errorAt(at, `${name} takes whole numbers only, not ${fractions}`, remedy)];
  }
  if (field.type === 'checkbox' && !isTicks(Object.values(writeBack.gradeValues))) {
    const problem = `${name} is a checkbox, which takes "true" and "false" only`;
    return [errorAt('writeBack.gradeValues', problem, 'Write "true" or "false" after each grade')];
  }
  const refused =
    field.type === 'regexp' ? valuesOf(part, field.type, about).filter((one) => !matches(field, one)) : [];
  if (refused.length === 0) return [];
  const problem = `the pattern of ${name} does not allow ${refused.map((one) => `"${one}"`).join(', ')}`;
  return [errorAt(at, problem, `Correct the pattern (${place}), or write what it allows in writeBack.gradeValues`)];
}

const isTicks = (values: readonly string[]): boolean => values.every((value) => value === 'true' || value === 'false');

/** The missing tags of a dropdown, which silently drops unknown values; none for other fields. */
function missingTags(part: PartName, field: Field, answers: Answers): string[] {
  if (!isChoice(field) || (part !== 'grade' && part !== 'status')) return [];
  const held = new Set(field.custom_field_options?.map(({ value }) => value));
  return valuesOf(part, field.type, answers).filter((tag) => !held.has(tag));
}

/** All values, as strings, that write-backs can put into a field of this type, made by the code that writes them. */
function valuesOf(part: 'grade' | 'status', type: string, { writeBack, grades }: Answers): string[] {
  const statuses = writeBack.noAnswer ? (['answered', 'no-answer'] as const) : (['answered'] as const);
  const parts: AnswerPart[] =
    part === 'grade' ? grades.map((value) => ({ part, value })) : statuses.map((value) => ({ part, value }));
  const values = parts.map((one) => valueFor(one, { type }, writeBack)).filter((value) => value !== undefined);
  return [...new Set(values.map(String))];
}

/** Zendesk's patterns are Ruby's; what JavaScript can't read is left to Zendesk. */
function matches({ regexp_for_validation: pattern }: Field, text: string): boolean {
  if (pattern == null) return true;
  try {
    return new RegExp(pattern.replaceAll('\\A', '^').replaceAll(/\\[zZ]/g, '$')).test(text);
  } catch {
    return true;
  }
}

/**
 * A ticket field that suits a part. A grade is a number, so that reports can count with it, unless `gradeValues` gives it
 * tags; text, where a dropdown can't have those.
 */
function ticketShape(part: PartName, about: Compared): Shape {
  const mapped = Object.values(about.writeBack.gradeValues);
  if (part !== 'status' && (part !== 'grade' || mapped.length === 0)) return keyedShape(part, about);
  if (part === 'grade' && isTicks(mapped)) return { type: 'checkbox' };
  const grades = about.grades.length > 0 ? about.grades : Object.keys(about.writeBack.gradeValues).map(Number);
  const tags = valuesOf(part, 'tagger', { ...about, grades });
  if (tags.some((tag) => obstacle(tag, about.owners) !== undefined)) return { type: 'text' };
  return { type: 'tagger', custom_field_options: tags.map((tag) => optionFor(part, tag, { ...about, grades })) };
}

/**
 * A field of users or of a custom object. The grade is a number there, whatever `gradeValues` says: its tags belong to the
 * ticket field, and a person's tags would come onto their next ticket.
 */
function keyedShape(part: PartName, { grades }: Answers): Shape {
  if (part === 'comment' || isSurveyPart(part)) return { type: 'textarea' };
  if (part === 'answeredAt') return { type: 'date' };
  return { type: gradeTypes(grades, { whole: 'integer', fraction: 'decimal' })[0] };
}

/** Named as agents would say it: the grades that a tag stands for, or what it says. */
function optionFor(part: PartName, tag: string, { writeBack, grades }: Answers): NewOption {
  const matching = grades.filter((grade) => (writeBack.gradeValues[String(grade)] ?? String(grade)) === tag);
  const words = tag.replace(/^fb_/, '').replaceAll('_', ' ');
  return { name: part === 'grade' && matching.length > 0 ? matching.join(', ') : words, value: tag };
}

/**
 * The owners of the tags of dropdowns, multi-selects and checkboxes, also of inactive ones. A tag
 * belongs to one option of one field: put on a ticket it chooses that option, and people's tags come onto their tickets.
 * Source: support.zendesk.com, "Understanding tags and ticket fields" and "Adding tags to users and organizations".
 */
function tagOwners(kinds: FieldKinds, tickets: readonly Field[], users: readonly Field[]): TagOwners {
  const owned = (kind: FieldKind, fields: readonly Field[]) =>
    fields.flatMap((field) => {
      const { tag, custom_field_options: options } = field;
      const tags = [...(options ?? []).map(({ value }) => value), ...(tag ? [tag] : [])];
      return tags.map((one): [string, string] => [one, nameOf(kind, field)]);
    });
  return new Map([...owned(kinds.users, users), ...owned(kinds.tickets, tickets)]);
}

/** Why no option with this tag can be added to a field; undefined if it can. */
function obstacle(tag: string, owners: TagOwners): string | undefined {
  if (/\s/.test(tag)) return `"${tag}" has a space, which no tag has`;
  const owner = owners.get(tag);
  return owner === undefined ? undefined : `"${tag}" belongs to ${owner}, and Zendesk gives a tag to one field only`;
}
