import { z } from 'zod';
import type { SetupStep } from '../../core/connector.ts';
import { type AdminField, adminFields } from './admin.ts';
import { missingOptions, written } from './check-values.ts';
import type { ZendeskApi } from './client.ts';
import { catalogueOf } from './fields.ts';
import { userFields } from './keyed-fields.ts';
import type { ZendeskSettings } from './settings.ts';
import { fieldFor, isFieldId, isMain, type MainPart, type Part, resolveFields, resolveUserFields } from './targets.ts';

type WriteBackSettings = ZendeskSettings['writeBack'];

/** Ticket fields that are named by a title and don't exist, and options that dropdowns lack. */
export async function ticketFieldSteps(
  settings: WriteBackSettings,
  grades: readonly number[],
  api: ZendeskApi,
  create: ZendeskApi['send'],
): Promise<SetupStep[]> {
  const missing = (fields: readonly AdminField[]) =>
    resolveFields(settings, catalogueOf(fields)).problems.flatMap(({ part, why }) => {
      const title = fieldFor(settings, part);
      return why === 'missing' && title !== undefined && !isFieldId(title) ? [{ part, title }] : [];
    });
  const fields = await adminFields(api);
  const creations = missing(fields).map(({ part, title }): SetupStep => {
    const shape = shapeOf(part, settings, grades, 'tagger');
    return {
      what: `create the ticket field "${title}" (${described(shape)})`,
      apply: async () => {
        if (!missing(await adminFields(api)).some((one) => one.title === title)) return {};
        await create('POST', '/api/v2/ticket_fields.json', { ticket_field: { title, ...shape } }, z.unknown());
        return {
          note: `Agents see "${title}" once it is on their ticket forms: Admin Center > Objects and rules > Tickets > Forms. closeloop writes it without that.`,
        };
      },
    };
  });
  return [...creations, ...optionSteps(settings, grades, fields, api, create)];
}

function optionSteps(
  settings: WriteBackSettings,
  grades: readonly number[],
  fields: readonly AdminField[],
  api: ZendeskApi,
  create: ZendeskApi['send'],
): SetupStep[] {
  const lacking = (all: readonly AdminField[], part: Part) => {
    const id = resolveFields(settings, catalogueOf(all)).targets[part]?.id;
    const field = all.find((one) => one.id === id);
    const tags = field === undefined ? [] : missingOptions(part, field, settings, grades);
    return field === undefined || tags.length === 0 ? undefined : { field, tags };
  };
  return (['grade', 'status'] as const).flatMap((part) => {
    const now = lacking(fields, part);
    if (now === undefined) return [];
    const tags = now.tags.map((tag) => `"${tag}"`).join(', ');
    const step: SetupStep = {
      what: `add the options ${tags} to the ticket field ${now.field.id} "${now.field.title ?? ''}"`,
      apply: async () => {
        const left = lacking(await adminFields(api), part);
        // One by one: replacing the list would take options away that somebody adds meanwhile, with their values.
        for (const tag of left?.tags ?? []) {
          const path = `/api/v2/ticket_fields/${left?.field.id}/options.json`;
          await create('POST', path, { custom_field_option: optionFor(part, tag, settings, grades) }, z.unknown());
        }
        return {};
      },
    };
    return [step];
  });
}

/** User fields whose keys don't exist. */
export async function userFieldSteps(
  settings: WriteBackSettings,
  grades: readonly number[],
  api: ZendeskApi,
  create: ZendeskApi['send'],
): Promise<SetupStep[]> {
  const keys = settings.userFields;
  if (keys === undefined) return [];
  const missing = async () =>
    resolveUserFields(settings, await userFields(api)).problems.flatMap(({ part, why }) => {
      if (!isMain(part) || part === 'status') return [];
      const key = keys[part];
      return why === 'missing' && key !== undefined ? [{ part, key }] : [];
    });
  return (await missing()).map(({ part, key }): SetupStep => {
    const shape = shapeOf(part, settings, grades, 'dropdown');
    return {
      what: `create the user field "${key}" (${described(shape)})`,
      apply: async () => {
        if (!(await missing()).some((one) => one.key === key)) return {};
        const user_field = { key, title: titles[part], ...shape };
        await create('POST', '/api/v2/user_fields.json', { user_field }, z.unknown());
        return {};
      },
    };
  });
}

const titles: Record<MainPart, string> = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback answered at',
  status: 'Feedback status',
};

interface Shape {
  type: string;
  custom_field_options?: { name: string; value: string }[];
}

/**
 * The type that suits a part. A grade is a number, so that reports can count with it, unless `gradeValues` gives it tags.
 * @param dropdown What a dropdown is called here: `tagger` on tickets, `dropdown` on users.
 */
function shapeOf(
  part: Part,
  settings: WriteBackSettings,
  grades: readonly number[],
  dropdown: 'tagger' | 'dropdown',
): Shape {
  if (part === 'comment' || !isMain(part)) return { type: 'textarea' };
  if (part === 'answeredAt') return { type: 'date' };
  const mapped = Object.values(settings.gradeValues);
  if (part === 'grade' && mapped.length === 0) return { type: 'integer' };
  if (part === 'grade' && mapped.every((value) => value === 'true' || value === 'false')) return { type: 'checkbox' };
  const known = grades.length > 0 ? grades : Object.keys(settings.gradeValues).map(Number);
  const tags = written(part, dropdown, settings, known);
  // No dropdown has an option with a space in its tag.
  if (tags.some((tag) => /\s/.test(tag))) return { type: 'text' };
  return { type: dropdown, custom_field_options: tags.map((tag) => optionFor(part, tag, settings, known)) };
}

/** Named as agents would say it: the grades that a tag stands for, or what it says. */
function optionFor(part: Part, tag: string, settings: WriteBackSettings, grades: readonly number[]) {
  const meant = grades.filter((grade) => (settings.gradeValues[String(grade)] ?? String(grade)) === tag);
  const words = tag.replace(/^fb_/, '').replaceAll('_', ' ');
  return { name: part === 'grade' && meant.length > 0 ? meant.join(', ') : words, value: tag };
}

const described = ({ type, custom_field_options: options }: Shape): string =>
  options === undefined ? type : `dropdown: ${options.map(({ value }) => value).join(', ')}`;
