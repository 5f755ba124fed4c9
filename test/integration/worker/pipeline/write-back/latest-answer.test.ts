import { expect, test } from 'vitest';
import { step } from '../../../../../worker/journey/transitions.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { answered, askedTwice, minutesAgo, useManual } from '../../../../support/manual.ts';

const { unitContext } = useManual();

test('an earlier answer that is written late does not replace the later one of another closing', async () => {
  const unit = await askedTwice(unitContext);
  const { context, store, vendor } = unit;
  await answered(unit, 't.1', 2, minutesAgo(30));
  await answered(unit, 't.2', 9, minutesAgo(5));
  for (const journeyId of ['t.2', 't.1']) await writeBack({ journeyId }, context);
  expect(vendor.written.map(({ grade }) => grade)).toEqual([9]);
  expect(await store.get('t.1')).toMatchObject({ state: 'written' });
  expect(await unit.trace('t.1')).toMatch(/later answer.*calm\/t\.2/);
});

test('a later answer about an earlier closing replaces the earlier one', async () => {
  const unit = await askedTwice(unitContext);
  await answered(unit, 't.2', 9, minutesAgo(30));
  await writeBack({ journeyId: 't.2' }, unit.context);
  await answered(unit, 't.1', 2, minutesAgo(5));
  await writeBack({ journeyId: 't.1' }, unit.context);
  expect(unit.vendor.written.map(({ grade }) => grade)).toEqual([9, 2]);
});

test('that nobody answered about an earlier closing is not said of a record that has the answer to a later one', async () => {
  const unit = await askedTwice(unitContext);
  const { context, store, vendor } = unit;
  await answered(unit, 't.2', 9, minutesAgo(5));
  await writeBack({ journeyId: 't.2' }, context);
  await store.update('t.1', (now) => ({ journey: step(now, 'expired', new Date()), trace: [] }));
  await writeBack({ journeyId: 't.1', noAnswer: true }, context);
  expect(vendor.written).toMatchObject([{ status: 'answered', grade: 9 }]);
});
