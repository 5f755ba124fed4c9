import { describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { loadNever } from '../../../../../worker/pipeline/policy/load-never.ts';
import { eventOf, hour, type UnitContext, useManual } from '../../../../support/manual.ts';
import type { ToyRecord, ToyVendor } from '../../../../support/toy-connector.ts';

const world = useManual();
const { unitContext } = world;

const erika: Partial<ToyRecord> = { customer: { email: 'erika@a.ee' }, store: 'Tallinn', locale: 'et', personId: '7' };
const usual = 'name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store }';
const everybody = usual.replace('name: all', 'name: everybody');
const later = { ...liveClock, now: () => new Date(Date.now() + 3 * hour) };

const inAnotherCampaign = () =>
  world.standin.addCampaign({
    account: 'acme',
    id: 113,
    name: 'After all',
    type: 'mixed',
    customFields: [{ name: 'Store', fieldType: 'Text' }],
  });

interface Change {
  /** The rules when the record closes. */
  rule?: string;
  /** More of the configuration, then and at the time of asking. */
  general?: string;
  /** The record when it closes, where it is not Erika's usual one. */
  before?: Partial<ToyRecord>;
  /** What happens to the record while its journey waits. */
  record?: Partial<ToyRecord>;
  /** The rules, and more of the configuration, when the customer is to be asked. */
  ruleThen?: string;
  generalThen?: string;
  meanwhile?: (vendor: ToyVendor, before: UnitContext) => Promise<void>;
}

/** A closing whose journey waits. */
async function waiting(rule: string, general = '', record: Partial<ToyRecord> = {}) {
  const before = unitContext({ rule, general });
  const { at: closedAt } = before.vendor.close('a', { ...erika, ...record });
  await plan(eventOf('a'), before.context);
  expect(await before.store.get('a.1')).toMatchObject({ state: 'waiting' });
  return { before, closedAt };
}

/** Plans the closing of a record, has something change, and asks three hours later. */
async function changed({ rule, general = '', record = {}, ruleThen, generalThen, meanwhile, ...first }: Change) {
  const ruleBefore = rule ?? `{ ${usual}, delay: 3h }`;
  const { before, closedAt } = await waiting(ruleBefore, general, first.before);
  const { vendor } = before;
  const state = vendor.records.get('a')?.state ?? expect.fail('no record');
  vendor.close('a', { ...erika, state, ...record });
  await meanwhile?.(vendor, before);
  const after = unitContext({ rule: ruleThen ?? ruleBefore, general: generalThen ?? general, vendor });
  vendor.calls.length = 0;
  await ask({ journeyId: 'a.1' }, { ...after.context, clock: later });
  const journey = (await after.store.get('a.1')) ?? expect.fail('no journey');
  return { journey, after, closedAt, trace: await after.trace('a.1'), requests: world.standin.requests() };
}

describe('a customer whom nobody is asked about any more, by the time when it is due', () => {
  const rows: [what: string, change: Change, expected: { reason: string; why: RegExp }][] = [
    [
      'a tag added that is never asked about',
      { general: 'policy: { never: [\'ticket.store = "no_survey"\'] }', record: { store: 'no_survey' } },
      { reason: 'never', why: /never/ },
    ],
    [
      "the rule's condition no longer true",
      { rule: `{ ${usual}, delay: 3h, when: 'ticket.store = "Tallinn"' }`, record: { store: 'Tartu' } },
      { reason: 'no-rule', why: /no rule's condition is true \("all"\)/ },
    ],
    ['the phone number removed', { record: { customer: {} } }, { reason: 'no-contact', why: /no usable contact/ }],
    [
      'the rule removed, and no other that fits',
      { ruleThen: `{ ${usual}, name: other, when: 'ticket.store = "Tartu"' }`.replace('name: all, ', '') },
      { reason: 'no-rule', why: /no rule's condition is true \("other"\)/ },
    ],
    [
      'no campaign for the language of the customer',
      { ruleThen: '{ name: all, campaign: { fi: 12 }, contact: customer.email, delay: 3h }' },
      { reason: 'language', why: /no campaign for the customer's language \(et\)/ },
    ],
    [
      'a smaller sample',
      { ruleThen: `{ ${usual}, delay: 3h, sample: 0% }` },
      { reason: 'sample', why: /outside the sample/ },
    ],
  ];
  test.each(rows)(
    '%s: nobody is asked, and the trace says why as planning would',
    async (_, change, { reason, why }) => {
      const { journey, trace, requests } = await changed(change);
      expect(requests).toEqual([]);
      expect(journey).toMatchObject({ state: 'skipped', reason, why: expect.stringMatching(why) });
      // As of a closing that planning skips: an erasure may know the customer by nothing that the record shows by now.
      expect(journey).not.toHaveProperty('contact');
      expect(journey).not.toHaveProperty('values');
      expect(trace).toMatch(/decided again, as it is due/);
      expect(trace).toMatch(/skipped: /);
    },
  );

  test('the list of those not to ask has the address by then', async () => {
    const { before } = await waiting(`{ ${usual}, delay: 3h }`);
    const never = loadNever([{ contactsIn: 'list.txt' }], {
      connector: before.vendor.connector,
      ownDomains: [],
      lists: new Map([['list.txt', new Set(['erika@a.ee'])]]),
      defaultCountry: undefined,
    });
    await ask({ journeyId: 'a.1' }, { ...before.context, never, clock: later });
    expect(await before.store.get('a.1')).toMatchObject({ reason: 'never', why: 'on the list list.txt (never)' });
    expect(world.standin.requests()).toEqual([]);
  });

  test('its planned time passed long ago', async () => {
    const { before } = await waiting(`{ ${usual}, delay: 3h, maxAge: 5h }`);
    const clock = { ...liveClock, now: () => new Date(Date.now() + 9 * hour) };
    await ask({ journeyId: 'a.1' }, { ...before.context, clock });
    expect(await before.store.get('a.1')).toMatchObject({ state: 'skipped', reason: 'too-old' });
    expect(world.standin.requests()).toEqual([]);
  });

  test('the person was asked meanwhile through another source', async () => {
    const general = 'policy: { throttle: 30d }';
    const { journey, requests } = await changed({
      general,
      meanwhile: async () => {
        const other = unitContext({ source: 'other', general, rule: `{ ${usual} }` });
        other.vendor.close('o', erika);
        await plan(eventOf('o'), other.context);
        await ask({ journeyId: 'o.1' }, other.context);
      },
    });
    expect(requests).toHaveLength(1);
    expect(journey).toMatchObject({ state: 'skipped', reason: 'throttled' });
  });
});

describe('a customer who is asked as the record, and the rules, are by then', () => {
  const rows: [what: string, change: Change, request: object, journey: object, said: RegExp][] = [
    [
      'an address that was corrected',
      { record: { customer: { email: 'new@a.ee' } } },
      { email: 'new@a.ee' },
      { rule: 'all', contact: { kind: 'email', value: 'new@a.ee' } },
      /contact customer\.email is now another email/,
    ],
    [
      'an address that was removed, where another is left',
      {
        rule: `{ ${usual}, delay: 3h }`.replace('customer.email', '[customer.phone, customer.email]'),
        before: { customer: { email: 'erika@a.ee', phone: '+37255512345' } },
      },
      { email: 'erika@a.ee' },
      { contact: { kind: 'email', value: 'erika@a.ee' } },
      /contact customer\.email is now another email/,
    ],
    [
      'another requester',
      { record: { customer: { email: 'max@a.ee' }, personId: '8' } },
      { email: 'max@a.ee' },
      { personId: '8' },
      /the customer is another person at the vendor/,
    ],
    [
      'a person who was merged into another',
      { record: { personId: '9' } },
      { email: 'erika@a.ee' },
      { personId: '9' },
      /decided again, as it is due: the customer is another person at the vendor$/m,
    ],
    [
      'a field value that was corrected',
      { record: { store: 'Tartu' } },
      { customFields: { Store: 'Tartu' } },
      { values: { Store: 'Tartu' } },
      /custom field "Store" has another value/,
    ],
    [
      'a rule with another name',
      { ruleThen: `{ ${everybody} }` },
      { email: 'erika@a.ee' },
      { rule: 'everybody' },
      /rule "everybody" in place of "all"/,
    ],
    [
      'a rule that stands before the one of the closing',
      { ruleThen: `{ name: first, campaign: 113, contact: customer.email }, { ${usual}, delay: 3h }` },
      { campaign: 113 },
      { rule: 'first', campaign: 113, values: {} },
      /rule "first" in place of "all"; campaign 113 in place of 12; custom field "Store" is left out/,
    ],
    [
      'a rule that was moved behind another',
      {
        rule: `{ ${usual}, delay: 3h }, { ${everybody} }`,
        ruleThen: `{ ${everybody} }, { ${usual}, delay: 3h }`,
      },
      { campaign: 12 },
      { rule: 'everybody' },
      /rule "everybody" in place of "all"$/m,
    ],
    [
      'another campaign of the rule',
      { ruleThen: `{ ${usual}, delay: 3h }`.replace('campaign: 12', 'campaign: 113') },
      { campaign: 113 },
      { campaign: 113 },
      /campaign 113 in place of 12/,
    ],
    [
      'another language',
      {
        rule: '{ name: all, campaign: { et: 12, en: 113 }, contact: customer.email, delay: 3h }',
        record: { locale: 'en' },
      },
      { campaign: 113 },
      { campaign: 113, locale: 'en' },
      /campaign 113 in place of 12; the customer's language is another/,
    ],
  ];
  test.each(rows)('%s', async (_, change, request, journey, said) => {
    inAnotherCampaign();
    const found = await changed(change);
    expect(found.requests).toMatchObject([request]);
    expect(found.journey).toMatchObject({ state: 'asked', ...journey });
    expect(found.trace).toMatch(said);
    expect(found.trace).not.toMatch(/@a\.ee/);
  });

  test('where nothing has changed the trace says nothing of it, and it costs one reading', async () => {
    const { trace, after, requests } = await changed({});
    expect(requests).toHaveLength(1);
    expect(trace).not.toMatch(/decided again/);
    expect(after.vendor.calls).toEqual([{ what: 'read', size: 1 }]);
  });
});

test('a longer delay waits on, and a place under a cap is free meanwhile', async () => {
  const general = 'policy: { cap: { day: 1 } }';
  const { journey, after, closedAt, requests } = await changed({
    general,
    ruleThen: `{ ${usual}, delay: 2d }`,
  });
  expect(requests).toEqual([]);
  expect(journey).toMatchObject({ state: 'waiting', dueAt: new Date(closedAt.getTime() + 48 * hour) });
  const other = unitContext({ source: 'other', general, rule: `{ ${usual} }`, vendor: after.vendor });
  after.vendor.close('b', { customer: { email: 'b@a.ee' }, store: 'Tartu' });
  await plan(eventOf('b'), other.context);
  await ask({ journeyId: 'b.1' }, { ...other.context, clock: later });
  expect(await other.store.get('b.1')).toMatchObject({ state: 'asked' });
});

test('a place under the cap of the rule that it had is given back', async () => {
  const capped = `{ ${usual}, delay: 3h, cap: { day: 1 } }`;
  const { before } = await waiting(capped);
  const slow = { ...before.context, clock: later, read: () => Promise.reject(new Error('the vendor is away')) };
  await expect(ask({ journeyId: 'a.1' }, slow)).rejects.toThrow('away');
  inAnotherCampaign();
  const first = '{ name: first, campaign: 113, contact: customer.email, when: \'ticket.store = "Tallinn"\' }';
  const after = unitContext({ rule: `${first}, ${capped}`, vendor: before.vendor });
  await ask({ journeyId: 'a.1' }, { ...after.context, clock: later });
  expect(await after.store.get('a.1')).toMatchObject({ state: 'asked', rule: 'first' });
  after.vendor.close('b', { customer: { email: 'b@a.ee' }, store: 'Tartu' });
  await plan(eventOf('b'), after.context);
  await ask(
    { journeyId: 'b.1' },
    { ...after.context, clock: { ...later, now: () => new Date(Date.now() + 6 * hour) } },
  );
  expect(await after.store.get('b.1')).toMatchObject({ state: 'asked', rule: 'all' });
});

test('two processes with two configurations that have the same job ask by the decision that was saved last', async () => {
  inAnotherCampaign();
  const rule = `{ ${usual}, delay: 3h }`;
  const { before } = await waiting(rule);
  const after = unitContext({ rule: rule.replace('campaign: 12', 'campaign: 113'), vendor: before.vendor });
  const { feedback } = before.context;
  let others: unknown;
  const contact: typeof feedback.contact = async (asked) => {
    others ??= await ask({ journeyId: 'a.1' }, { ...after.context, clock: later });
    return await feedback.contact(asked);
  };
  const slow = { ...before.context, clock: later, feedback: Object.assign(Object.create(feedback), { contact }) };
  expect(await ask({ journeyId: 'a.1' }, slow)).toEqual({ do: 'wait', delayMs: 0 });
  expect(others).toMatchObject({ do: 'wait' });
  expect(world.standin.requests()).toEqual([]);
  await ask({ journeyId: 'a.1' }, { ...after.context, clock: later });
  expect(world.standin.requests()).toMatchObject([{ campaign: 113 }]);
  expect(await after.store.get('a.1')).toMatchObject({ state: 'asked', campaign: 113 });
});

test('nobody is asked by a decision that could not be saved, as the journey had changed meanwhile', async () => {
  inAnotherCampaign();
  const rule = `{ ${usual}, delay: 3h }`;
  const { before } = await waiting(rule);
  const { context, store } = unitContext({
    rule: rule.replace('campaign: 12', 'campaign: 113'),
    vendor: before.vendor,
  });
  const read: typeof context.read = async (recordId, by) => {
    const reading = await context.read(recordId, by);
    await store.update('a.1', (now) => ({
      journey: { ...now, hurried: true },
      trace: ['a person wants it asked now'],
    }));
    return reading;
  };
  expect(await ask({ journeyId: 'a.1' }, { ...context, clock: later, read })).toEqual({ do: 'wait', delayMs: 0 });
  expect(world.standin.requests()).toEqual([]);
  await ask({ journeyId: 'a.1' }, { ...context, clock: later });
  expect(world.standin.requests()).toMatchObject([{ campaign: 113 }]);
  expect(await store.get('a.1')).toMatchObject({ state: 'asked', campaign: 113 });
});

test('a skipped journey that has looked for a request of its customer keeps what an erasure finds it by', async () => {
  const { before } = await waiting(`{ ${usual}, delay: 3h }`);
  const { vendor, store, context } = before;
  const at = new Date();
  const sought = { numAppeals: 0, lastAppeal: null };
  const intent = { ...sought, token: 't', at, campaign: 12, searchAfter: at };
  const searched = { ...sought, at, intent, contact: 'erika@a.ee' };
  await store.update('a.1', (now) => ({ journey: { ...now, searched }, trace: [] }));
  const state = vendor.records.get('a')?.state ?? expect.fail('no record');
  vendor.close('a', { state, store: 'Tallinn', customer: {} });
  await ask({ journeyId: 'a.1' }, { ...context, clock: later });
  expect(await store.get('a.1')).toMatchObject({
    state: 'skipped',
    contact: { value: 'erika@a.ee' },
    personId: '7',
  });
});
