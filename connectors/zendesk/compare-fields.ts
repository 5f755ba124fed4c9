import type { PartName } from '../../core/connector/answer.ts';
import { type Comparison, errorAt, type MissingItem, warningAt } from '../../core/connector/check.ts';
import type { Finding } from '../../core/connector/contract.ts';
import {
  type ExpectedAnswers,
  keyedShape,
  type NewOption,
  newOptions,
  type Shape,
  ticketShape,
  valueFindings,
} from './field-values.ts';
import { catalogueOf, type KeyedField, type TagOwners, type TicketField, ticketFieldName } from './fields.ts';
import {
  type FieldKind,
  isFieldId,
  objectField,
  type Resolved,
  resolveFields,
  resolveObjectFields,
  resolveUserFields,
  ticketField,
  userField,
} from './targets.ts';

/* The fields that the settings name, compared with those that the account has: `check` tells the findings, `setup` makes what is missing. */

/** A field or object that the account lacks, and the calls that create it. */
export interface MissingField extends MissingItem {
  calls: { method: 'POST' | 'PATCH'; path: string; body: object }[];
  /** Options that are created with it. */
  options?: readonly NewOption[] | undefined;
  /** What a person has to do next. */
  note?: string;
}

type FieldComparison = Comparison<MissingField>;

/** A target with the account's field. */
interface Held<F> {
  part: PartName;
  field: F;
  /** As a person finds it. */
  name: string;
}

/** The title of a new field that the configuration names by its key. */
const titles: Readonly<Record<string, string>> = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback answered at',
};

/** Ticket fields. Those that are named by a title can be made. */
export function compareTicketFields(
  fields: readonly TicketField[],
  answers: ExpectedAnswers,
  owners: TagOwners,
): FieldComparison {
  const { writeBack } = answers;
  const resolved = resolveFields(writeBack, catalogueOf(fields));
  const byId = new Map(fields.map((field) => [field.id, field]));
  const held = heldBy(resolved, byId, ticketFieldName);
  const missing = resolved.problems.flatMap(({ part, why, ref: title }): MissingField[] => {
    if (why !== 'missing' || isFieldId(title)) return [];
    const shape = ticketShape(part, answers, owners);
    return [
      {
        id: `ticket field "${title}"`,
        what: `create the ticket field "${title}" (${described(shape)})`,
        calls: [{ method: 'POST', path: '/api/v2/ticket_fields.json', body: { ticket_field: { title, ...shape } } }],
        options: shape.custom_field_options,
        note: `Agents see "${title}" once it is on their ticket forms: Admin Center > Objects and rules > Tickets > Forms. closeloop writes it without that.`,
      },
    ];
  });
  const bare = held.flatMap(({ part, field }) => {
    const name = `the ticket field ${field.id} "${field.title ?? ''}"`;
    return missingOptions(name, newOptions(part, field, answers, owners), (options) =>
      options.map((option) => addOption(`/api/v2/ticket_fields/${field.id}`, option)),
    );
  });
  return {
    findings: [
      ...resolved.problems.flatMap(({ part: _part, why, ref, ...finding }) => {
        const named = byId.get(ref);
        // More specific than that its type doesn't fit.
        return why === 'type' && named?.removable === false ? systemField(finding.at, named) : [finding];
      }),
      ...held.flatMap(({ part, field, name }, index) => [
        ...valueFindings({ part, at: `writeBack.${part}`, name, place: ticketField.place }, field, answers, owners),
        ...ticketFindings(`writeBack.${part}`, field),
        ...held.slice(0, index).flatMap((other) => {
          const problem = `${name} is also writeBack.${other.part}: one value overwrites the other`;
          return other.field === field ? [errorAt(`writeBack.${part}`, problem, 'Name another field')] : [];
        }),
      ]),
    ],
    missing: [...missing, ...bare],
  };
}

function systemField(at: string, field: TicketField): Finding[] {
  const problem = `${ticketFieldName(field)} is one of Zendesk's own fields, which has its own meaning`;
  return [
    errorAt(at, problem, `Create a field for it (${ticketField.place}), or give a title and run "closeloop setup"`),
  ];
}

function ticketFindings(at: string, field: TicketField): Finding[] {
  const name = ticketFieldName(field);
  const { place } = ticketField;
  const locked = `${name} may not be edited by agents, so perhaps not by us`;
  const required = `${name} is required to solve a ticket: agents have to make up the customer's answer`;
  return [
    ...(field.removable === false ? systemField(at, field) : []),
    ...(field.agent_can_edit === false ? [warningAt(at, locked, `Allow agents to edit it (${place})`)] : []),
    ...(field.required === true ? [warningAt(at, required, `Make it optional (${place})`)] : []),
  ];
}

/** User fields, as far as the settings name any. */
export function compareUserFields(
  fields: readonly KeyedField[],
  answers: ExpectedAnswers,
  owners: TagOwners,
): FieldComparison {
  const resolved = resolveUserFields(answers.writeBack, fields);
  return compareKeyed(userField, resolved, fields, answers, owners, {
    create: (part, key) => {
      const { type } = keyedShape(part, answers);
      const user_field = { key, title: titles[part], type };
      return {
        id: `user field "${key}"`,
        what: `create the user field "${key}" (${type})`,
        calls: [{ method: 'POST', path: '/api/v2/user_fields.json', body: { user_field } }],
      };
    },
    nameOf: (key) => `the user field "${key}"`,
    addOptions: ({ key }, options) => options.map((option) => addOption(`/api/v2/user_fields/${key}`, option)),
  });
}

/** The custom object and its fields, where the settings name one. @param fields Undefined: there is no such object. */
export function compareObject(fields: readonly KeyedField[] | undefined, answers: ExpectedAnswers): FieldComparison {
  const { object, ticket } = answers.writeBack.customObject ?? {};
  if (object === undefined) return { findings: [], missing: [] };
  const kind = objectField(answers.writeBack);
  const path = `/api/v2/custom_objects/${object}/fields`;
  const creation = (key: string, title: string | undefined, { type }: Shape): MissingField => ({
    id: `object field "${key}"`,
    what: `create the field "${key}" of the custom object "${object}" (${type})`,
    calls: [{ method: 'POST', path, body: { custom_object_field: { key, title, type } } }],
  });
  const there = fields ?? [];
  const resolved = resolveObjectFields(answers.writeBack, there);
  const compared = compareKeyed(kind, resolved, there, answers, new Map(), {
    create: (part, key) => creation(key, titles[part], keyedShape(part, answers)),
    nameOf: (key) => `the field "${key}" of the custom object "${object}"`,
    addOptions: ({ key, custom_field_options }, options) => {
      // There is no call for one option: options that the list lacks would be deleted, with their values.
      const known = (custom_field_options ?? []).map(({ id, name, raw_name, value }) => {
        return { ...(id == null ? {} : { id }), name: raw_name ?? name, value };
      });
      const custom_object_field = { custom_field_options: [...known, ...options] };
      return [{ method: 'PATCH', path: `${path}/${key}`, body: { custom_object_field } }];
    },
  });
  const remedy = `Let "closeloop setup" create it, or take its key from ${kind.place}`;
  if (fields === undefined) {
    const finding = errorAt(`${kind.setting}.object`, `there is no custom object with the key "${object}"`, remedy);
    const link = ticket === undefined ? [] : [creation(ticket, 'Ticket', { type: 'text' })];
    return { findings: [finding], missing: [objectItself(object), ...compared.missing, ...link] };
  }
  if (ticket === undefined) return compared;
  const link = there.find(({ key }) => key === ticket);
  const at = `${kind.setting}.ticket`;
  if (link === undefined) {
    const finding = errorAt(at, `the custom object "${object}" has no field "${ticket}"`, remedy);
    return {
      findings: [...compared.findings, finding],
      missing: [...compared.missing, creation(ticket, 'Ticket', { type: 'text' })],
    };
  }
  if (link.active !== false) return compared;
  const problem = `the field "${ticket}" of the custom object "${object}" is inactive`;
  return { ...compared, findings: [...compared.findings, errorAt(at, problem, `Activate it (${kind.place})`)] };
}

function objectItself(object: string): MissingField {
  const words = object.replaceAll(/[_-]+/g, ' ').trim();
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const custom_object = { key: object, title, title_pluralized: `${title} records` };
  return {
    id: `custom object "${object}"`,
    what: `create the custom object "${object}"`,
    calls: [{ method: 'POST', path: '/api/v2/custom_objects', body: { custom_object } }],
    note: `Who sees the records of "${title}", with what customers wrote, is set at the object: Admin Center > Objects and rules > Custom objects > Objects.`,
  };
}

/** The calls that create fields known by their key. */
interface Making {
  create(part: PartName, key: string): MissingField;
  nameOf(key: string | null | undefined): string;
  addOptions(field: KeyedField, options: readonly NewOption[]): MissingField['calls'];
}

function compareKeyed(
  { setting, place }: FieldKind,
  resolved: Resolved,
  fields: readonly KeyedField[],
  answers: ExpectedAnswers,
  owners: TagOwners,
  making: Making,
): FieldComparison {
  const held = heldBy(resolved, new Map(fields.map((field) => [field.key, field])), ({ key }) => `field "${key}"`);
  return {
    findings: [
      ...resolved.problems.map(({ part: _part, ref: _ref, why: _why, ...finding }) => finding),
      ...held.flatMap(({ part, field, name }) =>
        valueFindings({ part, at: `${setting}.${part}`, name, place }, field, answers, owners),
      ),
    ],
    missing: [
      ...resolved.problems.flatMap(({ part, why, ref }) => (why === 'missing' ? [making.create(part, ref)] : [])),
      ...held.flatMap(({ part, field }) =>
        missingOptions(making.nameOf(field.key), newOptions(part, field, answers, owners), (options) =>
          making.addOptions(field, options),
        ),
      ),
    ],
  };
}

function heldBy<F>({ targets }: Resolved, fields: ReadonlyMap<unknown, F>, nameOf: (field: F) => string): Held<F>[] {
  return [...targets].flatMap(([part, { id }]) => {
    const field = fields.get(id);
    return field === undefined ? [] : [{ part, field, name: nameOf(field) }];
  });
}

function missingOptions(
  name: string,
  options: readonly NewOption[],
  calls: (options: readonly NewOption[]) => MissingField['calls'],
): MissingField[] {
  if (options.length === 0) return [];
  const tags = options.map(({ value }) => `"${value}"`).join(', ');
  return [{ id: `options of ${name}`, what: `add the options ${tags} to ${name}`, calls: calls(options), options }];
}

/** One by one: replacing the list would delete options that are added meanwhile, with their values. */
const addOption = (field: string, option: NewOption): MissingField['calls'][number] => ({
  method: 'POST',
  path: `${field}/options.json`,
  body: { custom_field_option: option },
});

const described = ({ type, custom_field_options: options }: Shape): string =>
  options === undefined ? type : `dropdown: ${options.map(({ value }) => value).join(', ')}`;
