import { expect, test } from 'vitest';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { previewOf } from '../../../../../worker/support/preview.ts';
import { anyone, eventOf, useManual } from '../../../../support/manual.ts';

const service = useManual();
const hourMs = 3_600_000;

test.each([
  ['a year ahead says so, and waits for that day', 365 * 24, 1],
  ['by a clock that is some hours ahead is taken as it is', 5, 0],
])('a closing that is dated %s', async (_, hours, said) => {
  const { context, store, vendor, told } = service.unitContext({
    rule: '{ name: all, campaign: 12, contact: customer.email, delay: 1h }',
  });
  const dated = new Date(Date.now() + hours * hourMs);
  vendor.close('f', { ...anyone, state: { is: 'closed', closing: 'one', closedAt: dated } });
  const before = await previewOf('f', context);
  await plan(eventOf('f'), context);
  const { dueAt, closedAt } = (await store.get('f.1')) ?? expect.fail('no journey');
  const counts = dated.getTime();
  expect(Math.abs(closedAt.getTime() - counts)).toBeLessThan(60_000);
  expect(Math.abs(Number(dueAt) - counts - hourMs)).toBeLessThan(60_000);
  expect(Math.abs(Number(Object(before).forecast.request.dueAt) - counts - hourMs)).toBeLessThan(60_000);
  const why = expect.stringContaining(`it is dated ${dated.toISOString()}, which is yet to come`);
  expect((await store.trace('f.1')).filter(({ text }) => why.asymmetricMatch(text))).toHaveLength(said);
  expect(told.filter(({ message }) => message === 'a closing of the future')).toMatchObject(
    said === 1 ? [{ fields: { why } }] : [],
  );
});
