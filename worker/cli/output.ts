import { once } from 'node:events';
import { styleText } from 'node:util';
import { messageOf } from '../../core/errors.ts';
import { inZone } from '../support/shown-time.ts';

/** How a command prints its results. */
interface Form {
  /** One JSON object a line, for machines, in UTC. */
  json: boolean;
  /** For people: the zone on whose clock instants are written. */
  timeZone?: string;
}

/** Prints one result. @param text the lines that people see in place of JSON */
export function print({ json, timeZone }: Form, result: object, text: string | readonly string[]): void {
  const lines = [text].flat().join('\n');
  const shown = timeZone === undefined ? lines : inZone(lines, timeZone);
  process.stdout.write(`${json ? JSON.stringify(result) : shown}\n`);
}

/** Prints a message that is no result: on standard error, so that output stays for machines. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Prints a result; for people its fields, one below the other. */
export function printFields(form: Form, record: object): void {
  const fields: [string, unknown][] = Object.entries(record);
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  const lines = fields.flatMap(([name, value]) => {
    const all = Array.isArray(value) && value.length > 0 ? value : [value];
    return all.map((one, i) => `${(i === 0 ? name : '').padEnd(width)}  ${inWords(one)}`);
  });
  print(form, record, [...lines, '']);
}

/** A value that a result holds, for people. */
function inWords(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ');
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  return entries.length === 0 ? 'none' : entries.map(([name, held]) => `${name}: ${inWords(held)}`).join(', ');
}

interface Row {
  result: object;
  cells: readonly string[];
}

/** Prints results; for people as a table, or `none` in its place. */
export function printTable(
  { json, timeZone }: Form,
  head: readonly string[],
  rows: readonly Row[],
  none: string,
): void {
  if (json) for (const { result } of rows) print({ json }, result, '');
  else if (rows.length === 0) say(none);
  else {
    const text = table([head, ...rows.map(({ cells }) => cells)]);
    process.stdout.write(timeZone === undefined ? text : inZone(text, timeZone));
  }
}

interface Attempt {
  /** The name of the receiver that is tried, as it is printed. */
  name: string;
  tried: object;
  /** Where the configuration names it. */
  setting: string;
  send: () => Promise<unknown>;
}

/**
 * Sends something to each receiver, and prints whether the receiver took it. @returns the exit code: 1 if one did not take it, or if
 * there are no receivers (`none`)
 */
export async function tryEach(form: Form, all: readonly Attempt[], none: string): Promise<number> {
  const failures = await Promise.all(
    all.map(async ({ send }) => {
      return await send().then(() => undefined, messageOf);
    }),
  );
  for (const [i, { name, tried, setting }] of all.entries()) {
    const why = failures[i];
    const taken = why === undefined;
    const [good, bad] = [styleText('green', '✓'), styleText('red', '✗')];
    const text = taken ? `${good} ${name} took it` : `${bad} ${name}: ${why}\n  → check ${setting}`;
    print(form, { ...tried, taken, why }, text);
  }
  if (all.length === 0) say(none);
  return all.length > 0 && failures.every((why) => why === undefined) ? 0 : 1;
}

/** The lines of one write, which stay under 128 kB. V8 allocates separate memory for a longer text, which takes longer than writing it. */
const linesAtOnce = 250;

/**
 * Writes each as a line on standard output. Resolves when whoever reads them has room for more: memory does not grow where they are slow.
 * @param asText left out: as JSON
 */
export async function writeLines<Item>(
  items: readonly Item[],
  asText: (some: readonly Item[]) => string = (some) => some.map((one) => `${JSON.stringify(one)}\n`).join(''),
): Promise<void> {
  for (let from = 0; from < items.length; from += linesAtOnce) {
    const text = asText(items.slice(from, from + linesAtOnce));
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
}

/** Resolves when all that was written on standard output has left the process. */
export async function written(): Promise<void> {
  await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()));
}

const width = 20;

/** A share from 0 to 1 as a bar of twenty places. */
export function bar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** Columns for people: a head, then rows; a column whose cells are all figures stands to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(onOneLine));
  const columns = shown[0]?.map((_, i) => shown.map((row) => row[i] ?? '')) ?? [];
  const padded = columns.map((cells) => {
    const wide = Math.max(...cells.map(lengthOf));
    const isFigures = cells.slice(1).every((cell) => /^(?:[+-]?[\d.]+(?: %)?)?$/.test(cell));
    return cells.map((cell) =>
      isFigures ? ' '.repeat(wide - lengthOf(cell)) + cell : cell + ' '.repeat(wide - lengthOf(cell)),
    );
  });
  return shown
    .map(
      (_, row) =>
        `${padded
          .map((cells) => cells[row])
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Names come from elsewhere, and must neither break a line nor command the terminal. */
function onOneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function lengthOf(text: string): number {
  return [...text].length;
}
