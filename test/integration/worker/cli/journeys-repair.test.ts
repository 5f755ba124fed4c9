import { describe, expect, test } from 'vitest';
import { cancelJourney, hurryJourney, replayJourneys } from '../../../../worker/cli/repair.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { daysAgo, idle, printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('what is against asking now is told on the clock of the account', async () => {
  const rule = '{ name: late, campaign: 12, contact: customer.email, delay: 48h, throttle: 30d }';
  const loop = await startLoop(redis, { source: fresh(), rule });
  const customer = { email: 'twice@example.com' };
  await loop.post(loop.vendor.close('a', { customer }).delivery);
  await loop.post(loop.vendor.close('b', { customer }).delivery);
  await loop.journey('b.1', 'waiting');
  await printed(() => hurryJourney({ ...beside(loop), journey: `${loop.store.source}/a.1` }));
  await loop.journey('a.1', 'asked');
  const again = hurryJourney({ ...beside(loop), journey: `${loop.store.source}/b.1` });
  await expect(again).rejects.toThrow(/the person was asked at \S+\+0[23]:00 \(.*until \S+\+0[23]:00\)/);
});

test('journeys ask-now has a waiting customer asked, and says why one can not be', async () => {
  const rule = '{ name: late, campaign: 12, contact: customer.email, delay: 48h }';
  const loop = await startLoop(redis, { source: fresh(), rule });
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'waiting');
  const about = { ...beside(loop), journey: `${loop.store.source}/a.1` };
  const { code, rows } = await printed(() => hurryJourney(about));
  expect([code, rows]).toEqual([0, [{ journey: about.journey, state: 'waiting', dueAt: expect.any(String) }]]);
  await loop.journey('a.1', 'asked');
  await expect(hurryJourney(about)).rejects.toThrow(/is asked, and does not wait/);
});

describe('journeys replay', () => {
  test('it plans skipped and failed journeys anew once the cause is mended, and leaves asked ones alone', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.post(loop.vendor.close('a', { customer: {} }).delivery);
    await loop.post(loop.vendor.close('b').delivery);
    await loop.journey('a.1', 'skipped');
    await loop.journey('b.1', 'asked');
    const record = loop.vendor.records.get('a') ?? expect.fail('no record');
    loop.vendor.records.set('a', { ...record, customer: { email: 'late@example.com' } });
    const { rows } = await printed(() => replayJourneys({ ...beside(loop), state: 'skipped' }));
    const journeys = [`${loop.store.source}/a.1`];
    expect(rows).toEqual([{ journeys: 1, outcomes: [{ outcome: 'planned anew', count: 1, journeys }] }]);
    await loop.journey('a.1', 'asked');
    const b = `${loop.store.source}/b.1`;
    await expect(replayJourneys({ ...beside(loop), journey: b })).rejects.toThrow(/customer was asked/);
    const both = { ...beside(loop), journey: b, error: 'usable' };
    await expect(replayJourneys(both)).rejects.toThrow(/not both/);
    expect(loop.feedback.standin.requests()).toHaveLength(2);
  });

  test('it looks for the request of a journey that may have one before it asks anew', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { requestId: _, ...asked } = await loop.asked('a');
    const intent = {
      token: 't',
      at: daysAgo(1),
      campaign: 12,
      numAppeals: 0,
      lastAppeal: null,
      searchAfter: daysAgo(1),
    };
    const failed = { ...asked, state: 'failed' as const, intent };
    await loop.store.update('a.1', () => ({ journey: failed, trace: ['made to fail'] }));
    await printed(() => replayJourneys({ ...beside(loop), journey: `${loop.store.source}/a.1` }));
    await idle(loop);
    await until(async () => !['waiting', 'creating'].includes((await loop.store.get('a.1'))?.state ?? ''));
    expect(loop.feedback.standin.requests()).toHaveLength(1);
  });

  test('it writes an answer back that could not be written', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    await loop.asked('a');
    await loop.store.update('a.1', (now) => {
      const answer = { grade: 4, comment: null, seenAt: new Date(), version: 1 };
      const answered = step(now, 'answered', new Date(), { answer });
      return { journey: step(answered, 'failed', new Date(), { why: 'no right' }), trace: [] };
    });
    const { rows } = await printed(() => replayJourneys({ ...beside(loop), error: 'no right' }));
    expect(rows).toMatchObject([{ outcomes: [{ outcome: 'written back again', count: 1 }] }]);
    await loop.journey('a.1', 'written');
  });
});

describe('a replay that is interrupted', () => {
  test('it loses no closing whose record could not be read', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    loop.vendor.close('a');
    const at = new Date();
    const claim = { recordId: 'a', closing: 'event:one', closedAt: at, eventKey: 'one', receivedAt: at };
    await loop.store.getOrCreate(claim, []);
    await loop.store.update('a.1', (now) => ({ journey: step(now, 'failed', at, { why: 'unread' }), trace: [] }));
    const { queue } = loop.app.engine.pipelines.get(loop.store.source)?.jobs.plan ?? expect.fail('no pipeline');
    await queue.pause();
    // Queued first, then ended: at no time is there neither.
    const seen: (string | undefined)[] = [];
    const watching = (async () => {
      for (;;) {
        const [state, queued] = [(await loop.store.get('a.1'))?.state, await queue.count()];
        seen.push(state === 'cancelled' && queued === 0 ? 'lost' : state);
        if (state === 'cancelled') return;
      }
    })();
    await printed(() => replayJourneys({ ...beside(loop), journey: `${loop.store.source}/a.1` }));
    await watching;
    expect(seen).not.toContain('lost');
    await queue.resume();
    await loop.journey('a.2', 'asked');
  });
});

describe('journeys cancel', () => {
  test('it ends a journey before it asks, with the reason, and refuses when the customer was asked', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: fresh(), rule });
    await loop.post(loop.vendor.close('a').delivery);
    await loop.journey('a.1', 'waiting');
    const journey = `${loop.store.source}/a.1`;
    await printed(() => cancelJourney({ ...beside(loop), journey, why: 'the customer called' }));
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'cancelled', why: 'the customer called' });
    await expect(cancelJourney({ ...beside(loop), journey: `${loop.store.source}/b.1`, why: '' })).rejects.toThrow(
      /no journey/,
    );
    await loop.close();

    const other = await startLoop(redis, { source: fresh() });
    await other.asked('a');
    const asked = `${other.store.source}/a.1`;
    await expect(cancelJourney({ ...beside(other), journey: asked, why: 'x' })).rejects.toThrow(/can't be cancelled/);
  });
});
