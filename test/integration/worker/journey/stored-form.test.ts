import { describe, expect, test } from 'vitest';
import { erased } from '../../../../worker/journey/forget.ts';
import type { Journey, JourneyState } from '../../../../worker/journey/journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { redis, fresh } = useStores();

test('what a newer version has stored in a journey is kept by one that does not know it, and goes with an erasure (audit 18)', async () => {
  const { store, now } = fresh();
  await store.getOrCreate(claimOf('r', 'first', 'e'), []);
  const contact = Object.assign({ kind: 'email', value: 'e@example.com' } as const, { verified: true });
  await store.update('r.1', (one) => ({
    journey: Object.assign(step(one, 'waiting', now(), { contact }), { ofNextYear: { at: 'noon' } }),
    trace: [],
  }));
  await store.update('r.1', (one) => ({
    journey: step(one, 'waiting', now(), { place: { timeZone: 'UTC' } }),
    trace: [],
  }));
  const kept = await store.get('r.1');
  expect(kept).toMatchObject({ ofNextYear: { at: 'noon' }, contact: { verified: true }, place: { timeZone: 'UTC' } });
  await store.update('r.1', (one) => ({ journey: erased(one, now()), trace: [] }));
  expect(await store.get('r.1')).not.toHaveProperty('ofNextYear');
});

describe('a stored journey', () => {
  const later = new Date('2026-06-04T09:00:00Z');
  const due = { dueAt: new Date('2026-05-04T08:00:00Z') };
  const rows: [does: string, steps: [JourneyState, Partial<Journey>][], isDeflated: boolean][] = [
    ['waits for a month', [['waiting', { dueAt: later }]], true],
    ['is due as it begins, and changes in a moment', [['waiting', due]], false],
    [
      'is being asked about',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
      ],
      false,
    ],
    [
      'is due, but back from an attempt',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
        ['waiting', { attempts: 0 }],
      ],
      true,
    ],
    [
      'has asked',
      [
        ['waiting', due],
        ['creating', { attempts: 1 }],
        ['asked', { requestId: '7' }],
      ],
      true,
    ],
  ];
  test.each(rows)('that %s is deflated unless it changes in a moment', async (_does, steps, isDeflated) => {
    const { store, now } = fresh();
    let journey = store.drafts.make('r.1', claimOf('r', 'first', 'event'), ['begun']);
    for (const [state, change] of steps) {
      const decided = { values: { note: 'the same words again and again, '.repeat(50) }, ...change };
      journey =
        (await store.update(journey, (one) => ({ journey: step(one, state, now(), decided), trace: [] }))) ?? journey;
    }
    const bytes = await redis.handle.client.strlen(`{cl:${store.source}}:journey:r.1`);
    expect(bytes < 1_000).toBe(isDeflated);
    expect(await store.get('r.1')).toEqual(journey);
  });
});

test('a journey that was stored with its state before it is read, and goes on', async () => {
  const { store, now } = fresh();
  const { client } = redis.handle;
  const { journey } = await store.getOrCreate(claimOf('r', 'first', 'event'), ['begun']);
  const key = `{cl:${store.source}}:journey:r.1`;
  const stored = await client.getBuffer(key);
  await client.set(key, Buffer.concat([Buffer.from('1 received '), stored?.subarray('1  '.length) ?? Buffer.of()]));
  expect(await store.get('r.1')).toEqual(journey);
  await store.update('r.1', (one) => ({ journey: step(one, 'waiting', now()), trace: [] }));
  expect(await store.get('r.1')).toMatchObject({ state: 'waiting' });
});
