import { describe, expect, test } from 'vitest';
import { contactKey } from '../../../../../core/contact.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { sweep } from '../../../../../worker/pipeline/sweep.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { startLoop, until } from '../../../../support/loop.ts';
import { anyone, asking, closedAs, eventOf, hour, open, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;

const me = 'me@acme.com';
const general = `policy: { test: { email: ${me} } }`;
const throttled = '{ name: all, campaign: 12, contact: customer.email, throttle: 30d, again: each closing }';
const customer = { kind: 'email', value: anyone.customer.email } as const;
const sentTo = () => service.standin.requests().map(({ email, phone, identifier }) => email ?? phone ?? identifier);

test('a request goes to the test contact, says TEST, and leaves the customer alone', async () => {
  service.standin.addCampaign({
    account: 'acme',
    id: 120,
    name: 'Marked',
    type: 'mixed',
    customFields: [{ name: 'Test' }],
  });
  const unit = unitContext({ general, rule: '{ name: all, campaign: 120, contact: customer.email }' });
  const journey = await asking(unit, 'a');
  expect(journey).toMatchObject({ state: 'asked', contact: customer, test: { contact: { kind: 'email', value: me } } });
  expect(sentTo()).toEqual([me]);
  expect(service.standin.requests()[0]).toMatchObject({ customFields: { Test: 'TEST' } });
  expect(await unit.trace('a.1')).toMatch(/TEST: creating a feedback request to the test contact/);
  expect(await unit.context.contacts.lastAsked(contactKey(customer))).toBeUndefined();
});

test('the test contact is never throttled, and the customer is not asked for', async () => {
  const unit = unitContext({ general, rule: throttled });
  for (const id of ['a', 'b', 'c']) expect(await asking(unit, id)).toMatchObject({ state: 'asked' });
  expect(sentTo()).toEqual([me, me, me]);
  const earnest = unitContext({ rule: throttled });
  expect(await asking(earnest, 'd')).toMatchObject({ state: 'asked' });
  expect(sentTo().at(-1)).toBe(customer.value);
});

test('a test takes no place under a cap', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, cap: { day: 1 }, again: each closing }';
  const unit = unitContext({ general, rule });
  for (const id of ['a', 'b']) expect(await asking(unit, id)).toMatchObject({ state: 'asked' });
  expect(sentTo()).toEqual([me, me]);
});

describe('the contact', () => {
  const contacts = `{ name: sms, when: 'ticket.store = "Soon"', campaign: 14, contact: customer.phone },
  { name: all, campaign: 12, contact: customer.email }`;

  test('it is of the kind that the campaign needs', async () => {
    const unit = unitContext({ general: `policy: { test: { email: ${me}, phone: "+37255500001" } }`, rule: contacts });
    unit.vendor.close('a', { customer: { phone: '+37255512345' }, store: 'Soon' });
    await plan(eventOf('a'), unit.context);
    await ask({ journeyId: 'a.1' }, unit.context);
    await asking(unit, 'b');
    expect(sentTo()).toEqual(['+37255500001', me]);
  });

  test('where it is not, nobody is asked until a person has mended it', async () => {
    const unit = unitContext({ general, rule: contacts });
    unit.vendor.close('a', { customer: { phone: '+37255512345' }, store: 'Soon' });
    const held = plan(eventOf('a'), unit.context);
    await expect(held).rejects.toThrow(/test contact has no phone, which a campaign of type sms needs/);
    await expect(held).rejects.toMatchObject({ advice: { kind: 'config', only: 'rule "sms" in campaign 14' } });
    expect(await asking(unit, 'b')).toMatchObject({ state: 'asked' });
    expect(sentTo()).toEqual([me]);
  });
});

test('a journey is asked by the mode that holds when it asks', async () => {
  const earnest = unitContext();
  earnest.vendor.close('a', anyone);
  await plan(eventOf('a'), earnest.context);
  const testing = unitContext({ general, vendor: earnest.vendor });
  await ask({ journeyId: 'a.1' }, testing.context);
  expect(sentTo()).toEqual([me]);
  earnest.vendor.close('b', { customer: { email: 'other@example.com' } });
  await plan(eventOf('b'), testing.context);
  await ask({ journeyId: 'b.1' }, earnest.context);
  expect(sentTo()).toEqual([me, 'other@example.com']);
  expect((await earnest.store.get('b.1'))?.test).toBeUndefined();
});

describe('what was asked as a test', () => {
  test('it stays one when test mode was left: its answer is written nowhere', async () => {
    const testing = await startLoop(service.redis, { source: 'calm', feedback: service.feedback, general });
    await testing.post(testing.vendor.close('a', anyone).delivery);
    await testing.journey('a.1', 'asked');
    await testing.close();
    const { vendor, feedback } = testing;
    const earnest = await startLoop(service.redis, { source: 'calm', feedback, vendor });
    service.standin.answer({ contact: me, grade: 4, comment: 'good' });
    expect(await earnest.journey('a.1', 'tested')).toMatchObject({ answer: { grade: 4, comment: 'good' } });
    service.standin.answer({ contact: me, grade: 2 });
    await until(async () => (await earnest.store.get('a.1'))?.answer?.grade === 2);
    // A later job of the same queue has been done: the test's would have been before it.
    await earnest.post(vendor.close('b', { customer: { email: 'b@example.com' } }).delivery);
    await earnest.journey('b.1', 'asked');
    service.standin.answer({ contact: 'b@example.com', grade: 5 });
    await earnest.journey('b.1', 'written');
    expect(vendor.written.map(({ recordId }) => recordId)).toEqual(['b']);
    await writeBack({ journeyId: 'a.1' }, earnest.app.engine.pipelines.get('calm')?.context ?? expect.fail());
    expect(vendor.written).toHaveLength(1);
  });

  test('it is not asked again when test mode was left; a later closing is', async () => {
    const unit = unitContext({ general });
    await asking(unit, 'a');
    const earnest = unitContext({ vendor: unit.vendor });
    await plan(eventOf('a'), earnest.context);
    await ask({ journeyId: 'a.1' }, earnest.context);
    expect(sentTo()).toEqual([me]);
    earnest.vendor.close('a', { ...anyone, ...closedAs('later') });
    await plan(eventOf('a'), earnest.context);
    await ask({ journeyId: 'a.2' }, earnest.context);
    expect(sentTo()).toEqual([me, customer.value]);
  });

  test('it ends as tested without an answer, and the record is not told of that', async () => {
    const unit = unitContext({ general });
    unit.vendor.writesNoAnswer = true;
    await asking(unit, 'a');
    await sweep(unit.context, { expireAfterMs: 0, retentionMs: 24 * hour });
    expect(await unit.store.get('a.1')).toMatchObject({ state: 'tested' });
    await writeBack({ journeyId: 'a.1', noAnswer: true }, unit.context);
    expect(unit.vendor.written).toEqual([]);
  });

  test('its unknown outcome is looked for at the test contact, whatever mode holds by then', async () => {
    const unit = unitContext({ general });
    unit.vendor.close('a', anyone);
    await plan(eventOf('a'), unit.context);
    const { create } = unit.context.feedback;
    const lost: typeof create = async (...call) => {
      await create(...call);
      throw new CloseloopError('toy: cut', { kind: 'transient' }, { outcome: 'unknown' });
    };
    await ask({ journeyId: 'a.1' }, { ...unit.context, feedback: { ...unit.context.feedback, create: lost } });
    expect(await unit.store.get('a.1')).toMatchObject({ state: 'creating', test: { contact: { value: me } } });
    const earnest = unitContext({ vendor: unit.vendor });
    await ask({ journeyId: 'a.1' }, earnest.context);
    expect(await unit.store.get('a.1')).toMatchObject({ state: 'asked', test: { contact: { value: me } } });
    expect(sentTo()).toEqual([me]);
  });

  test('it is withdrawn like any other', async () => {
    service.standin.addCampaign({ account: 'acme', id: 112, name: 'Later', type: 'mixed', sendDelay: 60 });
    const unit = unitContext({
      general,
      rule: '{ name: all, campaign: 112, contact: customer.email }',
      operations: { create: { body: { scheduled: null } } },
    });
    await asking(unit, 'a');
    unit.vendor.close('a', open);
    await plan(eventOf('a', { kind: 'changed' }), unit.context);
    expect(await unit.store.get('a.1')).toMatchObject({ state: 'cancelled' });
  });
});
