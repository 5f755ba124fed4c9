import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { formatDuration } from '../../../../core/schedule/duration.ts';
import { Duration, parseDuration } from '../../../../core/schedule/duration-setting.ts';

describe('parseDuration', () => {
  const rows: [text: string, ms: number][] = [
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['1d12h5m3s7ms', 129_903_007],
    [' 2h ', 7_200_000],
    ['0s', 0],
    ['3660d', 316_224_000_000],
  ];
  for (const [text, ms] of rows) test(`reads "${text}"`, () => expect(parseDuration(text)).toBe(ms));

  const words = '2 0 1.5h -1h 30m2h 1h1h h 2H PT2H 3660d1ms 4000d 999999999999999d'.split(' ');
  for (const text of ['', ' ', '2 hours', ...words]) {
    test(`refuses "${text}"`, () => {
      expect(() => parseDuration(text)).toThrow(
        expect.objectContaining({
          advice: { kind: 'config' },
          message: expect.stringContaining(`"${text}" must be a duration like`),
        }),
      );
    });
  }

  test('reads what formatDuration writes', () => {
    fc.assert(fc.property(fc.nat(3_000 * 86_400_000), (ms) => void expect(parseDuration(formatDuration(ms))).toBe(ms)));
  });
});

describe('formatDuration', () => {
  const rows: [ms: number, text: string][] = [
    [0, '0s'],
    [250, '250ms'],
    [5_400_000, '1h30m'],
    [2_592_000_000, '30d'],
  ];
  for (const [ms, text] of rows) test(`writes ${ms} as "${text}"`, () => expect(formatDuration(ms)).toBe(text));
});

describe('Duration', () => {
  test('gives milliseconds', () => expect(Duration.parse('2h')).toBe(7_200_000));

  for (const value of ['soon', 120, null]) {
    test(`says what is right instead of ${JSON.stringify(value)}, once`, () => {
      const { error } = Duration.safeParse(value);
      expect(error?.issues.map(({ message }) => message)).toStrictEqual([
        'must be a duration like "90s", "15m", "2h", "1h30m" or "30d", of at most ten years',
      ]);
    });
  }

  test('is a text in a JSON Schema, told with examples', () => {
    expect(z.toJSONSchema(Duration, { io: 'input' })).toMatchObject({
      type: 'string',
      description: 'A duration: 90s, 15m, 2h, 1h30m, 30d',
    });
  });
});
