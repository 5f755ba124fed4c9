import { z } from 'zod';
import { suggestion } from '../../core/suggestion.ts';
import type { FoundProblem, Path } from './problem.ts';

/** zod's word for a value that fits no branch of a union. People read the message of the closest branch in its place. */
const union = 'none of the alternatives';

/**
 * Messages for zod's issues that say what would be right; a schema's own message takes precedence. For `safeParse`'s `error`. Never
 * quotes the value.
 */
export const inOurWords: z.core.$ZodErrorMap = (issue) => {
  const missing = issue.input === undefined;
  switch (issue.code) {
    case 'invalid_type':
      return missing ? `is missing: ${kind(issue.expected)}` : `must be ${kind(issue.expected)}`;
    case 'invalid_value': {
      const values = issue.values.map(String);
      const choices = values.length === 1 ? values.join('') : `one of ${values.join(', ')}`;
      if (missing) return `is missing: ${choices}`;
      return `must be ${choices}${suggestion(typeof issue.input === 'string' ? issue.input : '', values)}`;
    }
    case 'invalid_union':
      return missing ? 'is missing' : union;
    case 'too_small':
      if (issue.origin === 'string') return issue.minimum === 1 ? 'is empty' : `is shorter than ${issue.minimum}`;
      if (issue.origin === 'array') return `needs at least ${issue.minimum} ${entries(issue.minimum)}`;
      return `must be ${issue.inclusive === true ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `is longer than ${issue.maximum}`;
      if (issue.origin === 'array') return `has more than ${issue.maximum} ${entries(issue.maximum)}`;
      return `must be ${issue.inclusive === true ? 'at most' : 'less than'} ${issue.maximum}`;
    case 'invalid_format':
      if (issue.format === 'url') return 'must be an address like https://closeloop.example.com';
      return issue.format === 'email' ? 'must be an e-mail address' : undefined;
    default:
      return undefined;
  }
};

/**
 * Reads settings by `schema`, or says what is wrong with the settings; paths begin with `at`. `beside`: names that may stand
 * next to the settings and are read elsewhere.
 */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: Path,
  beside: readonly string[] = [],
): { ok: true; data: z.output<Schema> } | { ok: false; found: FoundProblem[]; issues: readonly z.core.$ZodIssue[] } {
  const parsed = schema.safeParse(value, { error: inOurWords, jitless: true });
  if (parsed.success) return { ok: true, data: parsed.data };
  const { issues } = parsed.error;
  const found = describe(issues, (path) => [...(path.length === 0 ? beside : []), ...keysAt(schema, path)]);
  return { ok: false, found: found.map((one) => ({ ...one, path: [...at, ...one.path] })), issues };
}

function describe(issues: readonly z.core.$ZodIssue[], known: (path: Path) => string[]): FoundProblem[] {
  return issues.flatMap((issue): FoundProblem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownKey(key, known(issue.path)) }));
    }
    if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path: issue.path, message }));
    if (issue.code === 'invalid_type' && issue.message === `must be ${kind('object')}`)
      return [{ path: issue.path, message: `${issue.message}${ofWhat(known(issue.path))}` }];
    if (issue.code !== 'invalid_union' || issue.message !== union)
      return [{ path: issue.path, message: issue.message }];
    // The issues of a branch for another kind of value (a text where a list stands) are left out while another branch fits better.
    const fitting = issue.errors.filter(
      (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
    );
    const [best] = fitting.toSorted((a, b) => a.length - b.length || depth(b) - depth(a));
    if (best) return describe(best, (path) => known([...issue.path, ...path])).map((one) => within(issue.path, one));
    const kinds = issue.errors.flatMap((branch) => branch.map(({ message }) => message.replace(/^must be /, '')));
    return [{ path: issue.path, message: `must be ${[...new Set(kinds)].join(' or ')}` }];
  });
}

function within(path: Path, found: FoundProblem): FoundProblem {
  return { ...found, path: [...path, ...found.path] };
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map(({ path }) => path.length));
}

function kind(expected: string): string {
  return kinds[expected] ?? expected;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section (indented lines of "name: value")',
  record: 'a section (indented lines of "name: value")',
};

function entries(count: number | bigint): string {
  return Number(count) === 1 ? 'entry' : 'entries';
}

const mostNames = 12;

/** Lists the settings that a section may hold, for the end of a message. */
function ofWhat(names: readonly string[]): string {
  return names.length === 0 || names.length > mostNames ? '' : ` of ${names.join(', ')}`;
}

function unknownKey(key: string, known: readonly string[]): string {
  const hint = suggestion(key, known);
  if (hint !== '') return `is not a setting${hint}`;
  return known.length > 0 ? `is not a setting; there are ${known.join(', ')}` : 'is not a setting';
}

/** The names that a schema knows at a path; none where any name is allowed. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  const steps = (node: object, key: PropertyKey): object[] =>
    branches(node).flatMap((one) => {
      const next = typeof key === 'number' ? entry(one, 'items') : entry(entry(one, 'properties'), String(key));
      return Object.keys(next).length > 0 ? [next] : [entry(one, 'additionalProperties')];
    });
  let here: object[] = [z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })];
  for (const key of path) here = here.flatMap((node) => steps(node, key));
  const names = here.flatMap(branches).flatMap((node) => Object.keys(entry(node, 'properties')));
  return [...new Set(names)];
}

function branches(node: object): object[] {
  const found = [...Object.values(entry(node, 'anyOf')), ...Object.values(entry(node, 'oneOf'))];
  return [node, ...found.filter((one) => typeof one === 'object' && one !== null).flatMap(branches)];
}

function entry(node: object, key: string): object {
  const value: unknown = Object.entries(node).find(([name]) => name === key)?.[1];
  return typeof value === 'object' && value !== null ? value : {};
}
