import { z } from 'zod';
import { type AnswerPart, isSurveyPart } from '../../core/connector/answer.ts';
import { type Comparison, combined, errorAt, type SetupItem, warningAt } from '../../core/connector/check.ts';
import { VendorError } from '../../core/connector/classify.ts';
import type { Finding } from '../../core/connector/contract.ts';
import { fractionsIn, gradeTypes } from '../../core/connector/fields.ts';
import type { ZendeskApi } from './api.ts';
import {
  type Field,
  type FieldKind,
  type FieldKinds,
  isChoice,
  nameOf,
  type Part,
  resolve,
  valueFor,
} from './fields.ts';

/*
 * Compares the fields that the settings name with the account's fields, and with the values that answers put into them: `check` reports the
 * findings, `setup` creates what is missing.
 */

type Create = ZendeskApi['send'];
type NewOption = { name: string; value: string };
type Shape = { type: string; custom_field_options?: NewOption[] };

/** What the comparison of one kind of fields needs, and how to create a field. */
interface Compared {
  kind: FieldKind;
  /** The grades of the rules' campaigns; empty if unknown. */
  grades: readonly number[];
  /** The owner of each tag, in words; also of the tags that `setup` is about to give to a field. */
  owners: Map<string, string>;
  /** Sends with the rights of an admin. */
  create: Create;
}

export async function compareFields(
  { tickets, users, records }: FieldKinds,
  about: Pick<Compared, 'grades' | 'create'>,
) {
  const { object } = records.settings.writeBack.customObject ?? {};
  const [ofTickets, ofUsers] = [await tickets.read(), await users.read()];
  const ofRecords = object === undefined ? [] : await records.read().catch(unlessGone);
  const owners = new Map([...tagsOf(users, ofUsers), ...tagsOf(tickets, ofTickets)]);
  const compared = [
    compareKind({ ...about, kind: tickets, owners }, ofTickets),
    compareKind({ ...about, kind: users, owners }, ofUsers),
  ];
  // Records have no tags, so the options of their fields own none.
  const last = compareKind({ ...about, kind: records, owners: new Map() }, ofRecords ?? []);
  if (object === undefined || ofRecords !== undefined) return combined([...compared, last]);
  return combined([...compared, objectItself(object, records, about.create), { findings: [], missing: last.missing }]);
}

function unlessGone(error: unknown): undefined {
  if (error instanceof VendorError && error.status === 404) return undefined;
  throw error;
}

function compareKind(about: Compared, fields: readonly Field[]): Comparison {
  const { kind, owners } = about;
  const { targets, problems } = resolve(kind, fields);
  const findings: Finding[] = problems.map(({ level, at, problem, remedy }) => ({ level, at, problem, remedy }));
  const missing: SetupItem[] = [];
  const own = (options: readonly NewOption[] = [], owner: string) => {
    for (const { value } of options) owners.set(value, owner);
  };
  for (const { part, name } of problems.filter(({ isMissing }) => isMissing)) {
    const shape = shapeFor(part, about);
    missing.push(creation(about, name, shape, titles[part]));
    own(shape.custom_field_options, kind.named(`"${name}"`));
  }
  for (const [part, field] of targets) {
    const [at, name] = [`${kind.setting}.${part}`, nameOf(kind, field)];
    const [other = part] = [...targets].find(([, one]) => one === field) ?? [];
    const twice = `${name} is also ${kind.setting}.${other}: one value overwrites the other`;
    if (other !== part) findings.push(errorAt(at, twice, 'Name another field'));
    const lacking = missingTags(part, field, about);
    findings.push(...valueFindings(about, part, field, lacking));
    const locked = `${name} may not be edited by agents, so perhaps not by us`;
    if (field.agent_can_edit === false) findings.push(warningAt(at, locked, `Allow agents to edit it (${kind.place})`));
    const required = `${name} is required to solve a ticket: agents have to make up the customer's answer`;
    if (field.required === true) findings.push(warningAt(at, required, `Make it optional (${kind.place})`));
    // If one grade can't get an option, options for the other grades alone are useless: `check` says why.
    if (lacking.length === 0 || lacking.some((tag) => obstacle(tag, owners) !== undefined)) continue;
    const options = lacking.map((tag) => optionFor(part, tag, about));
    missing.push(addition(about, field, options));
    own(options, name);
  }
  return { findings, missing };
}

function objectItself(object: string, { setting, place }: FieldKind, create: Create): Comparison {
  const words = object.replaceAll(/[_-]+/g, ' ').trim();
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const body = { custom_object: { key: object, title, title_pluralized: `${title} records` } };
  const id = `custom object "${object}"`;
  const note = `Who sees the records of "${title}", with what customers wrote, is set at the object: ${place}.`;
  const make = () => create('POST', '/api/v2/custom_objects', body, z.unknown()).then(() => ({ note }));
  const problem = `there is no custom object with the key "${object}"`;
  const remedy = `Let "closeloop setup" create it, or take its key from ${place}`;
  return {
    findings: [errorAt(`${setting}.object`, problem, remedy)],
    missing: [{ id, what: `create the ${id}`, make }],
  };
}

/** The titles of new fields that the configuration names by their keys. */
const titles: Readonly<Record<string, string>> = {
  ...{ grade: 'Feedback grade', comment: 'Feedback comment', answeredAt: 'Feedback answered at', ticket: 'Ticket' },
};

function creation({ kind, create }: Compared, name: string, shape: Shape, title: string | undefined): SetupItem {
  const isTitled = kind.by === 'title';
  const field = { ...(isTitled ? { title: name } : { key: name, title }), ...shape };
  const { type, custom_field_options: options } = shape;
  const made = options === undefined ? type : `dropdown: ${options.map(({ value }) => value).join(', ')}`;
  const note = `Agents see "${name}" once it is on their ticket forms: Admin Center > Objects and rules > Tickets > Forms. closeloop writes it without that.`;
  const id = kind.named(`"${name}"`);
  const make = () =>
    create('POST', kind.path, { [kind.one]: field }, z.unknown()).then(() => (isTitled ? { note } : {}));
  return { id, what: `create the ${id} (${made})`, make };
}

function addition({ kind, create }: Compared, field: Field, options: readonly NewOption[]): SetupItem {
  const name = `the ${nameOf(kind, field)}`;
  const path = `${kind.path}/${field.id}`;
  async function make() {
    if (kind.one === 'custom_object_field') {
      // Zendesk has no call for one option of a custom object's field, and deletes options that the sent list lacks, with their values.
      const known = (field.custom_field_options ?? []).map(({ id, name, raw_name, value }) => {
        return { ...(id != null && { id }), name: raw_name ?? name, value };
      });
      await create('PATCH', path, { [kind.one]: { custom_field_options: [...known, ...options] } }, z.unknown());
      return {};
    }
    // Options are added one by one, because replacing the list would delete options that a person adds meanwhile, with their values.
    for (const option of options) await create('POST', `${path}/options`, { custom_field_option: option }, z.unknown());
    return {};
  }
  const what = `add the options ${listed(options.map(({ value }) => value))} to ${name}`;
  return { id: `options of ${name}`, what, make };
}

const listed = (values: readonly string[]): string => values.map((one) => `"${one}"`).join(', ');

/** Checks that the field takes all values that closeloop would write. @param lacking the tags of which it has no option */
function valueFindings(about: Compared, part: Part, field: Field, lacking: readonly string[]): Finding[] {
  const { kind, owners, grades } = about;
  const [name, { place }] = [nameOf(kind, field), kind];
  const error = (problem: string, remedy: string): Finding[] => [errorAt(`${kind.setting}.${part}`, problem, remedy)];
  if (lacking.length > 0) {
    const setting = part === 'grade' ? 'writeBack.gradeValues' : 'writeBack.statusValues';
    const problem = `${name} has no option with the tag ${listed(lacking)}: Zendesk drops such a value without an error`;
    const obstacles = lacking.flatMap((tag) => obstacle(tag, owners) ?? []).join('; ');
    const add = `Run "closeloop setup", add the options yourself (${place}), or name existing tags in ${setting}`;
    if (obstacles === '') return error(problem, add);
    const other = part === 'grade' ? 'a number field' : 'a text field';
    const instead = `Name other tags in ${setting} and run "closeloop setup", or name ${other} (${place})`;
    return error(`${problem}; it can't be added: ${obstacles}`, instead);
  }
  if (part !== 'grade') return [];
  const fractions = fractionsIn(grades);
  if (field.type === 'integer' && fractions !== undefined) {
    const remedy = `Name another field, of type decimal (${place}): "closeloop setup" creates such a field`;
    return error(`${name} takes whole numbers only, not ${fractions}`, remedy);
  }
  if (field.type === 'checkbox' && !isTicks(Object.values(kind.settings.writeBack.gradeValues))) {
    const problem = `${name} is a checkbox, which takes "true" and "false" only`;
    return [errorAt('writeBack.gradeValues', problem, 'Write "true" or "false" after each grade')];
  }
  const values = field.type === 'regexp' ? valuesOf(part, field.type, about) : [];
  const refused = values.filter((one) => !matches(field, one));
  const remedy = `Correct the pattern (${place}), or write what it allows in writeBack.gradeValues`;
  return refused.length === 0 ? [] : error(`the pattern of ${name} does not allow ${listed(refused)}`, remedy);
}

const isTicks = (values: readonly string[]): boolean => values.every((value) => value === 'true' || value === 'false');

/** The missing tags of a dropdown, which silently drops unknown values; empty for other fields. */
function missingTags(part: Part, field: Field, about: Compared): string[] {
  if (!isChoice(field) || (part !== 'grade' && part !== 'status')) return [];
  const held = new Set(field.custom_field_options?.map(({ value }) => value));
  return valuesOf(part, field.type, about).filter((tag) => !held.has(tag));
}

/** All values, as strings, that write-backs can put into a field of this type. The code that writes them makes them here too. */
function valuesOf(part: 'grade' | 'status', type: string, { kind, grades }: Compared): string[] {
  const { writeBack } = kind.settings;
  const statuses = writeBack.noAnswer ? (['answered', 'no-answer'] as const) : (['answered'] as const);
  const parts: AnswerPart[] =
    part === 'grade' ? grades.map((value) => ({ part, value })) : statuses.map((value) => ({ part, value }));
  const values = parts.map((one) => valueFor(one, { type }, writeBack)).filter((value) => value !== undefined);
  return [...new Set(values.map(String))];
}

/** Whether a text matches the field's pattern, a Ruby expression. A pattern that JavaScript can't read counts as matched, and is left to Zendesk. */
function matches({ regexp_for_validation: pattern }: Field, text: string): boolean {
  if (pattern == null) return true;
  try {
    return new RegExp(pattern.replaceAll('\\A', '^').replaceAll(/\\[zZ]/g, '$')).test(text);
  } catch {
    return true;
  }
}

/**
 * The field that `setup` creates for a part. A grade is a number, so that reports can calculate with it, unless `gradeValues` gives it tags;
 * then a ticket field is a dropdown, or text if a dropdown can't have those tags. Users and records keep the number: the tags belong to the
 * ticket field, and a user's tags would be copied to the user's next ticket.
 */
function shapeFor(part: Part, about: Compared): Shape {
  const mapped = about.kind.by === 'title' ? Object.entries(about.kind.settings.writeBack.gradeValues) : [];
  if (part === 'ticket') return { type: 'text' };
  if (part === 'answeredAt') return { type: 'date' };
  if (part === 'comment' || isSurveyPart(part)) return { type: 'textarea' };
  if (part === 'grade' && mapped.length === 0)
    return { type: gradeTypes(about.grades, { whole: 'integer', fraction: 'decimal' })[0] };
  if (part === 'grade' && isTicks(mapped.map(([, value]) => value))) return { type: 'checkbox' };
  const answers = { ...about, grades: about.grades.length > 0 ? about.grades : mapped.map(([grade]) => Number(grade)) };
  const tags = valuesOf(part, 'tagger', answers);
  if (tags.some((tag) => obstacle(tag, about.owners) !== undefined)) return { type: 'text' };
  return { type: 'tagger', custom_field_options: tags.map((tag) => optionFor(part, tag, answers)) };
}

/** A new option, with a name for agents: the grades that the tag stands for, or the tag's meaning. */
function optionFor(part: Part, tag: string, { kind, grades }: Compared): NewOption {
  const { gradeValues } = kind.settings.writeBack;
  const matching = grades.filter((grade) => (gradeValues[String(grade)] ?? String(grade)) === tag);
  const words = tag.replace(/^fb_/, '').replaceAll('_', ' ');
  return { name: part === 'grade' && matching.length > 0 ? matching.join(', ') : words, value: tag };
}

/**
 * The tags of dropdowns, multi-selects and checkboxes, including inactive ones, with the field that owns each tag. A tag belongs to one option
 * of one field: on a ticket it selects that option, and users' tags are copied to their tickets.
 * Source: support.zendesk.com, "Understanding tags and ticket fields" and "Adding tags to users and organizations".
 */
const tagsOf = (kind: FieldKind, fields: readonly Field[]): [tag: string, owner: string][] =>
  fields.flatMap((field) => {
    const tags = [...(field.custom_field_options ?? []).map(({ value }) => value), ...(field.tag ? [field.tag] : [])];
    return tags.map((tag): [string, string] => [tag, nameOf(kind, field)]);
  });

/** Why a field can't get an option with this tag; undefined if it can. */
function obstacle(tag: string, owners: Compared['owners']): string | undefined {
  if (/\s/.test(tag)) return `"${tag}" has a space, which no tag has`;
  const owner = owners.get(tag);
  return owner === undefined ? undefined : `"${tag}" belongs to ${owner}, and Zendesk gives a tag to one field only`;
}
