import { expect, test } from 'vitest';
import { collectOnce } from '../../../../worker/cli/collect.ts';
import { type Sources, withSources } from '../../../../worker/cli/with-engine.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { startService } from '../../../support/service.ts';
import type { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, redis } = useCommands();

/** Two sources, a customer of each has answered, and nobody is at work: `prepare` is what happens before the command. */
async function collected(prepare: (sources: Sources, vendor: ToyVendor) => Promise<void>) {
  await redis.handle.client.flushall();
  const feedback = await startService();
  const loop = await startLoop(redis, { source: 'one', others: ['other'], feedback });
  const stateOf = async (source: string) =>
    (await loop.app.engine.pipelines.get(source)?.context.store.get(`${source}.1`))?.state;
  for (const source of ['one', 'other']) {
    await loop.post(loop.vendor.close(source).delivery, {}, source);
    await until(async () => (await stateOf(source)) === 'asked');
  }
  await loop.app.close();
  for (const source of ['one', 'other']) feedback.standin.answer({ contact: `${source}@example.com`, grade: 4 });
  const options = beside(loop);
  await withSources(options, (sources) => prepare(sources, loop.vendor));
  const { code, rows: told } = await printed(() => collectOnce(options));
  const after = await withSources(options, async ({ engine }) => {
    const stores = [...engine.pipelines.values()].map(({ context }) => context.store);
    const states = await Promise.all(stores.map(async (store) => (await store.get(`${store.source}.1`))?.state));
    return { paused: await engine.paused(), states };
  });
  return { code, told, ...after, asked: feedback.standin.requests().length };
}

test('it brings grades in, asks nobody, and leaves alone what was stopped', async () => {
  const { code, told, states, paused, asked } = await collected(async ({ pipeline }, vendor) => {
    const { context, pauses, jobs } = pipeline('one');
    const { at } = vendor.close('more');
    const more = { recordId: 'more', at, key: 'more', what: 'toy closed', certain: true, receivedAt: at };
    await context.queueEvent({ kind: 'closed', ...more });
    await pauses.set('erase', 'the key is inactive');
    await jobs.erase.queue.pause();
  });
  expect({ code, states }).toEqual({ code: 0, states: ['written', 'written'] });
  expect(told).toEqual([{ answers: [{ state: 'written', count: 2, journeys: ['one/one.1', 'other/other.1'] }] }]);
  expect(paused).toMatchObject({ one: [{ stage: 'erase', why: 'the key is inactive' }] });
  expect(asked).toBe(2);
});

test("it brings in the others' grades though one source's writing is stopped, and says so", async () => {
  const { code, told, states, paused } = await collected(async ({ pipeline }) => {
    const { pauses, jobs } = pipeline('one');
    await pauses.set('write-back', 'the key is inactive');
    await jobs.writeBack.queue.pause();
  });
  expect({ code, states }).toEqual({ code: 1, states: ['answered', 'written'] });
  const answers = [
    { state: 'written', count: 1, journeys: ['other/other.1'] },
    { state: 'answered', count: 1, journeys: ['one/one.1'] },
  ];
  expect(told).toEqual([{ answers: expect.arrayContaining(answers) }]);
  expect(paused).toMatchObject({ one: [{ stage: 'write-back' }] });
});
