import { beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { eventOf, hour, overriding, type UnitContext, useManual } from '../../../../support/manual.ts';

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
      why: expect.stringMatching(
        /^the person was asked at 20\S+Z \(journey calm\/a\.1, at another of their addresses; throttle of policy, 30d: until 20/,
      ),
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
    const why = expect.stringMatching(/by a request that only the service knows; throttle of campaign 12/);
    expect(await closes(unit, 'a', one)).toMatchObject({ ...throttled, why });
  });

  test('that defers lets the closing wait until its period is over, and asks then', async () => {
    let aheadMs = 0;
    const now = () => new Date(Date.now() + aheadMs);
    const clock = { ...liveClock, now, until: (at: Date) => Math.max(0, at.getTime() - now().getTime()) };
    const general = 'policy: { throttle: { period: 2h, otherwise: defer } }';
    const unit = unitContext({ rule, general, clock });
    await closes(unit, 'a', one);
    const waiting = await closes(unit, 'b', two);
    expect(waiting).toMatchObject({ state: 'waiting' });
    expect(waiting.dueAt?.getTime()).toBeGreaterThan(Date.now() + 1.9 * hour);
    expect(await unit.trace('b.1')).toMatch(/waits: the person was asked at \S+ \(.*; throttle of policy, 2h: until/);
    aheadMs = 2 * hour;
    service.standin.moveClock({ now: now() });
    await ask({ journeyId: 'b.1' }, unit.context);
    expect(await unit.store.get('b.1')).toMatchObject({ state: 'asked' });
  });
});

describe('a throttle that is set, or lengthened, after a person was asked', () => {
  beforeEach(() => service.standin.addCampaign({ account: 'acme', id: 213, name: 'Always', type: 'mixed' }));
  const rulesOf = (throttle = '') =>
    `{ name: text, when: 'ticket.store = "Text"', campaign: 213, contact: [customer.phone, customer.email]${throttle} },
     { name: mail, campaign: 12, contact: [customer.email, customer.phone]${throttle}, again: each closing }`;
  type Settings = { rule: string; general?: string };
  const none: Settings = { rule: rulesOf() };
  const of = (policy: string): Settings => ({ rule: rulesOf(), general: `policy: { ${policy} }` });
  const ofCampaign = of('campaigns: { 12: { throttle: 30d } }');
  const grouped = of('groups: { g: { campaigns: [12, 213], throttle: 30d } }');
  const [text, mail] = [
    { ...both, store: 'Text' },
    { ...both, store: 'Mail' },
  ];
  const rows: [what: string, before: Settings, since: Settings, first: object, then: object][] = [
    ['the policy gets one', none, of('throttle: 30d'), text, mail],
    ['the rule gets one', none, { rule: rulesOf(', throttle: 30d') }, text, mail],
    ['the campaign gets one', none, ofCampaign, mail, mail],
    ['a group gets one', none, grouped, mail, mail],
    ['a group gets one: asked in its other campaign', none, grouped, text, mail],
    [
      'the campaign comes into a group that has one',
      of('groups: { g: { campaigns: [213], throttle: 30d } }'),
      grouped,
      mail,
      text,
    ],
    ['that of the campaign is lengthened', of('campaigns: { 12: { throttle: 1ms } }'), ofCampaign, mail, mail],
    [
      'that of a group is lengthened',
      of('groups: { g: { campaigns: [12, 213], throttle: 1ms } }'),
      grouped,
      text,
      mail,
    ],
  ];
  const opened = (settings: Settings, vendor?: UnitContext['vendor']) =>
    unitContext({ ...settings, ...(vendor && { vendor }) });

  test.each(rows)('counts that request: %s', async (_, before, since, first, then) => {
    const unit = opened(before);
    expect(await closes(unit, 'a', first)).toMatchObject({ state: 'asked' });
    const now = opened(since, unit.vendor);
    expect(await closes(now, 'b', then)).toMatchObject(throttled);
    expect(requests()).toHaveLength(1);
  });

  test.each(rows)('… and none that was withdrawn: %s', async (_, before, since, first, then) => {
    const unit = opened(before);
    const asked = await closes(unit, 'a', first);
    const contact = asked.contact ?? expect.fail('no contact');
    await unit.context.contacts.noteWithdrawn(contact, 'calm/a.1');
    expect(await closes(opened(since, unit.vendor), 'b', then)).toMatchObject({ state: 'asked' });
  });

  test('counts it though many requests in other campaigns came after', async () => {
    const unit = opened({ rule: rulesOf() });
    await closes(unit, 'a', mail);
    for (let n = 0; n < 15; n++) await closes(unit, `t${n}`, { ...text, customer: { email } });
    const now = opened(of('campaigns: { 12: { throttle: 30d } }'), unit.vendor);
    expect(await closes(now, 'b', mail)).toMatchObject(throttled);
    expect(await closes(now, 'c', { ...text, customer: { email } })).toMatchObject({ state: 'asked' });
  });
});

describe('two workers that ask one person at the same moment, in two campaigns of a group', () => {
  const rule = `{ name: text, when: 'ticket.store = "Text"', campaign: 213, contact: [customer.phone, customer.email] },
    { name: mail, campaign: 12, contact: [customer.email, customer.phone] }`;
  const general = 'policy: { groups: { g: { campaigns: [12, 213], throttle: 30d } } }';
  const rows: [what: string, isLockLost: boolean, one: object, other: object][] = [
    ['by one address', false, { customer: { email } }, { customer: { email }, store: 'Text' }],
    ['by two addresses', false, both, { ...both, store: 'Text' }],
    [
      'by one address, after the lock of both was lost',
      true,
      { customer: { email } },
      { customer: { email }, store: 'Text' },
    ],
    ['by two addresses, after the lock of both was lost', true, both, { ...both, store: 'Text' }],
  ];
  beforeEach(() => service.standin.addCampaign({ account: 'acme', id: 213, name: 'Always', type: 'mixed' }));

  test.each(rows)('send one request: %s', async (_, isLockLost, one, other) => {
    const first = unitContext({ rule, general });
    const second = unitContext({ rule, general, vendor: first.vendor });
    for (const [id, more] of Object.entries({ a: one, b: other })) {
      first.vendor.close(id, more);
      await plan(eventOf(id), first.context);
    }
    let waiting: (() => void)[] = [];
    const asks = async ({ context }: UnitContext, journeyId: string) => {
      const lock: typeof context.contacts.lock = async (key) => {
        // Both have read the notes before either goes on.
        const last = await context.contacts.lastAsked(key);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length < 2) return;
          for (const go of waiting) go();
          waiting = [];
        });
        return { person: 'lost', last };
      };
      const contacts = isLockLost ? overriding(context.contacts, { lock }) : context.contacts;
      await ask({ journeyId }, { ...context, contacts });
    };
    await Promise.all([asks(first, 'a.1'), asks(second, 'b.1')]);
    for (const id of ['a.1', 'b.1']) await ask({ journeyId: id }, second.context);
    expect(requests()).toHaveLength(1);
    const ends = await Promise.all(['a.1', 'b.1'].map(async (id) => (await first.store.get(id))?.state));
    expect(ends.toSorted()).toEqual(['asked', 'skipped']);
  });
});
