import type { CustomField, FieldValue } from './definitions.ts';
import { notAChoice, problem } from './endpoint.ts';
import { type FieldsForm, pick, put } from './operations-form.ts';
import { parseDay, parseTimeOfDay, type Zone } from './zone.ts';

type Read = { ok: true; value: FieldValue } | { ok: false; message: string };

const good = (value: FieldValue): Read => ({ ok: true, value });
const bad = (message: string): Read => ({ ok: false, message });

/**
 * What is sent for custom fields, by position of the campaign's fields.
 * @param sent Field name → value; null and text in which nothing is to be seen count as absent.
 * @param wrong takes the name of every wrong field with the messages about it (the shape of specification 4.2)
 */
export function readFieldValues(
  fields: readonly CustomField[],
  sent: ReadonlyMap<string, unknown>,
  zone: Zone,
  wrong: Record<string, string[]>,
): (FieldValue | null)[] | null {
  for (const name of sent.keys()) {
    if (!fields.some((field) => field.name === name)) wrong[name] = ['The campaign has no custom field of this name.'];
  }
  const values = fields.map((field): FieldValue | null => {
    const given = sent.get(field.name);
    if (given === undefined || given === null || (typeof given === 'string' && isBlank(given))) {
      if (field.required) wrong[field.name] = ['This field is required.'];
      return null;
    }
    const read = readValue(field, given, zone);
    if (read.ok) return read.value;
    wrong[field.name] = [read.message];
    return null;
  });
  return fields.length === 0 ? null : values;
}

/**
 * One value by its field's type. The specification names the types, not their JSON: numbers and truth values are taken
 * as JSON has them and as the words a form would send; everything else is a string.
 */
function readValue(field: CustomField, given: unknown, zone: Zone): Read {
  if (field.fieldType === 'Integer') {
    const number = typeof given === 'string' && /^[+-]?\d+$/.test(given) ? Number(given) : given;
    return typeof number === 'number' && Number.isSafeInteger(number)
      ? good(number)
      : bad('A valid integer is required.');
  }
  if (field.fieldType === 'Yes/No') {
    if (typeof given === 'boolean') return good(given);
    if (given === 'Yes' || given === 'No') return good(given === 'Yes');
    return bad('Must be true or false.');
  }
  if (typeof given !== 'string') return bad('Not a valid string.');
  switch (field.fieldType) {
    case 'Text':
      return good(given);
    case 'Date':
      return parseDay(given) === undefined ? bad('Date has wrong format. Use YYYY-MM-DD.') : good(given);
    case 'Time':
      if (parseTimeOfDay(given) === undefined) return bad('Time has wrong format. Use HH:MM or HH:MM:SS.');
      return good(given.length === 5 ? `${given}:00` : given);
    case 'Date and time': {
      const at = zone.parse(given);
      return at === undefined ? bad('Datetime has wrong format. Use ISO 8601.') : good(zone.timestamp(at));
    }
    case 'Choice':
      return field.choices.includes(given) ? good(given) : bad(notAChoice(given));
    case 'URL address':
      return isWebAddress(given) ? good(given) : bad('Enter a valid URL.');
  }
}

/** The custom fields of a create body in either form, by name. */
export function sentFields(given: unknown, form: FieldsForm, place: string): Map<string, unknown> {
  if (given === undefined || given === null) return new Map();
  if (form === 'object') {
    if (typeof given === 'object' && !Array.isArray(given)) return new Map(Object.entries(given));
    throw problem(400, { [place]: ['Expected an object of field names and values.'] });
  }
  const sent = new Map<string, unknown>();
  for (const entry of Array.isArray(given) ? given : [undefined]) {
    const name = pick(entry, form.name);
    if (typeof name !== 'string') {
      throw problem(400, { [place]: [`Expected a list of objects with ${form.name} and ${form.value}.`] });
    }
    if (sent.has(name)) throw problem(400, { [name]: ['This field is given twice.'] });
    sent.set(name, pick(entry, form.value));
  }
  return sent;
}

/** The custom fields of a record in either form; fields without a value are left out. */
export function shownFields(
  fields: readonly CustomField[],
  values: readonly (FieldValue | null)[] | null,
  form: FieldsForm,
): object {
  const given = fields.flatMap((field, index) => {
    const value = values?.[index] ?? null;
    return value === null ? [] : [{ name: field.name, value }];
  });
  if (form === 'object') return Object.fromEntries(given.map(({ name, value }) => [name, value]));
  return given.map(({ name, value }) => {
    const entry = {};
    put(entry, form.name, name);
    put(entry, form.value, value);
    return entry;
  });
}

/** Spaces, and characters without width: the service would show an empty line. */
export const isBlank = (text: string): boolean => /^[\s\p{Default_Ignorable_Code_Point}]*$/u.test(text);

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}
