import { expect, test } from 'vitest';
import type { Source } from '../../../../core/connector/contract.ts';
import { withNamedErrors } from '../../../../core/connector/named-errors.ts';
import { CloseloopError } from '../../../../core/errors.ts';

const deskly = { label: '"deskly"', url: 'file:///acme/connector.ts' };
const own = new CloseloopError('Deskly: it is down.', { kind: 'transient' });
const source: Source = {
  batchSize: 7,
  taken: { status: 202 },
  verify: () => {
    throw new TypeError("Cannot read properties of undefined (reading 'length')");
  },
  events: () => ({ ok: true, events: [], ignored: [] }),
  read: () => Promise.reject(new Error('no ticket of "hanna@example.com"')),
  writeBack: () => Promise.reject(own),
};
const stranger = withNamedErrors(() => source, { label: '"deskly" of ./deskly.ts' });
const delivery = { method: 'POST', url: '', headers: {}, raw: Buffer.alloc(0), receivedAt: new Date() };

test('what a connector of somebody else did not foresee names it, and quotes nothing', async () => {
  expect(() => stranger.verify(delivery)).toThrow(
    'The connector "deskly" of ./deskly.ts fails in verify: Cannot read properties of undefined (reading \'length\')',
  );
  await expect(stranger.read(['7'])).rejects.toMatchObject({
    message: 'The connector "deskly" of ./deskly.ts fails in read: no ticket of "…"',
    advice: { kind: 'transient', bug: false },
    outcome: 'unknown',
  });
});

test.each([
  ['a mistake in the code', new TypeError('x is not a function'), true],
  ['a name that is not there', new ReferenceError('x is not defined'), true],
  ['a plain error, which may be of a vendor that is away', new Error('it answered 503'), false],
  ['fetch without a network', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), false],
  ['an answer that is no JSON', new SyntaxError('Unexpected token'), false],
])('%s: is it a bug?', async (_, error, bug) => {
  const read = () => Promise.reject(error);
  await expect(withNamedErrors(() => ({ ...source, read }), deskly).read(['7'])).rejects.toMatchObject({
    advice: { kind: 'transient', bug },
  });
});

test('a record that is none fails by itself, and the others are read', async () => {
  const record = (closing: unknown) => ({
    ok: true as const,
    record: {
      id: '7',
      currentId: '7',
      shape: {},
      state: { is: 'closed' as const, closing: closing as string, closedAt: new Date(0) },
    },
  });
  const read = async () => [record('1'), record(2)];
  const message =
    'The connector "deskly" fails in read: it gives a record that is none, at record.state.closing (expected string)';
  expect(await withNamedErrors(() => ({ ...source, read }), deskly).read(['7', '8'])).toEqual([
    record('1'),
    { ok: false, why: 'error', error: expect.objectContaining({ message, advice: { kind: 'transient', bug: true } }) },
  ]);
});

test('a record may have null for what is not there', async () => {
  const state = { is: 'closed' as const, closing: '1', closedAt: new Date(0) };
  const nothing = null as unknown as string;
  const record = { id: '7', currentId: '7', shape: {}, state, personId: nothing, timeZone: nothing, locale: nothing };
  const results = [{ ok: true as const, record }];
  expect(await withNamedErrors(() => ({ ...source, read: async () => results }), deskly).read(['7'])).toEqual(results);
});

test('a reading that gives no list is refused, and a list without a promise is taken', async () => {
  const reading = (given: unknown) =>
    withNamedErrors(() => ({ ...source, read: () => given as ReturnType<Source['read']> }), deskly).read(['7']);
  await expect(reading({})).rejects.toThrow('The connector "deskly" fails in read: it returns no list');
  expect(await reading([{ ok: false, why: 'not-found' }])).toEqual([{ ok: false, why: 'not-found' }]);
});

test('a source that cannot be opened names its connector, and waits for a person', () => {
  const open = () => {
    throw new TypeError('no key of "hanna@example.com"');
  };
  const message = 'The connector "deskly" fails in open: no key of "…"';
  expect(() => withNamedErrors(open, deskly)).toThrow(expect.objectContaining({ message, advice: { kind: 'config' } }));
});

test('its own errors, results and members stay as they are', async () => {
  await expect(stranger.writeBack([])).rejects.toBe(own);
  expect(await stranger.events(delivery)).toEqual({ ok: true, events: [], ignored: [] });
  expect([stranger.batchSize, stranger.poll]).toEqual([7, undefined]);
});

test.each([
  [
    'the innermost line in its folder',
    ['/x/zod.js', '/acme/node_modules/b/b.js', '/acme/a.ts', '/acme/connector.ts'],
    2,
  ],
  ['nothing where no line is in its folder', ['/x/core/desk.ts'], undefined],
])('the place of an error is %s', async (_, files, at) => {
  const places = files.map((file) => `file://${file}:27`);
  const stack = ['TypeError: zap', ...places.map((place) => `    at put (${place}:13)`)].join('\n');
  const error = Object.assign(new TypeError('zap'), { stack });
  const { forget } = withNamedErrors(() => ({ ...source, forget: () => Promise.reject(error) }), deskly);
  const message = `The connector "deskly" fails in forget: zap${at === undefined ? '' : ` (${places[at]})`}`;
  await expect(forget?.(['7'])).rejects.toMatchObject({ message });
});
