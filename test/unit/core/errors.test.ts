import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Advice, adviceOf, CloseloopError, messageOf, stackOf } from '../../../core/errors.ts';

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

  test('it asks for no wait where the other side asked for none', () => {
    expect(new CloseloopError('later', { kind: 'transient' }).advice).toStrictEqual({ kind: 'transient' });
  });

  test('it has a cause only where there is one: a log would show "cause: undefined"', () => {
    const cause = new Error('socket hang up');
    expect(new CloseloopError('cut', { kind: 'transient' }, { cause }).cause).toBe(cause);
    expect(Object.hasOwn(new CloseloopError('no', { kind: 'permanent' }), 'cause')).toBe(false);
  });
});

test.each([
  [3_000_000_000_000, 86_400_000],
  [Number.POSITIVE_INFINITY, 86_400_000],
  [86_400_000, 86_400_000],
  [-5, 0],
  [Number.NaN, undefined],
])('a wait of %d ms that an answer asks for is taken for %s (audit loop)', (asked, taken) => {
  const { advice } = new CloseloopError('later', { kind: 'transient', retryAfterMs: asked, throttled: true });
  const retryAfterMs = taken === undefined ? {} : { retryAfterMs: taken };
  expect(advice).toStrictEqual({ kind: 'transient', throttled: true, ...retryAfterMs });
});

describe('adviceOf', () => {
  const rows: [name: string, error: unknown, expected: Advice][] = [
    [
      "gives a CloseloopError's own",
      new CloseloopError('later', { kind: 'transient', retryAfterMs: 7 }),
      { kind: 'transient', retryAfterMs: 7 },
    ],
    ['gives up on an answer of another shape: it stays', z.string().safeParse(1).error, { kind: 'permanent' }],
    ['tries a bug of ours again, so that it fails visibly in the end', new TypeError('x'), { kind: 'transient' }],
    ['tries again what is no error at all', 'thrown text', { kind: 'transient' }],
  ];
  for (const [name, error, expected] of rows) test(`it ${name}`, () => expect(adviceOf(error)).toStrictEqual(expected));
});

test('the message of whatever was thrown is text', () => {
  expect([new Error('why'), 'thrown text', undefined].map(messageOf)).toEqual(['why', 'thrown text', 'undefined']);
});

function thrown(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return expect.fail('nothing was thrown');
}

const quoting: [what: string, error: Error, message: RegExp][] = [
  ["a parser's", thrown(() => JSON.parse('{"name":"Hanna Kask","x":Hanna}')), /^a text that is not valid JSON$/],
  ["a schema's", z.record(z.email(), z.number()).safeParse({ 'Hanna Kask': 'Hanna' }).error ?? new Error(), /, at \*$/],
  ["a strict schema's", z.strictObject({}).safeParse({ Hanna: 1 }).error ?? new Error(), /, at \(root\)$/],
  ["a number's", thrown(() => BigInt('hanna@example.com')), /^Cannot convert \[removed\] to a BigInt$/],
  ["an address's", thrown(() => new URL('http://Hanna Kask')), /^Invalid URL$/],
  ["a header's", thrown(() => new Headers({ a: 'Bearer Hanna\n1' })), /^Headers.* "…" is an invalid header value/],
  ["a connector's own", new TypeError('no such customer: "Hanna Kask", \'Hanna\' or `Hanna`'), /: "…", "…" or "…"$/],
  ["a connector's bad words", new CloseloopError('no hanna@example.com', { kind: 'permanent' }), /^no \[removed\]$/],
];
test.each(quoting)('neither message nor stack of %s error repeats what it quotes', (_what, error, message) => {
  expect(messageOf(error)).toMatch(message);
  for (const text of [messageOf(error), stackOf(error)]) expect(text).not.toMatch(/hanna/i);
});

test('a message keeps the names of code, and paths of files', () => {
  expect(messageOf(thrown(() => Object(undefined).a.b))).toContain("(reading 'b')");
  const missing = Object.assign(new Error("EACCES: permission denied, mkdir '/srv/closeloop'"), { syscall: 'mkdir' });
  expect(messageOf(missing)).toBe("EACCES: permission denied, mkdir '/srv/closeloop'");
});

test('a reference is kept that can be one (audit leak)', () => {
  const of = (reference: string) => new CloseloopError('x', { kind: 'permanent' }, { reference }).reference;
  expect(['7f3a-99:1.2', 'hanna@example.com', 'Hanna Kask'].map(of)).toEqual(['7f3a-99:1.2', undefined, undefined]);
});

test('the message of one of our errors is told whole, its quotation included', () => {
  expect(messageOf(new CloseloopError('the rule "Phone Team" names no campaign', { kind: 'config' }))).toBe(
    'the rule "Phone Team" names no campaign',
  );
});

test('of an answer of another shape the first five places are told', () => {
  const shape = z.object(Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`f${i}`, z.number()])));
  const places = Array.from({ length: 5 }, (_, i) => `f${i} (expected number)`).join('; ');
  expect(messageOf(shape.safeParse({}).error)).toBe(`another shape than expected, at ${places}`);
});

test.each([
  ["no 'length'", "no 'length'"],
  ["no 'a_$1'", "no 'a_$1'"],
  ["no 'Hanna'", 'no "…"'],
  ["no 'hanna kask'", 'no "…"'],
  [`no '${'x'.repeat(41)}'`, 'no "…"'],
])('of what %s quotes, only the names of code are told', (said, told) => {
  expect(messageOf(new Error(said))).toBe(told);
});

test('the stack of an error is its name, what may be told of its message, and where it was', () => {
  const error = Object.assign(new TypeError('no "Hanna Kask"'), {
    stack: 'TypeError: no "Hanna Kask"\nwho was at home\n    at ask (/srv/ask.ts:1:2)\n    at run (/srv/run.ts:3:4)',
  });
  expect(stackOf(error)).toBe('TypeError: no "…"\n    at ask (/srv/ask.ts:1:2)\n    at run (/srv/run.ts:3:4)');
  expect(stackOf(Object.assign(new Error('x'), { stack: undefined }))).toBe('Error: x');
});
