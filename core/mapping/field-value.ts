import { Temporal } from 'temporal-polyfill';

/** A campaign's custom field, as the service defines it (specification, section 2). */
export interface FieldDefinition {
  name: string;
  field_type: 'Text' | 'Integer' | 'Date' | 'Time' | 'Date and time' | 'Yes/No' | 'Choice' | 'URL address';
  required: boolean;
  choices: string[];
}

/** One value as it is sent. */
export type CustomValue = string | number | boolean;

/** `value: undefined`: absent, nothing is sent. `why` never quotes the value, which may be personal data. */
export type Converted = { ok: true; value: CustomValue | undefined } | { ok: false; why: string };

interface Options {
  /** The account's zone: what dates and times without an offset are in, and what they come out in. */
  timeZone: string;
}

/** What an expression found → a value of the field's type, by the table in README.md beside this file. */
export function convert(definition: FieldDefinition, value: unknown, options: Options): Converted {
  const single = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (isEmpty(single)) return { ok: true, value: undefined };
  if (typeof single === 'object') return no('a list or an object, not a single value');
  switch (definition.field_type) {
    case 'Text':
      return yes(String(single));
    case 'Integer':
      return integer(single);
    case 'Yes/No':
      return yesNo(single);
    case 'Choice':
      return choice(single, definition.choices);
    case 'URL address':
      return url(single);
    case 'Date':
      return date(single, options.timeZone);
    case 'Time':
      return time(single, options.timeZone);
    case 'Date and time':
      return dateAndTime(single, options.timeZone);
  }
}

const yes = (value: CustomValue): Converted => ({ ok: true, value });
const no = (why: string): Converted => ({ ok: false, why });

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

function integer(value: unknown): Converted {
  const isNumeral = typeof value === 'string' && /^[+-]?\d+$/.test(value.trim());
  const number = typeof value === 'number' ? value : isNumeral ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return yes(number === 0 ? 0 : number);
  return no(
    typeof value === 'number' ? 'a number that is not whole, or too large' : 'a text that is not a whole number',
  );
}

const words = new Map([
  ...['true', 'yes', '1'].map((word) => [word, true] as const),
  ...['false', 'no', '0'].map((word) => [word, false] as const),
]);

function yesNo(value: unknown): Converted {
  const found = words.get(String(value).trim().toLowerCase());
  return found === undefined ? no('neither true/yes/1 nor false/no/0') : yes(found);
}

function choice(value: unknown, choices: readonly string[]): Converted {
  const text = String(value);
  const plain = (one: string) => one.trim().toLowerCase();
  const found = choices.find((one) => one === text) ?? choices.find((one) => plain(one) === plain(text));
  if (found !== undefined) return yes(found);
  return no(`none of the choices: ${choices.map((one) => `"${one}"`).join(', ') || 'the field has none'}`);
}

function url(value: unknown): Converted {
  const parsed = URL.parse(String(value).trim());
  if (parsed === null) return no('not a web address');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    return no('an address that is neither http nor https');
  return yes(String(value).trim());
}

function date(value: unknown, zone: string): Converted {
  const text = String(value).trim();
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return plain(() => Temporal.PlainDate.from(text, strict).toString(), notDate);
  const at = instant(text, zone);
  return at ? yes(at.toPlainDate().toString()) : no(notDate);
}

function time(value: unknown, zone: string): Converted {
  const text = String(value).trim();
  if (/^\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text))
    return plain(() => clock(Temporal.PlainTime.from(text, strict)), notTime);
  const at = instant(text, zone);
  return at ? yes(clock(at.toPlainTime())) : no(notTime);
}

function dateAndTime(value: unknown, zone: string): Converted {
  const at = instant(String(value).trim(), zone);
  return at
    ? yes(at.toString({ timeZoneName: 'never', smallestUnit: 'second' }))
    : no('not a date and time (ISO 8601)');
}

const strict = { overflow: 'reject' } as const;
const notDate = 'not a date (YYYY-MM-DD, or a date and time)';
const notTime = 'not a time of day (HH:MM or HH:MM:SS, or a date and time)';

function plain(read: () => string, why: string): Converted {
  try {
    return yes(read());
  } catch {
    return no(why);
  }
}

function clock(at: Temporal.PlainTime): string {
  return at.toString({ smallestUnit: 'second' });
}

/** An ISO 8601 date and time, in the account's zone; without an offset it is read as one there. */
function instant(text: string, zone: string): Temporal.ZonedDateTime | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) return undefined;
  const iso = text.replace(' ', 'T');
  try {
    if (/(Z|[+-]\d\d(:?\d\d)?)$/i.test(iso)) return Temporal.Instant.from(iso).toZonedDateTimeISO(zone);
    return Temporal.PlainDateTime.from(iso, strict).toZonedDateTime(zone);
  } catch {
    return undefined;
  }
}
