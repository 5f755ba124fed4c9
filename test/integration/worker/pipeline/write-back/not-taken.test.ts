import { expect, test } from 'vitest';
import type { WriteResult } from '../../../../../core/connector/contract.ts';
import { type Advice, CloseloopError } from '../../../../../core/errors.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { answered, asking, type UnitContext, useManual } from '../../../../support/manual.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

/** What becomes of an answer that a vendor does not take, or only in part. */

const { unitContext, redis } = useManual();
const general = `alerts: { url: "https://alerts.example.com/", secrets: ["whsec_${btoa('x'.repeat(24))}"] }`;

async function answeredWith(result: WriteResult): Promise<UnitContext> {
  const vendor = new ToyVendor();
  vendor.results.push(result);
  const unit = unitContext({ vendor, general });
  await asking(unit, 't');
  await answered(unit, 't.1', 4, { comment: 'x' });
  return unit;
}
const alerts = async (): Promise<{ kind: string; why: string; remedy: string }[]> =>
  (await redis.handle.client.hvals('{cl}:alerts:what')).map((text) => JSON.parse(text));
const refused = (advice: Advice): WriteResult => ({
  ok: false,
  why: 'error',
  error: new CloseloopError('Toy record t: the field "Cause" is required: fill it in.', advice),
});

test('a grade that the vendor silently drops parks the journey: it says so, and so does an alert (audit 36)', async () => {
  const { context, store, trace, vendor } = await answeredWith({
    ok: true,
    findings: ['the field Score has no option 4: add it.'],
  });
  expect(await writeBack({ journeyId: 't.1' }, context)).toEqual({ do: 'done' });
  const why = 'the record does not hold all of the answer: the field Score has no option 4: add it.';
  // The rest of it may be there: an erasure takes it off.
  expect(await store.get('t.1')).toMatchObject({ state: 'parked', why, writtenVersion: 1 });
  expect(await trace('t.1')).toMatch(/not taken: the field Score has no option 4: add it\.\nparked: /);
  expect(await alerts()).toMatchObject([
    {
      kind: 'parked',
      why: expect.stringContaining('the field Score has no option 4'),
      remedy: expect.stringContaining('--state parked'),
    },
  ]);
  // Mended, and taken up again.
  await store.update('t.1', (now) => ({ journey: step(now, 'answered', new Date()), trace: [] }));
  await writeBack({ journeyId: 't.1' }, context);
  expect(await store.get('t.1')).toMatchObject({ state: 'written', writtenVersion: 1 });
  expect(vendor.written).toHaveLength(2);
});

test('several things that a record does not take are told one from the other', async () => {
  const { context, store } = await answeredWith({ ok: true, findings: ['no option 4: add it.', 'no tags', 'no time'] });
  await writeBack({ journeyId: 't.1' }, context);
  const why = 'the record does not hold all of the answer: no option 4: add it; no tags; no time';
  expect(await store.get('t.1')).toMatchObject({ why });
});

test('what nobody has to act upon stands in the trace of a written journey (audit 36)', async () => {
  const { context, store, trace } = await answeredWith({
    ok: true,
    findings: [],
    remarks: ['the record holds a later answer'],
  });
  await writeBack({ journeyId: 't.1' }, context);
  expect(await store.get('t.1')).toMatchObject({ state: 'written' });
  expect(await trace('t.1')).toMatch(/the record holds a later answer\nwritten on the record/);
  expect(await alerts()).toEqual([]);
});

test('a newer answer that came meanwhile is written, whatever became of the older one (audit 36)', async () => {
  const { context, store, vendor } = await answeredWith({ ok: true, findings: ['no option 4'] });
  vendor.beforeWriteBack = async () => {
    vendor.beforeWriteBack = undefined;
    await store.update('t.1', (now) => ({
      journey: step(now, 'answered', new Date(), {
        answer: { grade: 5, comment: null, seenAt: new Date(), version: 2 },
      }),
      trace: [],
    }));
  };
  expect(await writeBack({ journeyId: 't.1' }, context)).toEqual({ do: 'wait', delayMs: 0 });
  await writeBack({ journeyId: 't.1' }, context);
  expect(await store.get('t.1')).toMatchObject({ state: 'written', writtenVersion: 2 });
  expect(await alerts()).toEqual([]);
});

test('a record that refuses its answer is parked, for a person to mend what the vendor requires (audit 36)', async () => {
  const { context, store, trace } = await answeredWith(refused({ kind: 'permanent' }));
  expect(await writeBack({ journeyId: 't.1' }, context)).toEqual({ do: 'done' });
  expect(await store.get('t.1')).toMatchObject({
    state: 'parked',
    why: expect.stringContaining('"Cause" is required'),
  });
  expect(await trace('t.1')).toMatch(/parked: the grade can't be put on the record and is kept here: Toy record t/);
  expect(await alerts()).toMatchObject([{ kind: 'parked', why: expect.stringContaining('"Cause" is required') }]);
});

test.each([
  ['is closed', 'closed', true],
  ['its receiver does not know', 'not-found', false],
] as const)('a record that %s: the alert names a setting only where there is one', async (_, why, hasSetting) => {
  const { context } = await answeredWith({ ok: false, why, message: 'no' });
  await writeBack({ journeyId: 't.1' }, context);
  const [{ remedy } = expect.fail('no alert')] = await alerts();
  expect(remedy).toContain('journeys replay --state parked');
  expect(remedy.includes('in writeBack')).toBe(hasSetting);
});

test.each<Advice>([{ kind: 'transient' }, { kind: 'config' }])(
  "a failure that may pass, or is the source's, is left to the queue: %j (audit 36)",
  async (advice) => {
    const { context, store } = await answeredWith(refused(advice));
    await expect(writeBack({ journeyId: 't.1' }, context)).rejects.toMatchObject({ advice });
    expect(await store.get('t.1')).toMatchObject({ state: 'answered' });
  },
);
