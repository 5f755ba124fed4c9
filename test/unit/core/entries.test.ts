import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { listOf, mapOf, orElse } from '../../../core/entries.ts';
import { mismatchesOf } from '../../../core/mismatches.ts';

const most = 300_000;

/** A schema that counts what it looked at. */
function counted<Schema extends z.ZodType>(schema: Schema) {
  const visits = { count: 0 };
  const counting = z.unknown().transform((value, context): z.output<Schema> => {
    visits.count += 1;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: undefined });
    return z.NEVER;
  });
  return { visits, counting };
}

/** As an answer's error says it. */
const wrongIn = (schema: z.ZodType, value: unknown): string[] => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : mismatchesOf(parsed.error);
};

const Entry = z.object({ id: z.string(), grade: z.number() });
const wrong = { id: 1, grade: 'x' };

describe('of 300,000 wrong entries only the first is looked at', () => {
  test.each([
    ['a list', listOf, Array.from({ length: most }, () => wrong), 'results.0'],
    ['a map', mapOf, Object.fromEntries(Array.from({ length: most }, (_, n) => [`k${n}`, wrong])), 'results.k0'],
  ] as const)('%s', (_name, of, results, at) => {
    const { visits, counting } = counted(Entry);
    const found = wrongIn(z.object({ results: of(counting) }), { results });
    expect(found).toEqual([`${at}.id (expected string)`, `${at}.grade (expected number)`]);
    expect(visits.count).toBe(1);
  });

  test('a list whose entries fail a check of their value: zod goes on after these', () => {
    const { visits, counting } = counted(z.string().regex(/^\d+$/));
    expect(wrongIn(listOf(counting), Array(most).fill('x'))).toEqual(['0']);
    expect(visits.count).toBe(1);
  });
});

test('of a list that is longer than it may be nothing is looked at', () => {
  const { visits, counting } = counted(z.string());
  expect(wrongIn(listOf(counting, 2), ['a', 'b', 'c'])).toEqual(['(root)']);
  expect(visits.count).toBe(0);
});

test('a list and a map say of the whole what it should be', () => {
  expect(wrongIn(listOf(Entry), {})).toEqual(['(root) (expected array)']);
  expect(wrongIn(mapOf(Entry), [])).toEqual(['(root) (expected record)']);
});

test('what fits comes as the shape makes it', () => {
  expect(listOf(z.coerce.string()).parse([1, 'b'])).toEqual(['1', 'b']);
  expect(mapOf(z.coerce.string()).parse({ a: 1, b: 'b' })).toEqual({ a: '1', b: 'b' });
});

test('what is absent or has another shape is the fallback, and nothing reports it', () => {
  const Lenient = z.object({ name: orElse(z.string(), ''), tags: orElse(listOf(z.string()), []) });
  expect(Lenient.parse({ name: 7 })).toEqual({ name: '', tags: [] });
  expect(Lenient.parse({ name: 'a', tags: ['b'] })).toEqual({ name: 'a', tags: ['b'] });
});
