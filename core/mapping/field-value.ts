import { composed, isBlank } from '../visible-text.ts';
import { readDate, readDateAndTime, readTime } from './calendar-value.ts';

/** A campaign's custom field, as the service defines it (specification, section 2). */
export interface FieldDefinition {
  name: string;
  field_type: 'Text' | 'Integer' | 'Date' | 'Time' | 'Date and time' | 'Yes/No' | 'Choice' | 'URL address';
  required: boolean;
  /** The possible values of a `Choice`; empty for other types. */
  choices: string[];
}

/** One value as it is sent. */
export type CustomValue = string | number | boolean;

/**
 * `value: undefined`: there is no value, and nothing is sent. `why` names the kind of the value and never quotes it, as it may be personal data.
 */
export type Converted = { ok: true; value: CustomValue | undefined } | { ok: false; why: string };

interface ConvertOptions {
  /** IANA name of the account's zone: the zone of times without an offset, and of the dates and times that are sent. */
  timeZone: string;
}

/** Converts the result of an expression to the field's type, by the table in docs/custom-fields.md. */
export function convert(definition: FieldDefinition, value: unknown, options: ConvertOptions): Converted {
  const single = singleOf(value);
  if (Array.isArray(single)) return no(`a list of ${single.length} values; take one, or $join() them`);
  if (single === undefined || single === null) return { ok: true, value: undefined };
  if (typeof single === 'string') {
    if (isBlank(single)) return { ok: true, value: undefined };
    // A choice itself may begin or end with spaces.
    return converted(definition, definition.field_type === 'Choice' ? single : single.trim(), options);
  }
  const isPlain = typeof single === 'boolean' || (typeof single === 'number' && Number.isFinite(single));
  return isPlain
    ? converted(definition, single, options)
    : no('an object, not a value; name the part of it that is meant');
}

/** A list with a single entry, at any depth, counts as the entry, and an empty list as no value. JSONata treats lists in the same way. */
function singleOf(value: unknown): unknown {
  if (!Array.isArray(value) || value.length > 1) return value;
  return singleOf(value[0]);
}

function converted(
  { field_type, choices }: FieldDefinition,
  value: CustomValue,
  { timeZone }: ConvertOptions,
): Converted {
  switch (field_type) {
    case 'Text':
      return text(value);
    case 'Integer':
      return integer(value);
    case 'Yes/No':
      return yesNo(value);
    case 'Choice':
      return choice(value, choices);
    case 'URL address':
      return url(value);
    case 'Date':
      return calendar(value, timeZone, readDate);
    case 'Time':
      return calendar(value, timeZone, readTime);
    case 'Date and time':
      return calendar(value, timeZone, readDateAndTime);
  }
}

const yes = (value: CustomValue): Converted => ({ ok: true, value });
const no = (why: string): Converted => ({ ok: false, why });

function text(value: CustomValue): Converted {
  const written = String(value);
  return written.isWellFormed() ? yes(written) : no('a text that is not valid Unicode');
}

/** Reads a whole number. Shops write amounts as "42.00", which is whole; the meaning of "4e2" and "1,000" would be a guess. */
function integer(value: CustomValue): Converted {
  if (typeof value === 'boolean') return no('a yes/no value, not a whole number');
  const isText = typeof value === 'string';
  if (isText && !/^[+-]?\d+(?:\.0+)?$/.test(value)) return no("a text that isn't a whole number");
  const number = Number(value);
  if (!isText && !Number.isInteger(number)) return no("a number that isn't whole");
  if (!Number.isSafeInteger(number)) return no('a number too large to be exact');
  return yes(number === 0 ? 0 : number);
}

const answers = new Map([
  ...['true', 'yes', '1'].map((word) => [word, true] as const),
  ...['false', 'no', '0'].map((word) => [word, false] as const),
]);

function yesNo(value: CustomValue): Converted {
  const found = answers.get(String(value).toLowerCase());
  return found === undefined ? no(`a ${kindOf(value)} that is neither true, yes or 1 nor false, no or 0`) : yes(found);
}

function choice(value: CustomValue, choices: readonly string[]): Converted {
  const written = String(value);
  const plain = (one: string) => composed(one.trim()).toLowerCase();
  const exact = choices.find((one) => one === written);
  if (exact !== undefined) return yes(exact);
  const wanted = plain(written);
  const [alike, ...others] = choices.filter((one) => plain(one) === wanted);
  if (alike !== undefined && others.length === 0) return yes(alike);
  const list = choices.map((one) => `"${one}"`).join(', ') || 'the campaign has none';
  const flaw = others.length > 0 ? 'fits several choices, differing in case' : 'is none of the choices';
  return no(`a ${kindOf(value)} that ${flaw}: ${list}`);
}

function url(value: CustomValue): Converted {
  if (typeof value !== 'string') return no(`a ${kindOf(value)}, not a web address`);
  const parsed = /\s/.test(value) ? null : URL.parse(value);
  if (parsed === null) return no("a text that isn't a web address (https://…)");
  if (!/^https?:\/\//i.test(value)) return no('an address that is neither http:// nor https://');
  return yes(parsed.href);
}

function calendar(
  value: CustomValue,
  timeZone: string,
  read: (text: string, timeZone: string) => Converted,
): Converted {
  if (typeof value === 'string') return read(value, timeZone);
  // Seconds or milliseconds since 1970? A guess would be wrong by decades.
  const remedy = typeof value === 'number' ? '; for milliseconds since 1970 write $fromMillis(…)' : '';
  return no(`a ${kindOf(value)}, not a date or time${remedy}`);
}

function kindOf(value: CustomValue): string {
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : 'yes/no value';
}
