import { expect, test } from 'vitest';
import type { Source } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { withNamedErrors } from '../../../../worker/config/named-errors.ts';

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
const deskly = { connector: { name: 'deskly' }, url: 'file:///acme/connector.ts' };
const stranger = withNamedErrors(source, deskly);
const delivery = { method: 'POST', url: '', headers: {}, raw: Buffer.alloc(0), receivedAt: new Date() };

test('what a connector of somebody else did not foresee names it, and quotes nothing', async () => {
  expect(() => stranger.verify(delivery)).toThrow(
    'The connector "deskly" fails in verify: Cannot read properties of undefined (reading \'length\')',
  );
  await expect(stranger.read(['7'])).rejects.toMatchObject({
    message: 'The connector "deskly" fails in read: no ticket of "…"',
    advice: { kind: 'transient', bug: true },
    outcome: 'unknown',
  });
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
  const { forget } = withNamedErrors({ ...source, forget: () => Promise.reject(error) }, deskly);
  const message = `The connector "deskly" fails in forget: zap${at === undefined ? '' : ` (${places[at]})`}`;
  await expect(forget?.(['7'])).rejects.toMatchObject({ message });
});
