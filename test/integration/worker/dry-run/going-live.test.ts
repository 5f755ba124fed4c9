import { expect, test } from 'vitest';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { anyone, closedAs, eventOf, useManual } from '../../../support/manual.ts';

const { unitContext } = useManual();
const minute = 60_000;

test('what closed while only a dry run ran asks nobody by itself once it runs in earnest; a backfill asks', async () => {
  const dry = unitContext({ dryRun: true });
  await dry.engine.noteSources();
  const during = new Date();
  const { vendor } = dry;
  vendor.close('during', { ...anyone, ...closedAs('during', during) });
  await dry.engine.noteSources();

  const { context, store, told, engine } = unitContext({ vendor });
  await engine.noteSources();
  await plan(eventOf('during', { at: during }), context);
  expect(await store.get('during.1')).toBeUndefined();
  expect(told).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('closed while only a dry run ran') }),
  );
  for (const [id, from] of [
    ['before', -minute],
    ['after', minute],
  ] as const) {
    vendor.close(id, { ...anyone, ...closedAs(id, new Date(during.getTime() + from)) });
    await plan(eventOf(id), context);
    expect(await store.get(`${id}.1`)).toMatchObject({ state: 'waiting' });
  }
  await plan(eventOf('during', { via: 'backfill' }), context);
  expect(await store.get('during.1')).toMatchObject({ state: 'waiting', backfilled: true });
});

test('a dry run beside a loop in earnest keeps nothing from being asked', async () => {
  const { context, store, engine, vendor } = unitContext();
  await engine.noteSources();
  const dry = unitContext({ vendor, dryRun: true });
  await dry.engine.noteSources();
  vendor.close('a', { ...anyone, ...closedAs('a', new Date()) });
  await dry.engine.noteSources();
  await plan(eventOf('a'), context);
  expect(await store.get('a.1')).toMatchObject({ state: 'waiting' });
});
