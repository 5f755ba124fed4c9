import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyResponse } from '../../../core/connector/classify.ts';
import { lookUp } from '../../../core/look-up.ts';

const inherited = Object.getOwnPropertyNames(Object.prototype);

test.each(inherited)('a table does not hold %s, which every object has, unless it is its own', (name) => {
  expect(lookUp({ a: 1 }, name)).toBeUndefined();
  expect(lookUp(JSON.parse(JSON.stringify({ a: 1 }).replace('a', name)), name)).toBe(1);
});

test('a table holds what was put in, and nothing else', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.integer()), fc.string(), (table, name) => {
      expect(lookUp(table, name)).toBe(new Map(Object.entries(table)).get(name));
    }),
  );
});

test.each(inherited)('a response with the code %s means what its status means', (code) => {
  const response = { ok: false, status: 404, headers: new Headers(), text: '', json: { error: { code } } };
  const now = new Date('2026-11-21T12:00:00Z');
  const plain = classifyResponse({ ...response, json: {} }, now);
  expect(classifyResponse(response, now, { codeOf: () => code })).toMatchObject({
    advice: plain?.advice ?? expect.fail('no failure'),
  });
});
