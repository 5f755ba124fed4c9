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
const stranger = withNamedErrors(source, 'deskly');
const delivery = { method: 'POST', url: '', headers: {}, raw: Buffer.alloc(0), receivedAt: new Date() };

test('what a connector of somebody else did not foresee names it, and quotes nothing', async () => {
  expect(() => stranger.verify(delivery)).toThrow(
    'The connector "deskly" fails in verify: Cannot read properties of undefined (reading \'length\'); report it to its author.',
  );
  await expect(stranger.read(['7'])).rejects.toMatchObject({
    message: 'The connector "deskly" fails in read: no ticket of "…"; report it to its author.',
    advice: { kind: 'transient' },
    outcome: 'unknown',
  });
});

test('its own errors, results and members stay as they are', async () => {
  await expect(stranger.writeBack([])).rejects.toBe(own);
  expect(await stranger.events(delivery)).toEqual({ ok: true, events: [], ignored: [] });
  expect([stranger.batchSize, stranger.poll]).toEqual([7, undefined]);
});
