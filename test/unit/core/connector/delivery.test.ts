import { expect, test } from 'vitest';
import { happenedAt, noEvent, oneEvent } from '../../../../core/connector/delivery.ts';

const receivedAt = new Date('2026-11-22T12:00:00Z');

test('a delivery holds one event, or nothing that counts and the reason', () => {
  const event = { kind: 'closed', recordId: '7', at: receivedAt, key: 'closed.7', what: 'solved' } as const;
  expect(oneEvent(event)).toEqual({ ok: true, events: [event], ignored: [] });
  expect(noEvent('a test', 'nobody asks')).toEqual({
    ok: true,
    events: [],
    ignored: [{ what: 'a test', why: 'nobody asks' }],
  });
  expect(noEvent('a page', 'look at the proxy', true).ignored).toEqual([
    { what: 'a page', why: 'look at the proxy', act: true },
  ]);
});

test.each([
  ['2026-11-22T09:30:00.123456789Z', '2026-11-22T09:30:00.123Z'],
  ['2026-11-22T10:30:00+02:00', '2026-11-22T08:30:00.000Z'],
  ['soon', receivedAt.toISOString()],
  ['', receivedAt.toISOString()],
  [undefined, receivedAt.toISOString()],
  [null, receivedAt.toISOString()],
])('what is dated %s happened at %s', (written, expected) => {
  expect(happenedAt(written, { receivedAt }).toISOString()).toBe(expected);
});
