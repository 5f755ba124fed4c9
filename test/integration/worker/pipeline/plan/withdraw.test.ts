import { describe, expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../../../standins/feedback/standin.ts';
import { startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';

const redis = useRedis();
/** The service keeps the request as `Scheduled` until its own delay has passed. */
const scheduled = { create: { body: { scheduled: null } } };
/** A service whose campaign 112 sends an hour after the request, and the loop on it. */
async function startSlow(source: string, more = '') {
  const feedback = await startFeedbackStandin({ seed: true });
  feedback.standin.addCampaign({ account: 'acme', id: 112, name: 'Later', type: 'mixed', sendDelay: 60 });
  const rule = `{ name: all, campaign: 112, contact: customer.email${more} }`;
  const loop = await startLoop(redis, { source, feedback, rule, operations: scheduled });
  const close = async () => {
    await loop.close();
    await feedback.close();
  };
  return { ...loop, close };
}
const email = (id: string) => `${id}@example.com`;

describe('a record that is reopened after its customer was asked', () => {
  test('it is cancelled at the service while the request is still scheduled, and may ask again', async () => {
    const loop = await startSlow('withdraw-1', ', throttle: 30d');
    const { at, delivery } = loop.vendor.close('w1');
    await loop.post(delivery);
    await loop.journey('w1.1', 'asked');
    loop.vendor.close('w1', { state: { is: 'open' } });
    await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'w1', at: new Date(at.getTime() + 1) }]));
    expect(await loop.journey('w1.1', 'cancelled')).toMatchObject({
      why: expect.stringMatching(/open again.*cancelled at the service/),
    });
    await loop.post(loop.vendor.close('w1').delivery);
    await loop.journey('w1.2', 'asked');
    // Neither the throttle counts the cancelled request, nor is it taken for one that was forgotten.
    const trace = (await loop.store.trace('w1.2')).map(({ text }) => text).join('\n');
    expect(trace).not.toMatch(/searches for that request/);
    const states = loop.feedback.standin.requests({ contact: email('w1') }).map(({ status }) => status);
    expect(states.toSorted()).toEqual(['Cancelled', 'Scheduled']);
    await loop.close();
  });

  test('it stays asked when it is too late, and the trace says so once', async () => {
    const loop = await startLoop(redis, { source: 'withdraw-2' });
    const { at, delivery } = loop.vendor.close('w2');
    await loop.post(delivery);
    await loop.journey('w2.1', 'asked');
    loop.vendor.close('w2', { state: { is: 'open' } });
    for (const ms of [1, 2]) {
      await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'w2', at: new Date(at.getTime() + ms) }]));
      await until(async () => (await loop.app.engine.busy()) === 0);
    }
    const late = await until(async () => {
      const lines = (await loop.store.trace('w2.1')).filter(({ text }) => text.includes('too late'));
      return lines.length > 0 && lines;
    });
    expect(late).toHaveLength(1);
    expect(await loop.store.get('w2.1')).toMatchObject({ state: 'asked' });
    await loop.close();
  });

  test('it counts as cancelled when only the answer to the cancelling was lost', async () => {
    const loop = await startSlow('withdraw-3');
    const { at, delivery } = loop.vendor.close('w3');
    await loop.post(delivery);
    await loop.journey('w3.1', 'asked');
    loop.vendor.close('w3', { state: { is: 'open' } });
    await fetch(`${loop.feedback.url}/_control/faults`, {
      method: 'POST',
      body: JSON.stringify({ method: 'POST', path: '/cancel$', then: 'work-then-cut' }),
    });
    await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'w3', at: new Date(at.getTime() + 1) }]));
    await loop.journey('w3.1', 'cancelled');
    await loop.close();
  });
});

describe('a record that is merged into another', () => {
  test('it takes its answers there, and the other one does not ask the customer again', async () => {
    const loop = await startLoop(redis, { source: 'merge-1' });
    const { at, delivery } = loop.vendor.close('m1');
    await loop.post(delivery);
    await loop.journey('m1.1', 'asked');
    loop.vendor.records.delete('m1');
    const other = loop.vendor.close('m2', { customer: { email: email('m1') } });
    await loop.post(
      loop.vendor.delivery([{ kind: 'changed', id: 'm1', at: new Date(at.getTime() + 1), mergedInto: 'm2' }]),
    );
    await until(async () => (await loop.store.get('m1.1'))?.currentId === 'm2');
    await loop.post(other.delivery);
    expect((await loop.journey('m2.1', 'skipped')).why).toMatch(/asked already: journey merge-1\/m1\.1/);
    loop.feedback.standin.answer({ contact: email('m1'), grade: 5 });
    await until(() => loop.vendor.written[0]);
    expect(loop.vendor.written).toMatchObject([{ recordId: 'm2', grade: 5 }]);
    await loop.close();
  });

  test('it is followed through a second merge', async () => {
    const loop = await startLoop(redis, { source: 'merge-2' });
    const { at, delivery } = loop.vendor.close('n1');
    await loop.post(delivery);
    await loop.journey('n1.1', 'asked');
    const merge = async (id: string, mergedInto: string) => {
      await loop.post(loop.vendor.delivery([{ kind: 'changed', id, at: new Date(at.getTime() + 1), mergedInto }]));
      await until(async () => (await loop.store.get('n1.1'))?.currentId === mergedInto);
    };
    await merge('n1', 'n2');
    await merge('n2', 'n3');
    expect(await loop.store.records.historyOf('n3')).toMatchObject({ asked: 'n1.1' });
    await loop.close();
  });

  test('it is not asked about any more when that has not happened yet', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: 'merge-3', rule });
    const { at, delivery } = loop.vendor.close('o1');
    await loop.post(delivery);
    await loop.journey('o1.1', 'waiting');
    await loop.post(loop.vendor.delivery([{ kind: 'changed', id: 'o1', at, mergedInto: 'o2' }]));
    expect(await loop.journey('o1.1', 'cancelled')).toMatchObject({ why: expect.stringContaining('merged into o2') });
    await loop.close();
  });

  test('it is found to be merged when its customer is to be asked, and the other one is looked at', async () => {
    const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
    const loop = await startLoop(redis, { source: 'merge-4', rule });
    await loop.post(loop.vendor.close('p1').delivery);
    await loop.journey('p1.1', 'waiting');
    loop.vendor.close('p2');
    loop.vendor.close('p1', { currentId: 'p2' });
    await loop.hoursPass(1);
    await loop.journey('p1.1', 'cancelled');
    // An hour has passed since it was closed as well: its customer is asked at once.
    await loop.journey('p2.1', 'asked');
    await loop.close();
  });
});
