import { describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { noteRequested } from '../../../../../worker/pipeline/erasure-guard.ts';
import type { RecordJob } from '../../../../../worker/pipeline/jobs.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { planAndAsk, Readings } from '../../../../../worker/pipeline/plan-and-ask.ts';
import { replay } from '../../../../../worker/support/repair.ts';
import { closedAs, eventOf, hour, type UnitContext, useManual } from '../../../../support/manual.ts';
import { ago, asked, email, eraseOf, sentTo, waysToErase } from '../../../../support/worker/erasing.ts';

/** Closings that are told of only after an erasure of their person. */

const service = useManual();
const { unitContext } = service;
const erika = { customer: { email }, personId: 'p-7' };
const later = () => new Date(Date.now() + 1_000);

const arrivals: [by: string, more: Partial<RecordJob>][] = [
  ['a webhook', {}],
  ['a poll', { via: 'poll' }],
  ['a backfill', { via: 'backfill' }],
];
const planners: [how: string, planned: typeof plan | ReturnType<typeof planAndAsk>][] = [
  ['planned, then asked', plan],
  ['asked as it is planned', planAndAsk(async () => false, new Readings(), { asking: 5 })],
];
const rows = waysToErase.flatMap(([by, who]) =>
  arrivals.flatMap(([arrival, more]) => planners.map(([how, planned]) => ({ by, who, arrival, more, how, planned }))),
);

async function told({ vendor, context }: UnitContext, closedAt: Date, { more, planned }: (typeof rows)[number]) {
  vendor.close('x', { ...erika, ...closedAs('one', closedAt) });
  await planned(eventOf('x', { at: closedAt, receivedAt: later(), ...more }), context);
  await ask({ journeyId: 'x.1' }, context);
}

async function erasedAt(then: Date, who: object, { context }: UnitContext) {
  await erase(eraseOf({ ...who, receivedAt: then }), { ...context, ports: { ...context.ports, now: () => then } });
}

describe('a closing from before an erasure of its person', () => {
  test.each(rows)('asks nobody, and keeps nothing of them: erased by $by, told by $arrival, $how', async (row) => {
    const unit = unitContext();
    const closedAt = ago(hour);
    await erase(eraseOf(row.who), unit.context);
    await told(unit, closedAt, row);
    expect(sentTo(service.standin)).toEqual([]);
    const after = (await unit.store.get('x.1')) ?? expect.fail('no journey');
    expect(after).toMatchObject({ state: 'skipped', reason: 'erased', erasedAt: expect.any(Date) });
    expect(JSON.stringify(after)).not.toMatch(/erika|p-7/i);
    expect(await replay(after, unit.context)).toMatch(/^not replayed/);
  });

  test.each(rows)('… and a closing from after the erasure asks: erased by $by, told by $arrival, $how', async (row) => {
    const unit = unitContext();
    await erasedAt(ago(hour), row.who, unit);
    await told(unit, ago(1_000), row);
    expect(sentTo(service.standin)).toEqual([email]);
  });

  test.each(rows)('asks nobody where the erasure was only requested: by $by, told by $arrival, $how', async (row) => {
    const unit = unitContext();
    await noteRequested(
      [{ kind: 'erase', at: new Date(), key: 'e', what: 'toy erase', ...row.who }],
      new Date(),
      unit.context,
    );
    await told(unit, ago(hour), row);
    expect(sentTo(service.standin)).toEqual([]);
    await erase(eraseOf(row.who), unit.context);
    expect(JSON.stringify(await unit.store.get('x.1'))).not.toMatch(/erika|p-7/i);
  });

  test('holds back no later closing of the record, from after the erasure', async () => {
    const unit = unitContext();
    await erasedAt(ago(hour), { recordIds: ['x'] }, unit);
    for (const [closing, closedAt] of Object.entries({ one: ago(2 * hour), two: ago(1_000) })) {
      unit.vendor.close('x', { ...erika, ...closedAs(closing, closedAt) });
      await plan(eventOf('x', { at: closedAt }), unit.context);
    }
    await ask({ journeyId: 'x.2' }, unit.context);
    expect((await unit.store.get('x.1'))?.state).toBe('skipped');
    expect(sentTo(service.standin)).toEqual([email]);
  });

  test('leaves no snapshot of the record behind', async () => {
    const { context } = unitContext();
    await erase(eraseOf({ contacts: [email] }), context);
    const snapshot = { state: 'closed', shape: { customer: { email } } };
    await plan(eventOf('x', { at: ago(hour), receivedAt: later(), snapshot }), context);
    await plan(eventOf('y', { at: later(), receivedAt: later(), snapshot }), context);
    expect(await context.snapshots.of(['x', 'y'])).toEqual([undefined, snapshot]);
  });

  test('asks the others whose closings came late', async () => {
    const unit = unitContext();
    await erase(eraseOf({ contacts: [email], personIds: ['p-7'], recordIds: ['x'] }), unit.context);
    await asked(unit, 'y', { email: 'other@example.com' }, { personId: 'p-8', ...closedAs('one', ago(hour)) });
  });
});
