import type { Invalid } from './context.ts';
import type { FieldValue, TicketField } from './definitions.ts';

export type Taken =
  | { do: 'set'; value: FieldValue }
  /** Dropped without a word, as the vendor does. */
  | { do: 'drop' }
  | { do: 'refuse'; details: Invalid };

const maxText = 65_536;

/** What becomes of a value sent for a custom field. Values of another JSON type are converted or dropped, as the vendor does. */
export function takeValue(field: TicketField, value: unknown): Taken {
  if (!field.active) return { do: 'drop' };
  if (value === null || value === '') return { do: 'set', value: field.type === 'checkbox' ? false : null };
  const options = field.options.map((option) => option.value);
  switch (field.type) {
    case 'tagger':
      return typeof value === 'string' && options.includes(value) ? { do: 'set', value } : { do: 'drop' };
    case 'multiselect': {
      const given = Array.isArray(value) ? value : [value];
      const known = given.filter((one): one is string => typeof one === 'string' && options.includes(one));
      return known.length === 0 && given.length > 0 ? { do: 'drop' } : { do: 'set', value: known };
    }
    case 'checkbox':
      return { do: 'set', value: value === true || value === 'true' || value === '1' || value === 1 };
    case 'integer': {
      const text = plain(value);
      if (text === undefined || !/^-?\d{1,18}$/.test(text)) return invalid(field, 'must be an integer');
      return { do: 'set', value: Number(text) };
    }
    case 'decimal': {
      const text = plain(value);
      if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return invalid(field, 'must be a decimal number');
      return { do: 'set', value: text };
    }
    case 'date': {
      const day =
        typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
      const real = day !== undefined && !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === value;
      return real && typeof value === 'string' ? { do: 'set', value } : invalid(field, 'is not a valid date');
    }
    case 'regexp': {
      const text = plain(value);
      const good = text !== undefined && (field.regexp === null || new RegExp(field.regexp).test(text));
      return good ? { do: 'set', value: text } : invalid(field, 'is invalid');
    }
    case 'text':
    case 'textarea':
    case 'partialcreditcard':
    case 'lookup': {
      const text = plain(value);
      if (text === undefined) return { do: 'drop' };
      return text.length > maxText
        ? invalid(field, 'is too long (maximum is 65536 characters)')
        : { do: 'set', value: text };
    }
  }
}

/** Tags a field's value puts on the ticket. */
export function tagsOf(field: TicketField, value: FieldValue | undefined): string[] {
  if (field.type === 'tagger') return typeof value === 'string' ? [value] : [];
  if (field.type === 'multiselect') return Array.isArray(value) ? value : [];
  if (field.type === 'checkbox') return value === true && field.tag !== null ? [field.tag] : [];
  return [];
}

/** What the field's value must be when the ticket carries `tags`; `undefined` for fields that have nothing to do with tags. */
export function valueFromTags(
  field: TicketField,
  current: FieldValue | undefined,
  tags: readonly string[],
): FieldValue | undefined {
  const present = field.options.map((option) => option.value).filter((value) => tags.includes(value));
  if (field.type === 'tagger')
    return typeof current === 'string' && tags.includes(current) ? current : (present[0] ?? null);
  if (field.type === 'multiselect') return present.length === 0 ? null : present;
  if (field.type === 'checkbox' && field.tag !== null) return tags.includes(field.tag);
  return undefined;
}

function plain(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

const railsTypes: Partial<Record<TicketField['type'], string>> = {
  integer: 'FieldInteger',
  decimal: 'FieldDecimal',
  date: 'FieldDate',
  regexp: 'FieldRegexp',
};

function invalid(field: TicketField, what: string): Taken {
  const type = railsTypes[field.type] ?? 'FieldText';
  return {
    do: 'refuse',
    details: { base: [{ description: `${field.title}: ${what}`, ticket_field_id: field.id, ticket_field_type: type }] },
  };
}
