import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Advice, adviceOf, CloseloopError, messageOf } from '../../core/errors.ts';

describe('a CloseloopError', () => {
  test('it says that the other side refused, unless told otherwise', () => {
    expect(new CloseloopError('no', { kind: 'permanent' })).toMatchObject({
      name: 'CloseloopError',
      message: 'no',
      advice: { kind: 'permanent' },
      outcome: 'refused',
    });
    expect(new CloseloopError('?', { kind: 'transient' }, { outcome: 'unknown' }).outcome).toBe('unknown');
  });

  test('it has a cause only where there is one: a log would show "cause: undefined"', () => {
    const cause = new Error('socket hang up');
    expect(new CloseloopError('cut', { kind: 'transient' }, { cause }).cause).toBe(cause);
    expect(Object.hasOwn(new CloseloopError('no', { kind: 'permanent' }), 'cause')).toBe(false);
  });
});

describe('adviceOf', () => {
  const rows: [name: string, error: unknown, expected: Advice][] = [
    [
      "gives a CloseloopError's own",
      new CloseloopError('later', { kind: 'transient', retryAfterMs: 7 }),
      { kind: 'transient', retryAfterMs: 7 },
    ],
    [
      'gives up on an answer of another shape: it will have it again',
      z.string().safeParse(1).error,
      { kind: 'permanent' },
    ],
    ['tries a bug of ours again, so that it fails visibly in the end', new TypeError('x'), { kind: 'transient' }],
    ['tries again what is no error at all', 'thrown text', { kind: 'transient' }],
  ];
  for (const [name, error, expected] of rows) test(`it ${name}`, () => expect(adviceOf(error)).toStrictEqual(expected));
});

test('the message of whatever was thrown is text', () => {
  expect([new Error('why'), 'thrown text', undefined].map(messageOf)).toEqual(['why', 'thrown text', 'undefined']);
});
