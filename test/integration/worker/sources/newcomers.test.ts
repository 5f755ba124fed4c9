import { describe, expect, test } from 'vitest';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { anyone, asking, eventOf, type UnitContext, useManual } from '../../../support/manual.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const service = useManual();
const { redis, unitContext } = service;

/** `old` has asked about a record, and is configured by a process that still runs. */
async function asked(vendor = new ToyVendor()): Promise<UnitContext> {
  const old = unitContext({ source: 'old', vendor });
  await old.engine.noteSources();
  await asking(old, 'a');
  return old;
}
/** A process with another configuration starts. */
async function start(source: string, more: Parameters<typeof unitContext>[0] = {}): Promise<UnitContext> {
  const one = unitContext({ source, ...more });
  await one.engine.openInlets();
  return one;
}
const planIn = async ({ engine }: UnitContext, source: string, recordId = 'a') =>
  await engine.runJob({ source, stage: 'plan', data: eventOf(recordId) });
const isHeld = async (one: UnitContext) => ({
  paused: (await one.engine.paused())[one.context.name] ?? [],
  isPaused: await one.pipeline.jobs.plan.queue.isPaused(),
});
const free = { paused: [], isPaused: false };

describe('a source that may be another under a new name (audit 14)', () => {
  test('its deliveries are stored, and none is planned before the rename: the customer is asked once (audit 14)', async () => {
    const { vendor } = await asked();
    const now = await start('new', { vendor });
    expect(await isHeld(now)).toMatchObject({
      paused: [
        { stage: 'plan', why: expect.stringMatching(/"closeloop source rename old new".*source new new --beside old/) },
      ],
      isPaused: true,
    });
    expect(now.told).toContainEqual(
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ source: 'new' }) }),
    );
    const told = { kind: 'closed', recordId: 'a', at: new Date(), key: 'k', what: 'toy closed' } as const;
    await now.engine.inlets.store('new', [told], new Date());
    expect(await now.events()).toHaveLength(1);
    await expect(planIn(now, 'new')).rejects.toThrow(/source rename old new/);
    expect(await now.engine.rename('old', now.pipeline, () => undefined)).toMatchObject({ journeys: 1 });
    expect(await isHeld(now)).toEqual(free);
    for (const event of await now.events()) await plan(event, now.context);
    expect(await now.store.queries.counts()).toMatchObject({ asked: 1, received: 0, waiting: 0 });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it goes on when a person says that it is another one, and stays free at the next start (audit 14)', async () => {
    const { vendor } = await asked();
    const now = await start('new', { vendor });
    await expect(now.engine.newcomers.begin(now.pipeline, 'odl')).rejects.toThrow(
      /not held up for "odl"; it may be: old/,
    );
    expect(await now.engine.newcomers.begin(now.pipeline, 'old')).toEqual([]);
    expect(await isHeld(now)).toEqual(free);
    expect(await isHeld(await start('new', { vendor }))).toEqual(free);
    expect(await planIn(now, 'new', 'a')).toEqual({ do: 'done' });
    await expect(now.engine.rename('old', now.pipeline, () => undefined)).rejects.toThrow(/journeys of its own/);
  });

  test('of several that it may be, each has to be settled (audit 14)', async () => {
    const { vendor } = await asked();
    const older = unitContext({ source: 'older', vendor });
    await older.engine.noteSources();
    await asking(older, 'b');
    const now = await start('new', { vendor });
    expect(await now.engine.newcomers.begin(now.pipeline, 'old')).toEqual(['older']);
    await expect(planIn(now, 'new')).rejects.toThrow(/source rename older new/);
    await now.engine.rename('older', now.pipeline, () => undefined);
    expect(await isHeld(now)).toEqual(free);
  });

  test('a process that starts while it is held up does not let it go, nor does the sweep (audit 14)', async () => {
    const { vendor } = await asked();
    const now = await start('new', { vendor });
    await now.pipeline.pauses.clear([now.pipeline.jobs.plan.queue]);
    await expect(planIn(now, 'new')).rejects.toThrow(/source rename old new/);
    expect(await isHeld(await start('new', { vendor }))).toMatchObject({ isPaused: true });
  });

  test.each([
    ['that has another account', { account: 'other' }, {}],
    ['beside the old one in one configuration', {}, { others: ['old'] }],
  ])('one %s is not held up (audit 14)', async (_, account, more) => {
    const { vendor } = await asked(Object.assign(new ToyVendor(), { account: 'one' }));
    const its = 'others' in more ? vendor : Object.assign(new ToyVendor(), account);
    const now = await start('new', { vendor: its, ...more });
    expect(await isHeld(now)).toEqual(free);
  });

  test('one that has journeys of its own is not held up, nor one beside a source that has asked nobody (audit 14)', async () => {
    const vendor = new ToyVendor();
    const empty = unitContext({ source: 'old', vendor });
    await empty.engine.noteSources();
    const now = await start('new', { vendor });
    expect(await isHeld(now)).toEqual(free);
    await asking(now, 'x');
    await asking(empty, 'y');
    expect(await isHeld(await start('new', { vendor }))).toEqual(free);
  });
});

test('a running loop with a new name asks nobody that the old one, still running, has asked, and goes on after the rename (audit 14)', async () => {
  const before = await startLoop(redis, { source: 'support' });
  const { vendor, feedback } = before;
  const first = vendor.close('a').delivery;
  await before.post(first);
  await before.journey('a.1', 'asked');
  const loop = await startLoop(redis, { source: 'helpdesk', vendor, feedback });
  expect((await loop.post(first)).status).toBe(202);
  expect((await loop.post(vendor.close('b').delivery)).status).toBe(202);
  const readyz = await fetch(`${loop.app.url}/readyz`);
  expect([readyz.status, await readyz.json()]).toEqual([200, { ok: false, reasons: ['paused'] }]);
  const pipeline = loop.app.engine.pipelines.get('helpdesk') ?? expect.fail('no pipeline');
  // A job that finds itself held is active for a moment.
  await until(async () => (await pipeline.jobs.plan.queue.getJobCountByTypes('waiting', 'delayed')) === 2);
  await before.app.close();
  await loop.app.engine.rename('support', pipeline, () => undefined);
  await loop.journey('b.1', 'asked');
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(feedback.standin.requests({ contact: anyone.customer.email })).toHaveLength(0);
  expect(feedback.standin.requests({ contact: 'a@example.com' })).toHaveLength(1);
  expect(feedback.standin.requests({ contact: 'b@example.com' })).toHaveLength(1);
  await loop.app.close();
  await feedback.close();
});
