import { describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { act } from '../../../../worker/pipeline/act/act.ts';
import { writeAndAct } from '../../../../worker/pipeline/write-and-act.ts';
import { giveUpWriteBack, writeBack } from '../../../../worker/pipeline/write-back/write-back.ts';
import { jobsOf } from '../../../support/manual.ts';
import type { ToyVendor } from '../../../support/toy-connector.ts';
import { answered, lost, refused, unhappy, useActing } from '../../../support/worker/pipeline/acting.ts';

const { asked } = useActing();

describe('the write-back and the actions of an answer', () => {
  test('keep off one another: actions wait until the answer is on the record, but for follow-ups', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1, { isWritten: false });
    expect(await run()).toEqual({ do: 'wait', delayMs: 1_000 });
    expect([vendor.acted, (await get())?.followUp?.state]).toEqual([[], 'open']);
    await writeBack({ journeyId: 'p.1' }, unit.context);
    expect((await get())?.state).toBe('written');
    expect(await run()).toEqual({ do: 'done' });
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });

  test('and a newer answer waits until actions that have begun are over, or their process has died', async () => {
    const { unit, vendor, run, get } = await asked();
    await answered(unit, 1);
    vendor.actResults.push(lost);
    await expect(run()).rejects.toThrow('no answer');
    await answered(unit, 2, { version: 2, isWritten: false });
    const context = { ...unit.context, searchAfterMs: 60_000 };
    expect(await writeBack({ journeyId: 'p.1' }, context)).toEqual({ do: 'wait', delayMs: 1_000 });
    expect(vendor.written).toEqual([]);
    await writeBack({ journeyId: 'p.1' }, { ...unit.context, searchAfterMs: 0 });
    expect((await get())?.state).toBe('written');
  });

  test('an action that was about to begin does not, once a newer answer is being written', async () => {
    const { unit, vendor, run } = await asked();
    await answered(unit, 1);
    const { read } = unit.context;
    const later: typeof read = async (...about) => {
      const reading = await read(...about);
      await answered(unit, 2, { version: 2, isWritten: false });
      return reading;
    };
    await act({ journeyId: 'p.1' }, { ...unit.context, read: later });
    expect(vendor.acted).toEqual([]);
    await writeBack({ journeyId: 'p.1' }, unit.context);
    await run();
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
  });
});

describe('an answer that has settled when it is written', () => {
  const job = { journeyId: 'p.1' };
  const going = writeAndAct(async () => false);
  const states = async (get: () => Promise<Journey | undefined>) => {
    const { state, acting } = (await get()) ?? {};
    return [state, ...(acting?.acts.map((one) => one.state) ?? [])];
  };

  test('is acted on in the same job, and is stored as written together with the actions that begin', async () => {
    const { unit, vendor, get } = await asked({ answers: `[${unhappy.replace(', { followUp: { due: 4h } }', '')}]` });
    await answered(unit, 1, { isWritten: false });
    const found: unknown[] = [];
    const acting: typeof unit.context.act = async (requests) => {
      found.push(await states(get));
      return await unit.context.act(requests);
    };
    expect(await going(job, { ...unit.context, act: acting })).toEqual({ do: 'done' });
    expect(vendor.written.map(({ grade }) => grade)).toEqual([1]);
    expect(vendor.acted.map(({ name }) => name)).toEqual(['reopen', 'note']);
    expect(found).toEqual([['written', 'begun', 'begun']]);
    expect(await states(get)).toEqual(['written', 'done', 'done']);
    expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([]);
  });

  const left: [
    what: string,
    fail: (given: Awaited<ReturnType<typeof asked>>) => unknown,
    acted: number,
    states: string[],
  ][] = [
    [
      'has an action whose response was lost',
      ({ vendor }) => vendor.actResults.push(lost),
      2,
      ['begun', 'done', 'done'],
    ],
    [
      'has an action that the vendor defers',
      ({ vendor }) => vendor.actResults.push(refused),
      2,
      ['wanted', 'done', 'done'],
    ],
    [
      'is on a record that can not be read',
      ({ vendor }) => vendor.failures.read.push(new CloseloopError('no answer', { kind: 'transient' })),
      0,
      ['wanted', 'wanted', 'done'],
    ],
  ];
  test.each(left)('and %s is written, and left to the acting stage', async (_, fail, acted, after) => {
    const given = await asked();
    const { unit, vendor, get } = given;
    await answered(unit, 1, { isWritten: false });
    fail(given);
    expect(await going(job, unit.context)).toEqual({ do: 'done' });
    expect(vendor.acted).toHaveLength(acted);
    expect(await states(get)).toEqual(['written', ...after]);
    expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ ...job, version: 1 }]);
  });

  test('is written and left to the acting stage where that is stopped, and where it has not settled for the rule', async () => {
    const { unit, vendor, get } = await asked();
    await answered(unit, 1, { isWritten: false });
    await writeAndAct(async () => true)(job, unit.context);
    expect(await states(get)).toEqual(['written']);
    const slow = await asked({ answers: `[${unhappy.replace('settle: 0', 'settle: 1h')}]` });
    await slow.unit.pipeline.jobs.act.queue.obliterate({ force: true });
    await answered(slow.unit, 1, { version: 2, isWritten: false });
    await going(job, slow.unit.context);
    expect(await states(slow.get)).toEqual(['written']);
    expect(await slow.unit.pipeline.jobs.act.queue.getDelayedCount()).toBe(1);
    expect([...vendor.acted, ...slow.vendor.acted]).toEqual([]);
  });

  test('has no action begun where a person stops the acting stage while the record is read', async () => {
    const { unit, vendor, get } = await asked();
    await answered(unit, 1, { isWritten: false });
    let isStopped = false;
    const read: typeof unit.context.read = async (...about) => {
      isStopped = true;
      return await unit.context.read(...about);
    };
    await writeAndAct(async () => isStopped)(job, { ...unit.context, read });
    expect(vendor.acted).toEqual([]);
    expect((await get())?.acting?.acts.map(({ state }) => state)).not.toContain('begun');
    expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ ...job, version: 1 }]);
  });

  test('is not acted on where its person is to be forgotten, and is known to be on the record', async () => {
    const { unit, vendor, get } = await asked();
    await answered(unit, 1, { isWritten: false });
    const { read, erasures } = unit.context;
    const slow: typeof read = async (...about) => {
      const reading = await read(...about);
      await erasures.forgotten.note(['requested everybody'], new Date(), 3_600_000);
      return reading;
    };
    await going(job, { ...unit.context, read: slow });
    expect(await get()).toMatchObject({ state: 'written', writtenVersion: 1 });
    expect(vendor.acted).toEqual([]);
  });

  test('and changes while it is acted on is written again, and not acted on by the version before', async () => {
    const { unit, vendor, get } = await asked();
    await answered(unit, 1, { isWritten: false });
    const { read } = unit.context;
    const later: typeof read = async (...about) => {
      const reading = await read(...about);
      await answered(unit, 9, { version: 2, isWritten: false });
      return reading;
    };
    expect(await going(job, { ...unit.context, read: later })).toEqual({ do: 'wait', delayMs: 0 });
    expect(await states(get)).toEqual(['answered']);
    expect(await going(job, unit.context)).toEqual({ do: 'done' });
    expect(vendor.written.map(({ grade }) => grade)).toEqual([1, 9]);
    expect(vendor.acted).toEqual([]);
  });
});

test.each([
  ['a job that was killed once it had written the answer', () => undefined, 'written'],
  [
    'a write that fails',
    (vendor: ToyVendor) => vendor.results.push({ ok: false, why: 'error', error: lost }),
    'answered',
  ],
])('the write-back queues it also after %s', async (_, fail, state) => {
  const { unit, vendor, get } = await asked();
  fail(vendor);
  await answered(unit, 1, { isWritten: state === 'written' });
  await writeBack({ journeyId: 'p.1' }, unit.context).catch((error: unknown) => expect(error).toBe(lost));
  expect((await get())?.state).toBe(state);
  expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ journeyId: 'p.1', version: 1 }]);
});

test('the write-back queues actions that a killed process had begun, also where no rule is left', async () => {
  const { unit, vendor, run, get } = await asked();
  await answered(unit, 1);
  vendor.actResults.push(lost);
  await expect(run()).rejects.toThrow('no answer');
  expect((await get())?.acting?.acts[0]?.state).toBe('begun');
  await writeBack({ journeyId: 'p.1' }, { ...unit.context, answerRules: [] });
  expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ journeyId: 'p.1', version: 1 }]);
});

test('the write-back queues it also where it is given up before it has come to that', async () => {
  const { unit } = await asked();
  await answered(unit, 1, { isWritten: false });
  await giveUpWriteBack({ journeyId: 'p.1' }, 'its process crashed', unit.context);
  expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ journeyId: 'p.1', version: 1 }]);
});

test('the write-back queues it for each version, due when the answer has settled, and only where there are rules', async () => {
  const { unit } = await asked();
  await answered(unit, 1, { isWritten: false });
  await writeBack({ journeyId: 'p.1' }, unit.context);
  expect(await jobsOf(unit.pipeline.jobs.act)).toEqual([{ journeyId: 'p.1', version: 1 }]);
  const without = await asked({ answers: '[]' });
  await without.unit.pipeline.jobs.act.queue.obliterate({ force: true });
  await answered(without.unit, 1, { isWritten: false });
  await writeBack({ journeyId: 'p.1' }, without.unit.context);
  expect(await jobsOf(without.unit.pipeline.jobs.act)).toEqual([]);
});
