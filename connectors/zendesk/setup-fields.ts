import { z } from 'zod';
import type { SetupStep } from '../../core/connector/contract.ts';
import { type AccountFields, accountFields } from './account-fields.ts';
import { missingOptions, type Taker } from './check-values.ts';
import type { ZendeskApi } from './client.ts';
import { catalogueOf } from './fields.ts';
import type { KeyedField } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { described, keyedShape, type NewOption, optionFor, type Shape, ticketShape, titles } from './setup-shapes.ts';
import { obstacle, type TagOwners, tagOwners } from './tags.ts';
import {
  fieldFor,
  isFieldId,
  isMain,
  type MainPart,
  type Part,
  type Resolved,
  resolveFields,
  resolveObjectFields,
  resolveUserFields,
} from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** Something that the account lacks, and the calls that would mend it. */
interface Lack {
  what: string;
  /** The same at every look: `options of user field "last_grade"`. */
  id: string;
  calls: { method: 'POST' | 'PATCH'; path: string; body: object }[];
  /** Options that come with it. */
  options?: readonly NewOption[] | undefined;
  note?: string;
}

/**
 * Ticket fields that are named by a title, user fields, the custom object and its fields, and options of dropdowns. Every
 * step looks again, and does what is still missing then.
 */
export async function fieldSteps(
  settings: WriteBackSettings,
  grades: readonly number[],
  api: ZendeskApi,
  create: ZendeskApi['send'],
): Promise<SetupStep[]> {
  const lacks = async () => lacksOf(await accountFields(api, settings), settings, grades);
  return (await lacks()).map(({ id, what }) => ({
    what,
    apply: async () => {
      const left = (await lacks()).find((lack) => lack.id === id);
      for (const { method, path, body } of left?.calls ?? []) await create(method, path, body, z.unknown());
      return left?.note === undefined ? {} : { note: left.note };
    },
  }));
}

/** In the order in which they have to be mended. */
function lacksOf(fields: AccountFields, settings: WriteBackSettings, grades: readonly number[]): Lack[] {
  const owners = tagOwners(fields.ticket, fields.user);
  const { userFields, customObject } = settings;
  const ticket = ticketLacks(fields.ticket, settings, grades, owners);
  const claimed = ticket.flatMap(({ id, options = [] }) => options.map(({ value }): [string, string] => [value, id]));
  const allOwners = new Map([...owners, ...claimed]);
  return [
    ...ticket,
    ...(userFields === undefined ? [] : userLacks(fields.user, settings, userFields, grades, allOwners)),
    ...(customObject === undefined ? [] : objectLacks(fields.object, settings, customObject, grades)),
  ];
}

function ticketLacks(
  fields: AccountFields['ticket'],
  settings: WriteBackSettings,
  grades: readonly number[],
  owners: TagOwners,
): Lack[] {
  const { targets, problems } = resolveFields(settings, catalogueOf(fields));
  const absent = problems.flatMap(({ part, why }): Lack[] => {
    const title = fieldFor(settings, part);
    if (why !== 'missing' || title === undefined || isFieldId(title)) return [];
    const shape = ticketShape(part, settings, grades, owners);
    const place = 'Admin Center > Objects and rules > Tickets > Forms';
    return [
      {
        id: `ticket field "${title}"`,
        what: `create the ticket field "${title}" (${described(shape)})`,
        calls: [{ method: 'POST', path: '/api/v2/ticket_fields.json', body: { ticket_field: { title, ...shape } } }],
        options: shape.custom_field_options,
        note: `Agents see "${title}" once it is on their ticket forms: ${place}. closeloop writes it without that.`,
      },
    ];
  });
  const bare = (['grade', 'status'] as const).flatMap((part) => {
    const field = fields.find(({ id }) => id === targets[part]?.id);
    const name = `the ticket field ${field?.id} "${field?.title ?? ''}"`;
    return optionLacks(name, newOptions(part, field, settings, grades, owners), (options) =>
      options.map((option) => addOption(`/api/v2/ticket_fields/${field?.id}`, option)),
    );
  });
  return [...absent, ...bare];
}

type Keys = { [P in MainPart]?: string | undefined };

function userLacks(
  fields: AccountFields['user'],
  settings: WriteBackSettings,
  keys: Keys,
  grades: readonly number[],
  owners: TagOwners,
): Lack[] {
  const resolved = resolveUserFields(settings, fields);
  const absent = absentKeys(keys, resolved).map(({ part, key }): Lack => {
    const { type } = keyedShape(part);
    const user_field = { key, title: titles[part], type };
    return {
      id: `user field "${key}"`,
      what: `create the user field "${key}" (${type})`,
      calls: [{ method: 'POST', path: '/api/v2/user_fields.json', body: { user_field } }],
    };
  });
  const wanted = newOptions('grade', gradeField(fields, resolved), settings, grades, owners);
  const bare = optionLacks(`the user field "${keys.grade}"`, wanted, (options) =>
    options.map((option) => addOption(`/api/v2/user_fields/${keys.grade}`, option)),
  );
  return [...absent, ...bare];
}

function objectLacks(
  fields: AccountFields['object'],
  settings: WriteBackSettings,
  { object, ticket, ...keys }: NonNullable<WriteBackSettings['customObject']>,
  grades: readonly number[],
): Lack[] {
  const path = `/api/v2/custom_objects/${object}/fields`;
  const place = 'Admin Center > Objects and rules > Custom objects > Objects';
  const words = object.replaceAll(/[_-]+/g, ' ').trim();
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const definition: Lack = {
    id: `custom object "${object}"`,
    what: `create the custom object "${object}"`,
    calls: [
      {
        method: 'POST',
        path: '/api/v2/custom_objects',
        body: { custom_object: { key: object, title, title_pluralized: `${title} records` } },
      },
    ],
    note: `Who sees the records of "${title}", with what customers wrote, is set at the object: ${place}.`,
  };
  const creation = (key: string, label: string, { type }: Shape): Lack => ({
    id: `object field "${key}"`,
    what: `create the field "${key}" of the custom object "${object}" (${type})`,
    calls: [{ method: 'POST', path, body: { custom_object_field: { key, title: label, type } } }],
  });
  const held = fields ?? [];
  const resolved = resolveObjectFields(settings, held);
  const absent = absentKeys(keys, resolved).map(({ part, key }) => creation(key, titles[part], keyedShape(part)));
  const isTicketAbsent = ticket !== undefined && !held.some(({ key }) => key === ticket);
  const field = gradeField(held, resolved);
  const wanted = newOptions('grade', field, settings, grades, new Map());
  const bare = optionLacks(`the field "${keys.grade}" of the custom object "${object}"`, wanted, (options) => {
    // There is no call for one option here: those that are left out of the list are deleted, with their values.
    const kept = (field?.custom_field_options ?? []).map(({ id, name, raw_name, value }) => {
      return { ...(id == null ? {} : { id }), name: raw_name ?? name, value };
    });
    const custom_object_field = { custom_field_options: [...kept, ...options] };
    return [{ method: 'PATCH', path: `${path}/${keys.grade}`, body: { custom_object_field } }];
  });
  return [
    ...(fields === undefined ? [definition] : []),
    ...absent,
    ...(isTicketAbsent ? [creation(ticket, 'Ticket', { type: 'text' })] : []),
    ...bare,
  ];
}

/** The field that takes the grade, where there is one. */
function gradeField(fields: readonly KeyedField[], { targets: { grade } }: Resolved): KeyedField | undefined {
  return grade && fields.find(({ key }) => key === grade.id);
}

/** The parts whose fields don't exist. */
function absentKeys(keys: Keys, { problems }: Resolved): { part: MainPart; key: string }[] {
  return problems.flatMap(({ part, why }) => {
    const key = isMain(part) ? keys[part] : undefined;
    return isMain(part) && why === 'missing' && key !== undefined ? [{ part, key }] : [];
  });
}

/** What a dropdown lacks. Nothing where one of the tags can't be added: half of the grades are of no use, and `check` says why. */
function newOptions(
  part: Part,
  field: Taker | undefined,
  settings: WriteBackSettings,
  grades: readonly number[],
  owners: TagOwners,
): NewOption[] {
  if (field === undefined) return [];
  const tags = missingOptions(part, field, settings, grades);
  if (tags.some((tag) => obstacle(tag, owners) !== undefined)) return [];
  return tags.map((tag) => optionFor(part, tag, settings, grades));
}

function optionLacks(
  name: string,
  options: readonly NewOption[],
  calls: (options: readonly NewOption[]) => Lack['calls'],
): Lack[] {
  if (options.length === 0) return [];
  const tags = options.map(({ value }) => `"${value}"`).join(', ');
  return [{ id: `options of ${name}`, what: `add the options ${tags} to ${name}`, calls: calls(options), options }];
}

/** One by one: replacing the list would take options away that somebody adds meanwhile, with their values. */
const addOption = (field: string, option: NewOption): Lack['calls'][number] => ({
  method: 'POST',
  path: `${field}/options.json`,
  body: { custom_field_option: option },
});
