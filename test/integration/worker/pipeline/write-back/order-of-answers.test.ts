import { expect, test } from 'vitest';
import type { WriteBack } from '../../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { until } from '../../../../support/loop.ts';
import {
  answered,
  askedTwice,
  asking,
  drain,
  minutesAgo,
  overriding,
  passOf,
  useManual,
} from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

/** A record shows the latest answer, in whatever order answers are found, and writes arrive and are saved. */

const { unitContext, redis } = useManual();

test('"no answer" that arrives at the record after an answer that is not yet saved as written', async () => {
  const vendor = new ToyVendor();
  vendor.writesNoAnswer = true;
  const unit = unitContext({ vendor });
  await asking(unit, 'e');
  await unit.store.update('e.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  const { promise: silence, resolve: ended } = Promise.withResolvers<void>();
  let later: Promise<unknown> = Promise.resolve();
  vendor.beforeWriteBack = async () => {
    vendor.beforeWriteBack = undefined;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await answered(unit, 'e.1', 9);
    const slow: SourceContext = {
      ...unit.context,
      write: async (item) => {
        vendor.written.push(item);
        await silence;
        return { ok: true, findings: [] };
      },
    };
    later = (async () => {
      while (((await writeBack({ journeyId: 'e.1' }, slow)) as { do: string }).do === 'wait');
    })();
    await until(() => vendor.written.length === 1);
  };
  await writeBack({ journeyId: 'e.1', noAnswer: true }, unit.context);
  ended();
  await later;
  await drain(unit);
  expect(await unit.store.get('e.1')).toMatchObject({ state: 'written' });
  expect(vendor.written.map(({ status }) => status)).toEqual(['answered', 'no-answer', 'answered']);
});

test('an older answer is not put over a newer one that the record took in part', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2, minutesAgo(30));
  unit.vendor.failures.writeBack.push(new CloseloopError('away', { kind: 'transient' }));
  await expect(writeBack({ journeyId: 't.1' }, unit.context)).rejects.toThrow('away');
  await answered(unit, 't.2', 9, minutesAgo(5));
  unit.vendor.results.push({ ok: true, findings: ['the comment was cut'] });
  await writeBack({ journeyId: 't.2' }, unit.context);
  expect(await unit.store.get('t.2')).toMatchObject({ state: 'parked', writtenVersion: 1 });
  await writeBack({ journeyId: 't.1' }, unit.context);
  expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([9]);
});

test('a timed-out write whose work was done after a later answer was written', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2, minutesAgo(30));
  let late: WriteBack | undefined;
  const timingOut: SourceContext = {
    ...unit.context,
    write: async (item) => {
      late = item;
      const error = new CloseloopError('no answer in 30 s', { kind: 'transient' }, { outcome: 'unknown' });
      return { ok: false, why: 'error', error };
    },
  };
  await expect(writeBack({ journeyId: 't.1' }, timingOut)).rejects.toThrow('no answer');
  await answered(unit, 't.2', 9, minutesAgo(5));
  await writeBack({ journeyId: 't.2' }, unit.context);
  // The vendor does the work of the call that was given up.
  if (late) unit.vendor.written.push(late);
  await writeBack({ journeyId: 't.1' }, unit.context);
  await drain(unit);
  for (const id of ['t.1', 't.2']) expect(await unit.store.get(id)).toMatchObject({ state: 'written' });
  expect(unit.vendor.written.at(-1)).toMatchObject({ grade: 9 });
});

test('two answers about one record that are found in one pass, the newest request first', async () => {
  const unit = await askedTwice(unitContext);
  const { context, store } = unit;
  const [one, two] = [await store.get('t.1'), await store.get('t.2')];
  const row = (id: string, grade: number) => ({
    id,
    campaign: 12,
    phone: null,
    email: 'erika@example.com',
    identifier: null,
    scheduled: new Date(),
    status: 'Sent',
    grade,
    comment: null,
    customFields: {},
  });
  let now = Date.now();
  const feedback = overriding(context.feedback, {
    requestPages: async function* () {
      yield { count: 2, results: [row(two?.requestId ?? '', 9)], unreadable: [] };
      yield { count: 2, results: [row(one?.requestId ?? '', 2)], unreadable: [] };
    },
  });
  const ticking = { ...context, clock: { ...context.clock, now: () => new Date(now++) } };
  await passOf(redis.handle.client, ticking, { feedback, clock: context.clock });
  expect(await store.get('t.1')).toMatchObject({ state: 'answered' });
  await drain(unit);
  expect(unit.vendor.written.at(-1)).toMatchObject({ grade: 9 });
});
