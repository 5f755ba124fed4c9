import { expect, test } from 'vitest';
import type { WriteBack } from '../../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { erased, step } from '../../../../../worker/journey/transitions.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import type { SourceContext } from '../../../../../worker/pipeline/context.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { anyone, asking, closedAs, eventOf, type Quiet, useQuiet } from '../../../../support/by-hand.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

/** What happens while an answer is on its way to its record. */

const { quiet } = useQuiet();

/** A customer who answered, for the nth time. */
const answered = ({ store }: Quiet, id: string, grade: number, version = 1) =>
  store.update(id, (now) => ({
    journey: step(now, 'answered', new Date(), { answer: { grade, comment: null, seenAt: new Date(), version } }),
    trace: [],
  }));

/** Runs the journey's job until there is nothing left to do. */
async function written({ context }: Quiet, journeyId: string, noAnswer?: boolean): Promise<void> {
  const job = { journeyId, ...(noAnswer && { noAnswer }) };
  for (let runs = 0; (await writeBack(job, context)).do === 'wait'; runs++) if (runs > 9) expect.fail('it never ends');
}

/** Works off the jobs of a stage. */
async function drain({ pipeline }: Quiet, name: 'writeBack' | 'erase'): Promise<void> {
  const { queue } = pipeline.jobs[name];
  for (let jobs = await queue.getJobs(); jobs.length > 0; jobs = await queue.getJobs()) {
    for (const job of jobs) {
      while ((await pipeline.stages[name].run(job.data)).do === 'wait');
      await job.remove();
      await queue.removeDeduplicationKey(job.deduplicationId ?? '');
    }
  }
}

/** The vendor's first write takes this long: until the work is done. */
function slowly(vendor: ToyVendor, work: () => Promise<unknown>): void {
  vendor.beforeWriteBack = async () => {
    vendor.beforeWriteBack = undefined;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await work();
  };
}

/** A record whose customer was asked about two closings of it. */
async function askedTwice(): Promise<Quiet> {
  const vendor = new ToyVendor();
  vendor.writesNoAnswer = true;
  const town = quiet({ vendor, rule: '{ name: all, campaign: 12, contact: customer.email, again: each closing }' });
  await asking(town, 't');
  vendor.close('t', { ...anyone, ...closedAs('two') });
  await plan(eventOf('t'), town.context);
  await ask({ journeyId: 't.2' }, town.context);
  expect(await town.store.get('t.2')).toMatchObject({ state: 'asked' });
  return town;
}

test('a later answer that is written while an earlier one is on its way is written once more', async () => {
  const town = await askedTwice();
  await answered(town, 't.1', 2);
  slowly(town.vendor, async () => {
    await answered(town, 't.2', 9);
    await written(town, 't.2');
  });
  await written(town, 't.1');
  await drain(town, 'writeBack');
  expect(town.vendor.written.map(({ grade }) => grade)).toEqual([9, 2, 9]);
  for (const id of ['t.1', 't.2']) expect(await town.store.get(id)).toMatchObject({ state: 'written' });
});

test('a later answer that is still on its way when an earlier one arrives is written once more', async () => {
  const town = await askedTwice();
  await answered(town, 't.1', 2);
  slowly(town.vendor, async () => {
    await answered(town, 't.2', 9);
    // The vendor has it; that it has is noted only when the earlier one has arrived as well.
    const asRead = await town.store.get('t.2');
    town.vendor.written.push({ recordId: 't', grade: asRead?.answer?.grade } as WriteBack);
    const slow: SourceContext = {
      ...town.context,
      write: async () => {
        await earlier;
        return { ok: true, findings: [] };
      },
    };
    later = writeBack({ journeyId: 't.2' }, slow);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  let later: Promise<unknown> = Promise.resolve();
  const earlier = writeBack({ journeyId: 't.1' }, town.context);
  await earlier;
  expect(await later).toMatchObject({ do: 'wait' });
  await written(town, 't.2');
  expect(town.vendor.written.map(({ grade }) => grade)).toEqual([9, 2, 9]);
  expect(await town.store.get('t.2')).toMatchObject({ state: 'written' });
});

test('that nobody answered about an earlier closing, and arrives late, does not stay over a later answer', async () => {
  const town = await askedTwice();
  await town.store.update('t.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  slowly(town.vendor, async () => {
    await answered(town, 't.2', 9);
    await written(town, 't.2');
  });
  await written(town, 't.1', true);
  await drain(town, 'writeBack');
  expect(town.vendor.written.map(({ outcome }) => outcome)).toEqual(['answered', 'no-answer', 'answered']);
});

test('an answer that was on its way while its record was merged is put on the one that remains', async () => {
  const town = quiet();
  await asking(town, 'm');
  await answered(town, 'm.1', 4);
  slowly(town.vendor, () => plan(eventOf('m', { kind: 'changed', mergedInto: 'r' }), town.context));
  await written(town, 'm.1');
  expect(town.vendor.written.map(({ recordId }) => recordId)).toEqual(['m', 'r']);
  expect(await town.store.get('m.1')).toMatchObject({ state: 'written', currentId: 'r' });
});

test.each([
  ['refused', { ok: false, why: 'closed', message: 'grade 1 is not an option' }],
  ['failing', { ok: false, why: 'error', error: new CloseloopError('no', { kind: 'permanent' }) }],
] as const)('a newer answer is not settled with the older one, %s', async (_, result) => {
  const town = quiet();
  await asking(town, 'p');
  await answered(town, 'p.1', 1);
  const refusing: SourceContext = {
    ...town.context,
    write: async () => {
      await answered(town, 'p.1', 5, 2);
      return result;
    },
  };
  expect(await writeBack({ journeyId: 'p.1' }, refusing)).toMatchObject({ do: 'wait' });
  await written(town, 'p.1');
  expect(town.vendor.written).toMatchObject([{ grade: 5 }]);
});

test('an answer whose worker was killed right after writing it, and whose person was forgotten since, is taken off', async () => {
  const town = quiet();
  await asking(town, 'n');
  await answered(town, 'n.1', 3);
  const dying: SourceContext = {
    ...town.context,
    write: async (item) => {
      await town.context.write(item);
      await town.store.update('n.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
      throw new Error('killed');
    },
  };
  await expect(writeBack({ journeyId: 'n.1' }, dying)).rejects.toThrow('killed');
  await written(town, 'n.1');
  await drain(town, 'erase');
  expect(town.vendor.forgotten).toEqual(['n']);
});

test('nothing is taken off the record of a person who was forgotten before anything was written', async () => {
  const town = quiet();
  await asking(town, 'n');
  await town.store.update('n.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
  await written(town, 'n.1', true);
  expect(await town.pipeline.jobs.erase.queue.getJobCounts()).toMatchObject({ waiting: 0 });
});
