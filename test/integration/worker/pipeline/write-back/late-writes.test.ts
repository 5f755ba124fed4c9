import { expect, test } from 'vitest';
import type { WriteBack } from '../../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { erased } from '../../../../../worker/journey/forget.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { until } from '../../../../support/loop.ts';
import {
  answered,
  askedTwice,
  asking,
  drain,
  jobsOf,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { haveStalled } from '../../../../support/worker/pipeline/stalled.ts';

/* A vendor that carries out a write long after closeloop has given the call up. */

const { unitContext } = useManual();

/** A context whose writes end like this, and what was on its way in them. */
function losing(unit: UnitContext, end: () => ReturnType<SourceContext['write']>) {
  const sent: WriteBack[] = [];
  const context: SourceContext = {
    ...unit.context,
    write: async (item) => {
      sent.push(item);
      return await end();
    },
  };
  return { context, carryOut: () => unit.vendor.written.push(...sent) };
}

const unknown = new CloseloopError('no answer in 30 s', { kind: 'transient' }, { outcome: 'unknown' });
const thrown = () => Promise.reject(unknown);
const ofItem = async () => ({ ok: false, why: 'error', error: unknown }) as const;

test.each([
  ['of all in the call', thrown],
  ['of one in the call', ofItem],
])(
  'an older grade, carried out after a newer one was written, does not stay: the outcome %s is unknown',
  async (_, end) => {
    const unit = unitContext();
    await asking(unit, 'p');
    await answered(unit, 'p.1', 3);
    const { context, carryOut } = losing(unit, end);
    await expect(writeBack({ journeyId: 'p.1' }, context)).rejects.toThrow('no answer');
    await answered(unit, 'p.1', 8, { version: 2 });
    await writeBack({ journeyId: 'p.1' }, unit.context);
    expect(await unit.store.get('p.1')).toMatchObject({ state: 'written' });
    carryOut();
    await drain(unit, 'writeBack');
    expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([8, 3, 8]);
    expect(await unit.store.get('p.1')).toMatchObject({ state: 'written' });
    expect(await unit.trace('p.1')).toContain('an attempt that was given up may have been written since');
  },
);

test('an answer to an earlier closing, carried out after the later one was written, does not stay', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2);
  const { context, carryOut } = losing(unit, thrown);
  await expect(writeBack({ journeyId: 't.1' }, context)).rejects.toThrow('no answer');
  await answered(unit, 't.2', 9);
  for (const journeyId of ['t.2', 't.1']) await writeBack({ journeyId }, unit.context);
  carryOut();
  await drain(unit, 'writeBack');
  expect(unit.vendor.written.at(-1)).toMatchObject({ grade: 9 });
  for (const id of ['t.1', 't.2']) expect(await unit.store.get(id)).toMatchObject({ state: 'written' });
});

test('"no answer", carried out after an answer was written, does not stay', async () => {
  const unit = await askedTwice(unitContext);
  await unit.store.update('t.2', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  const { context, carryOut } = losing(unit, thrown);
  await expect(writeBack({ journeyId: 't.2', noAnswer: true }, context)).rejects.toThrow('no answer');
  await answered(unit, 't.2', 9);
  await writeBack({ journeyId: 't.2' }, unit.context);
  carryOut();
  await drain(unit, 'writeBack');
  expect(unit.vendor.written.map(({ status }) => status)).toEqual(['answered', 'no-answer', 'answered']);
});

test.each([
  ['before it was written', false],
  ['after it was written', true],
])('an answer, carried out after its person was forgotten, is taken off again: forgotten %s', async (_, isWritten) => {
  const unit = unitContext();
  await asking(unit, 'n');
  await answered(unit, 'n.1', 3);
  const { context, carryOut } = losing(unit, thrown);
  await expect(writeBack({ journeyId: 'n.1' }, context)).rejects.toThrow('no answer');
  if (isWritten) await writeBack({ journeyId: 'n.1' }, unit.context);
  await unit.store.update('n.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
  carryOut();
  await drain(unit, 'writeBack');
  await drain(unit, 'erase');
  expect(unit.vendor.forgotten).toEqual(['n']);
});

test('a write that the vendor refused, or never got, is looked at no more', async () => {
  const unit = unitContext();
  await asking(unit, 'r');
  await answered(unit, 'r.1', 3);
  for (const outcome of ['refused', 'never-sent'] as const) {
    const error = new CloseloopError('wait', { kind: 'transient', throttled: true }, { outcome });
    const { context } = losing(unit, () => Promise.reject(error));
    await expect(writeBack({ journeyId: 'r.1' }, context)).rejects.toThrow('wait');
  }
  expect(await jobsOf(unit.pipeline.jobs.writeBack)).toEqual([]);
});

test('a write whose process was killed is looked at once more, and what was looked at is not', async () => {
  const vendor = new ToyVendor();
  // Longer than the write itself takes on a busy machine.
  vendor.lateWriteMs = 1_000;
  const unit = unitContext({ vendor });
  await asking(unit, 'k');
  await answered(unit, 'k.1', 3);
  const { jobs, stages } = unit.pipeline;
  await jobs.writeBack.addSingly([{ journeyId: 'k.1' }]);
  await haveStalled(jobs.writeBack, 1);
  stages.writeBack.start();
  await until(async () => Object.values(await jobs.writeBack.queue.getJobCounts()).every((count) => count === 0));
  expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([3, 3]);
});
