import { expect, test } from 'vitest';
import type { WriteBack } from '../../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { erased } from '../../../../../worker/journey/forget.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import {
  answered,
  askedTwice,
  asking,
  drain,
  eventOf,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';
import type { ToyVendor } from '../../../../support/toy-connector.ts';

/** What happens while an answer is on its way to its record. */

const { unitContext } = useManual();

/** Runs the journey's job until there is nothing left to do. */
async function written({ context }: UnitContext, journeyId: string, noAnswer?: boolean): Promise<void> {
  const job = { journeyId, ...(noAnswer && { noAnswer }) };
  for (let runs = 0; (await writeBack(job, context)).do === 'wait'; runs++) if (runs > 9) expect.fail('it never ends');
}

/** The vendor's first write takes this long: until the work is done. */
function slowly(vendor: ToyVendor, work: () => Promise<unknown>): void {
  vendor.beforeWriteBack = async () => {
    vendor.beforeWriteBack = undefined;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await work();
  };
}

test('a later answer that is written while an earlier one is on its way is written once more', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2);
  slowly(unit.vendor, async () => {
    await answered(unit, 't.2', 9);
    await written(unit, 't.2');
  });
  await written(unit, 't.1');
  await drain(unit, 'writeBack');
  expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([9, 2, 9]);
  for (const id of ['t.1', 't.2']) expect(await unit.store.get(id)).toMatchObject({ state: 'written' });
});

test('a record that shows a later answer, which was written meanwhile, parks no earlier one', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2);
  slowly(unit.vendor, async () => {
    await answered(unit, 't.2', 9);
    await written(unit, 't.2');
    unit.vendor.results.push({ ok: true, findings: ['the vendor did not keep the grade'] });
  });
  await written(unit, 't.1');
  await drain(unit, 'writeBack');
  expect(await unit.store.get('t.1')).toMatchObject({ state: 'written' });
  expect(await unit.trace('t.1')).toMatch(/the record has a later answer, of journey calm\/t\.2/);
  expect(unit.vendor.written.at(-1)).toMatchObject({ grade: 9 });
});

test('a later answer that is still on its way when an earlier one arrives is written once more', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.1', 2);
  slowly(unit.vendor, async () => {
    await answered(unit, 't.2', 9);
    // The vendor has it; that it has is noted only when the earlier one has arrived as well.
    const asRead = await unit.store.get('t.2');
    unit.vendor.written.push({ recordId: 't', grade: asRead?.answer?.grade } as WriteBack);
    const slow: SourceContext = {
      ...unit.context,
      write: async () => {
        await earlier;
        return { ok: true, findings: [] };
      },
    };
    later = writeBack({ journeyId: 't.2' }, slow);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  let later: Promise<unknown> = Promise.resolve();
  const earlier = writeBack({ journeyId: 't.1' }, unit.context);
  await earlier;
  expect(await later).toMatchObject({ do: 'wait' });
  await written(unit, 't.2');
  expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([9, 2, 9]);
  expect(await unit.store.get('t.2')).toMatchObject({ state: 'written' });
});

test('that nobody answered about an earlier closing, and arrives late, does not stay over a later answer', async () => {
  const unit = await askedTwice(unitContext);
  await unit.store.update('t.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  slowly(unit.vendor, async () => {
    await answered(unit, 't.2', 9);
    await written(unit, 't.2');
  });
  await written(unit, 't.1', true);
  await drain(unit, 'writeBack');
  expect(unit.vendor.written.map(({ status }) => status)).toEqual(['answered', 'no-answer', 'answered']);
});

test('an answer that was on its way while its record was merged is put on the one that remains', async () => {
  const unit = unitContext();
  await asking(unit, 'm');
  await answered(unit, 'm.1', 4);
  slowly(unit.vendor, () => plan(eventOf('m', { kind: 'changed', mergedInto: 'r' }), unit.context));
  await written(unit, 'm.1');
  expect(unit.vendor.written.map(({ recordId }) => recordId)).toEqual(['m', 'r']);
  expect(await unit.store.get('m.1')).toMatchObject({ state: 'written', currentId: 'r' });
});

test.each([
  ['refused', { ok: false, why: 'closed', message: 'grade 1 is not an option' }],
  ['failing', { ok: false, why: 'error', error: new CloseloopError('no', { kind: 'permanent' }) }],
] as const)('a newer answer is not settled with the older one, %s', async (_, result) => {
  const unit = unitContext();
  await asking(unit, 'p');
  await answered(unit, 'p.1', 1);
  const refusing: SourceContext = {
    ...unit.context,
    write: async () => {
      await answered(unit, 'p.1', 5, { version: 2 });
      return result;
    },
  };
  expect(await writeBack({ journeyId: 'p.1' }, refusing)).toMatchObject({ do: 'wait' });
  await written(unit, 'p.1');
  expect(unit.vendor.written).toMatchObject([{ grade: 5 }]);
});

test('an answer whose worker was killed right after writing it, and whose person was forgotten since, is taken off', async () => {
  const unit = unitContext();
  await asking(unit, 'n');
  await answered(unit, 'n.1', 3);
  const dying: SourceContext = {
    ...unit.context,
    write: async (item) => {
      await unit.context.write(item);
      await unit.store.update('n.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
      throw new Error('killed');
    },
  };
  await expect(writeBack({ journeyId: 'n.1' }, dying)).rejects.toThrow('killed');
  await written(unit, 'n.1');
  await drain(unit, 'erase');
  expect(unit.vendor.forgotten).toEqual(['n']);
});

test('nothing is taken off the record of a person who was forgotten before anything was written', async () => {
  const unit = unitContext();
  await asking(unit, 'n');
  await unit.store.update('n.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
  await written(unit, 'n.1', true);
  expect(await unit.pipeline.jobs.erase.queue.getJobCounts()).toMatchObject({ waiting: 0 });
});
