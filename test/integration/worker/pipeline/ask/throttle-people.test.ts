import { beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { eventOf, hour, type UnitContext, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;
const [email, phone] = ['erika@example.com', '+37255512345'];
const day = 24 * hour;

/** Campaign 12 sends e-mails and text messages. */
const byMail = '{ name: mail, campaign: 12, contact: [customer.email, customer.phone], again: each closing }';
const rules = `{ name: text, when: 'ticket.store = "Text"', campaign: 12, contact: [customer.phone, customer.email] }, ${byMail}`;
const both = { customer: { email, phone } };

const closes = async ({ context, store, vendor }: UnitContext, id: string, more: object = both) => {
  vendor.close(id, more);
  await plan(eventOf(id), context);
  await ask({ journeyId: `${id}.1` }, context);
  return (await store.get(`${id}.1`)) ?? expect.fail('no journey');
};
const requests = () => service.standin.requests().map(({ phone: to, email: by }) => to ?? by);
const throttled = { state: 'skipped', reason: 'throttled' };

describe('a person with several addresses', () => {
  const general = 'policy: { throttle: 30d }';

  test('is not asked by one after they were asked by another', async () => {
    const unit = unitContext({ rule: rules, general });
    expect(await closes(unit, 'a')).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'b', { ...both, store: 'Text' })).toMatchObject({
      ...throttled,
      why: expect.stringMatching(/^the person was asked 0 days ago \(throttle of policy, 30d: until 20/),
    });
    expect(requests()).toEqual([email]);
  });

  test('… nor where only an earlier record showed that both are theirs', async () => {
    const unit = unitContext({ rule: rules, general });
    await closes(unit, 'a');
    expect(await closes(unit, 'b', { customer: { phone } })).toMatchObject(throttled);
  });

  test('… nor where only the record of a closing that waits has shown it', async () => {
    const unit = unitContext({ rule: rules, general });
    unit.vendor.close('w', both);
    await plan(eventOf('w'), unit.context);
    expect(await closes(unit, 'a', { customer: { email } })).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'b', { customer: { phone } })).toMatchObject(throttled);
  });

  test('… nor by a source that knows them by the id that the vendor gave them', async () => {
    const unit = unitContext({ rule: rules, general });
    await closes(unit, 'a', { customer: { email }, personId: 'u7' });
    expect(await closes(unit, 'b', { customer: { phone }, personId: 'u7' })).toMatchObject(throttled);
    expect(await closes(unit, 'c', { customer: { phone: '+37255512399' }, personId: 'u8' })).toMatchObject({
      state: 'asked',
    });
  });

  test('is asked once the request of another closing has come to nothing', async () => {
    const unit = unitContext({ rule: rules, general });
    service.standin.faults.add({ method: 'POST', path: '/api/appeals/$', status: 400, body: { detail: 'no' } });
    await closes(unit, 'a').catch(() => undefined);
    service.standin.faults.clear();
    expect(requests()).toEqual([]);
    expect(await closes(unit, 'b', { ...both, store: 'Text' })).toMatchObject({ state: 'asked' });
  });

  test('who is forgotten is linked with nothing any more', async () => {
    const unit = unitContext({ rule: rules, general });
    await closes(unit, 'a', { ...both, personId: 'u7' });
    expect(await service.redis.handle.client.keys('{cl}:address:*')).toHaveLength(3);
    const asked = {
      kind: 'erase' as const,
      key: 'e',
      at: new Date(),
      what: 'toy erase',
      receivedAt: new Date(),
      everybody: false,
    };
    await erase({ ...asked, contacts: [email], personIds: [], recordIds: [] }, unit.context);
    expect(await service.redis.handle.client.keys('{cl}:address:*')).toEqual([]);
    expect(await service.redis.handle.client.keys('{cl}:person:*')).toEqual([]);
    expect(await unit.store.get('a.1')).not.toHaveProperty('alsoKnownAs');
  });
});

describe('a throttle', () => {
  const rule = `{ name: one, when: 'ticket.store = "One"', campaign: 12, contact: customer.email },
    { name: two, campaign: 213, contact: customer.email }`;
  const one = { customer: { email }, store: 'One' };
  const two = { customer: { email }, store: 'Two' };
  beforeEach(() => service.standin.addCampaign({ account: 'acme', id: 213, name: 'Always', type: 'email' }));

  test('of a campaign counts its own requests only', async () => {
    const unit = unitContext({ rule, general: 'policy: { campaigns: { 12: { throttle: 30d } } }' });
    expect(await closes(unit, 'a', two)).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'b', one)).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'c', two)).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'd', one)).toMatchObject({ ...throttled, why: expect.stringMatching(/campaign 12/) });
  });

  test('of a group counts requests in all of its campaigns', async () => {
    const general = 'policy: { groups: { csat: { campaigns: [12, 213], throttle: 30d } } }';
    const unit = unitContext({ rule, general });
    expect(await closes(unit, 'a', two)).toMatchObject({ state: 'asked' });
    expect(await closes(unit, 'b', one)).toMatchObject({ ...throttled, why: expect.stringMatching(/group "csat"/) });
  });

  test('counts what somebody else asked them through the service', async () => {
    const unit = unitContext({ rule, general: 'policy: { campaigns: { 12: { throttle: 30d } } }' });
    service.standin.moveClock({ now: new Date(Date.now() - 5 * day) });
    await unit.context.feedback.create({
      campaign: 213,
      contact: { kind: 'email', value: email },
      customFields: {},
    });
    service.standin.moveClock({ now: new Date() });
    expect(await closes(unit, 'a', one)).toMatchObject({ ...throttled, why: expect.stringMatching(/5 days ago/) });
  });

  test('that defers lets the closing wait until its period is over, and asks then', async () => {
    let aheadMs = 0;
    const now = () => new Date(Date.now() + aheadMs);
    const clock = { now, real: (ms: number) => ms, until: (at: Date) => Math.max(0, at.getTime() - now().getTime()) };
    const general = 'policy: { throttle: { period: 2h, otherwise: defer } }';
    const unit = unitContext({ rule, general, clock });
    await closes(unit, 'a', one);
    const waiting = await closes(unit, 'b', two);
    expect(waiting).toMatchObject({ state: 'waiting' });
    expect(waiting.dueAt?.getTime()).toBeGreaterThan(Date.now() + 1.9 * hour);
    expect(await unit.trace('b.1')).toMatch(/waits: the person was asked 0 days ago \(throttle of policy, 2h: until/);
    aheadMs = 2 * hour;
    service.standin.moveClock({ now: now() });
    await ask({ journeyId: 'b.1' }, unit.context);
    expect(await unit.store.get('b.1')).toMatchObject({ state: 'asked' });
  });
});
