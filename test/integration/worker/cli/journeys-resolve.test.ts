import { describe, expect, test } from 'vitest';
import { resolveJourney } from '../../../../worker/cli/repair.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { idle, printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

describe('journeys resolve', () => {
  const nothing = { notAsked: false, written: false };

  /** A journey whose create came to no end that closeloop could find out. */
  async function parked() {
    const loop = await startLoop(redis, { source: fresh() });
    const { requestId = '', ...asked } = await loop.asked('a');
    const journey = { ...asked, state: 'parked' as const, why: 'unclear' };
    await loop.store.update('a.1', () => ({ journey, trace: ['made to park'] }));
    return { loop, requestId, ref: `${loop.store.source}/a.1` };
  }

  test('it takes the request that a person found, and collects its grade', async () => {
    const { loop, requestId, ref } = await parked();
    await startLoop(redis, { source: fresh(), feedback: loop.feedback });
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: '99999999' })).rejects.toThrow(
      /no feedback request/,
    );
    // Of the test's own making: nothing else unlinks a request from its journey.
    const bucket = (await redis.handle.client.keys(`{cl:${loop.store.source}}:requests:*`))[0] ?? '';
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId })).rejects.toThrow(
      /another journey/,
    );
    await redis.handle.client.hdel(bucket, requestId);
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId }));
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 3 });
    await loop.journey('a.1', 'written');
  });

  test('it asks when a person says that the customer was not', async () => {
    const { loop, ref } = await parked();
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref }));
    await loop.journey('a.1', 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(2);
    await expect(resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref })).rejects.toThrow(
      /not parked/,
    );
  });

  test('it asks once, though Redis forgets afterwards that it has asked (audit twice)', async () => {
    const loop = await startLoop(redis, { source: fresh(), searchAfter: '1h' });
    const { store, feedback } = loop;
    const { source } = store;
    feedback.standin.faults.add({ method: 'POST', path: '/api/appeals/$', then: 'cut' });
    await loop.post(loop.vendor.close('a').delivery);
    // Asked about in the job that plans, which then has stored the one that looks for the request.
    await until(async () => (await store.trace('a.1')).some(({ text }) => text.includes('outcome unknown')));
    await idle(loop);
    await store.update('a.1', (now) => ({ journey: step(now, 'parked', new Date(), { why: 'unclear' }), trace: [] }));
    const { context, jobs } = loop.app.engine.pipelines.get(source) ?? expect.fail('no pipeline');
    await jobs.ask.queue.pause();
    // That it is looked for in an hour is over.
    await until(async () => (await jobs.ask.queue.getJob('ask-a.1'))?.isDelayed());
    await (await jobs.ask.queue.getJob('ask-a.1'))?.remove();
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: `${source}/a.1` }));
    const before = await loop.journey('a.1', 'waiting');
    const note = await context.contacts.lastAsked('a@example.com');
    await jobs.ask.queue.resume();
    const { requestId = '' } = await loop.journey('a.1', 'asked');
    // A power cut: the last second is lost.
    await store.update('a.1', () => ({ journey: before, trace: [] }));
    const [bucket = ''] = await redis.handle.client.keys(`{cl:${source}}:requests:*`);
    await redis.handle.client.hdel(bucket, requestId);
    await context.contacts.setLastAsked('a@example.com', note);
    await context.queueAsk({ id: 'a.1' }, new Date());
    await loop.journey('a.1', 'creating');
    expect(feedback.standin.requests()).toHaveLength(1);
  });

  test('it asks when a person says that the customer was not, though other requests to them look like it', async () => {
    const { loop, ref } = await parked();
    const context = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    const contact = { kind: 'email', value: 'a@example.com' } as const;
    for (let i = 0; i < 2; i++) {
      await context.feedback.create({ campaign: 12, contact, scheduled: new Date(), customFields: {} });
    }
    await printed(() => resolveJourney({ ...beside(loop), ...nothing, notAsked: true, journey: ref }));
    await loop.journey('a.1', 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(4);
  });

  test('it refuses a request that went to somebody else: their grade would be put on this record', async () => {
    const { loop, ref } = await parked();
    const context = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    const contact = { kind: 'email', value: 'stranger@example.com' } as const;
    const { id } = await context.feedback.create({ campaign: 12, contact, scheduled: new Date(), customFields: {} });
    const resolved = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: id });
    await expect(resolved).rejects.toThrow(/another contact/);
  });

  test('it does not say that it is done when the journey was changed meanwhile', async () => {
    const { loop, requestId, ref } = await parked();
    const [bucket = ''] = await redis.handle.client.keys(`{cl:${loop.store.source}}:requests:*`);
    await redis.handle.client.hdel(bucket, requestId);
    await fetch(`${loop.feedback.url}/_control/faults`, {
      method: 'POST',
      body: JSON.stringify({ method: 'GET', path: `/appeals/${requestId}`, delayMs: 600_000 }),
    });
    const resolving = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId });
    const refused = expect(resolving).rejects.toThrow(/Nothing was changed: the journey is cancelled since/);
    await until(() => loop.feedback.standin.faults.list().length === 0);
    await loop.store.update('a.1', (now) => ({ journey: step(now, 'cancelled', new Date()), trace: [] }));
    loop.feedback.standin.faults.clear();
    await refused;
  });

  test('it takes no request while another journey of the person may be about to note it as its own', async () => {
    const { loop, requestId, ref } = await parked();
    const { contacts } = loop.app.engine.pipelines.get(loop.store.source)?.context ?? expect.fail('no pipeline');
    const person = await contacts.lock('a@example.com', 'another', 60_000);
    const resolving = resolveJourney({ ...beside(loop), ...nothing, journey: ref, asked: requestId });
    await expect(resolving).rejects.toThrow(/asking this person right now/);
    expect(await loop.store.get('a.1')).toMatchObject({ state: 'parked' });
    await contacts.release(person ?? expect.fail('no lock'), 'another');
  });

  test('it wants exactly one verdict', async () => {
    const { loop, ref } = await parked();
    await expect(resolveJourney({ ...beside(loop), ...nothing, journey: ref })).rejects.toThrow(/exactly one/);
    const both = { notAsked: true, written: true };
    await expect(resolveJourney({ ...beside(loop), ...both, journey: ref })).rejects.toThrow(/exactly one/);
  });
});
