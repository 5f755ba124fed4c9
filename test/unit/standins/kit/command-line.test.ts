import { expect, test } from 'vitest';
import { z } from 'zod';
import { commandLine } from '../../../../standins/kit/command-line.ts';

const id = z.number().int();
const path = z.strictObject({ id, by: id.optional() });
const either = z.union([z.strictObject({ a: id }), z.strictObject({ b: id })]);
const at = z.strictObject({ at: z.union([z.date(), z.string()]).pipe(z.coerce.date()) });

test.each<[says: string, template: string, schema: z.ZodType, expected: string]>([
  ['leaves out what the path holds', '/t/{id:\\d+}', path, '/t/{id} {by?: integer}'],
  ['names the choices of the path', '/{type:a|b}', z.strictObject({ type: z.string() }), '/{a|b}'],
  ['has nothing to say of a command without a body', '/idle', z.unknown(), '/idle'],
  ['marks what has a default', '/t', z.strictObject({ a: z.string().default('x') }), '/t {a?: string}'],
  ['lists choices', '/t', z.strictObject({ a: z.enum(['x', 'y']).nullable() }), '/t {a: "x" | "y" | null}'],
  ['looks into lists', '/t', z.strictObject({ a: z.array(z.strictObject({ b: id })) }), '/t {a: [{b: integer}]}'],
  ['says what free names hold', '/t', z.record(z.string(), z.string()), '/t {<name>: string}'],
  ['offers one of two bodies', '/t', either, '/t {a: integer} | {b: integer}'],
  ['takes a date for the text beside it', '/t', at, '/t {at: string}'],
  ['reads what goes in', '/t', z.strictObject({ a: id.transform(String) }), '/t {a: integer}'],
])('it %s', (_says, template, schema, expected) => {
  expect(commandLine('POST', template, schema)).toBe(`POST ${expected}`);
});
