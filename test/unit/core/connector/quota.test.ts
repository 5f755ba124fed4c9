import { describe, expect, test } from 'vitest';
import { headerNumber, quotaIn } from '../../../../core/connector/quota.ts';

test.each([
  ['100', 100],
  ['100.0', 100],
  ['0.25', 0.25],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
])('a header of "%s" is the number %s', (text, expected) => {
  expect(headerNumber(new Headers({ 'x-left': text }), 'x-left')).toBe(expected);
});

describe('the limit that two headers report', () => {
  test.each<[what: string, headers: Record<string, string>, expected: object[]]>([
    ['is whole', { 'x-total': '200.0', 'x-left': '12' }, [{ limit: 200, remaining: 12, resetMs: 60_000 }]],
    ['is none without its total', { 'x-left': '12' }, []],
    ['is none without what remains', { 'x-total': '200' }, []],
  ])('%s', (_what, headers, expected) => {
    expect(quotaIn(new Headers(headers), 'x-total', 'x-left', 60_000)).toEqual(expected);
  });
});
