import { describe, expect, test } from 'vitest';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { collect } from '../../../../../worker/pipeline/collect/collect.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../../../worker/pipeline/source-pipeline.ts';
import { anyone, eventOf, hour, later, open, overriding, slowCampaign, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { redis, unitContext } = service;
const create = { method: 'POST', path: '/api/appeals/$' };
const markerRule = '{ name: all, campaign: 40, contact: customer.email }';

/** A source whose requests bear the marker; one more of its journeys' creates is cut each time `unknown` is called. */
function unit(options: Parameters<typeof unitContext>[0] = { rule: markerRule }) {
  service.standin.addCampaign({ account: 'acme', id: 40, customFields: [{ name: 'closeloop' }] });
  const one = unitContext(options);
  const { context, store, vendor } = one;
  const state = async (id: string) => (await store.get(id)) ?? expect.fail(`no ${id}`);
  const asksNow = async (id: string, by: SourceContext = context) => {
    await ask({ journeyId: `${id}.1` }, by);
    return await state(`${id}.1`);
  };
  const asks = async (id: string, more: object = anyone, by: SourceContext = context) => {
    vendor.close(id, more);
    await plan(eventOf(id), context);
    return await asksNow(id, by);
  };
  const unknown = async (
    id: string,
    then: 'cut' | 'work-then-cut',
    more: object = anyone,
    by: SourceContext = context,
  ) => {
    service.standin.faults.add({ ...create, then });
    expect(await asks(id, more, by)).toMatchObject({ state: 'creating' });
  };
  /** Its time has come, however long that would be. */
  const looks = async (id: string, by: SourceContext = context) => {
    const journeyId = `${id}.1`;
    await store.update(journeyId, (now) =>
      now.intent ? { journey: { ...now, intent: { ...now.intent, searchAfter: new Date(0) } }, trace: [] } : undefined,
    );
    const result = await ask({ journeyId }, by);
    return { ...(await state(journeyId)), again: result.do === 'wait' ? result.delayMs : undefined };
  };
  return { ...one, state, asks, asksNow, unknown, looks };
}

/** An export that lags behind, or whose row slid to a page that had been read. */
const lagging = (context: SourceContext): SourceContext => ({
  ...context,
  feedback: overriding(context.feedback, {
    requestPages: async function* () {
      yield { count: 0, results: [], unreadable: [] };
    },
  }),
});

test('a look in a campaign that was switched off stops only what asks in that campaign', async () => {
  const { context, store, unknown, looks } = unit();
  const { client } = redis.handle;
  await unknown('x', 'cut');
  service.standin.changeCampaign({ id: 40, state: 'inactive' });
  await expect(looks('x')).rejects.toMatchObject({ advice: { kind: 'config', only: 'campaign 40' } });
  expect(await store.get('x.1')).toMatchObject({ state: 'creating' });
  // Held: one job at a time finds out, and the next is sent when this one asked nobody.
  const [holds, ticket] = ['{cl:calm}:holds', '{cl:calm}:hold-ticket:ask campaign 40'];
  await client.hset(holds, 'ask campaign 40', JSON.stringify({ why: 'it is inactive', at: new Date() }));
  service.standin.changeCampaign({ id: 40, state: 'active' });
  await expect(looks('x')).rejects.toThrow('it is inactive');
  await client.set(ticket, 1);
  expect(await looks('x')).toMatchObject({ state: 'waiting' });
  expect(await client.get(ticket)).toBe('1');
  await ask({ journeyId: 'x.1' }, context);
  expect([(await store.get('x.1'))?.state, await client.hlen(holds)]).toEqual(['asked', 0]);
});

describe('a request with the marker that the export does not show, though the contact was asked since', () => {
  test('it is looked for again, and found when the export shows it', async () => {
    const { context, unknown, looks } = unit();
    await unknown('x', 'work-then-cut');
    for (let i = 0; i < 3; i++) {
      expect(await looks('x', lagging(context))).toMatchObject({ state: 'creating', attempts: 1 });
    }
    expect(await looks('x')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it is looked for ever more rarely, and then left to a person, who is told what to look at', async () => {
    const { context, unknown, looks, told } = unit();
    const patient = { ...lagging(context), searchAfterMs: hour };
    await unknown('x', 'work-then-cut');
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) waits.push(Math.round(((await looks('x', patient)).again ?? 0) / hour));
    expect(waits).toEqual([2, 4, 8]);
    expect(await looks('x', patient)).toMatchObject({
      state: 'parked',
      why: expect.stringMatching(/counters .* moved, but campaign 40's export .* see whether one was sent since/),
    });
    expect(told.map(({ message }) => message)).toContain('parked');
    expect(service.standin.requests()).toHaveLength(1);
  });

  test("it is made again where other journeys' requests explain that, one of them taken back since", async () => {
    slowCampaign(service.standin);
    const rule = `{ name: later, when: 'ticket.store = "Later"', campaign: 112, contact: customer.email }, ${markerRule}`;
    const { context, asks, unknown, looks, vendor, state } = unit({
      rule,
      operations: later.operations,
    });
    await unknown('x', 'cut');
    expect(await asks('o')).toMatchObject({ state: 'asked' });
    expect(await asks('l', { ...anyone, store: 'Later' })).toMatchObject({ state: 'asked' });
    vendor.close('l', open);
    await plan(eventOf('l', { kind: 'changed' }), context);
    expect(await state('l.1')).toMatchObject({ state: 'cancelled' });
    expect(await looks('x')).toMatchObject({ state: 'waiting' });
    await ask({ journeyId: 'x.1' }, context);
    expect(await state('x.1')).toMatchObject({ state: 'asked', attempts: 2 });
  });

  test('it is not made again where another journey explains one request, and two were made', async () => {
    const { context, asks, unknown, looks } = unit();
    await unknown('x', 'work-then-cut');
    expect(await asks('o')).toMatchObject({ state: 'asked' });
    expect(await looks('x', lagging(context))).toMatchObject({ state: 'creating' });
    expect(await looks('x')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(2);
  });
});

test('a request of an external campaign is found again, though the clock of the vendor is five minutes ahead', async () => {
  service.standin.addCampaign({ account: 'acme', id: 41, type: 'external', customFields: [{ name: 'closeloop' }] });
  const { unknown, looks } = unit({ rule: '{ name: all, campaign: 41, contact: ticket.id }' });
  await unknown('y', 'work-then-cut', {
    state: { is: 'closed', closing: 'one', closedAt: new Date(Date.now() + hour / 12) },
  });
  expect(await looks('y')).toMatchObject({ state: 'asked' });
  expect(service.standin.requests()).toHaveLength(1);
});

describe('a request without the marker that shows the values of another journey, which looks for its own', () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
  const at = (store: string) => ({ ...anyone, store });

  test('it is left to that one, and what it was not is made', async () => {
    const { context, unknown, looks, state } = unit({ rule });
    await unknown('a', 'cut', at('Tallinn'));
    await unknown('b', 'work-then-cut', at('Riga'));
    expect(await looks('a')).toMatchObject({ state: 'creating' });
    const [request] = service.standin.requests();
    expect(await looks('b')).toMatchObject({ state: 'asked', requestId: String(request?.id) });
    expect(await looks('a')).toMatchObject({ state: 'waiting' });
    await ask({ journeyId: 'a.1' }, context);
    expect(await state('a.1')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(2);
  });

  test('it is left to a person where neither can be sure', async () => {
    const { context, unknown, looks } = unit({ rule });
    await unknown('a', 'cut', at('Tallinn'));
    await unknown('b', 'cut', at('Riga'));
    const contact = { kind: 'email', value: anyone.customer.email } as const;
    await context.feedback.create({ campaign: 12, contact, customFields: { Store: 'RGA' } });
    for (let i = 0; i < 3; i++) {
      for (const id of ['a', 'b']) expect(await looks(id)).toMatchObject({ state: 'creating' });
    }
    const parked = { state: 'parked', why: expect.stringMatching(/shows other values/) };
    for (const id of ['a', 'b']) expect(await looks(id)).toMatchObject(parked);
  });
});

test('a request whose contact was masked at the service before it was looked for is left to a person (audit twice)', async () => {
  const { context, unknown, looks } = unit({ rule: '{ name: all, campaign: 12, contact: customer.email }' });
  await unknown('x', 'work-then-cut');
  await context.feedback.mask({ kind: 'email', value: anyone.customer.email });
  expect(await looks('x')).toMatchObject({ state: 'parked', why: expect.stringMatching(/was masked/) });
  expect(service.standin.requests()).toHaveLength(1);
});

test("… and asks where only another person's was masked, or another journey's (audit twice)", async () => {
  const { context, unknown, looks, asks, asksNow } = unit({
    rule: '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }',
  });
  const nora = { customer: { email: 'nora@example.com' }, store: 'Tallinn' };
  await unknown('x', 'cut', nora);
  await context.feedback.create({
    campaign: 12,
    contact: { kind: 'email', value: 'anna@example.com' },
    customFields: { Store: 'Riga' },
  });
  expect(await asks('o', { customer: { email: 'olga@example.com' }, store: 'Tallinn' })).toMatchObject({
    state: 'asked',
  });
  for (const value of ['anna@example.com', 'olga@example.com']) await context.feedback.mask({ kind: 'email', value });
  expect(await looks('x')).toMatchObject({ state: 'waiting' });
  expect(await asksNow('x')).toMatchObject({ state: 'asked' });
});

describe('a request that was looked for and not found', () => {
  const markers = [
    ['a marker', markerRule],
    ['none', '{ name: all, campaign: 12, contact: customer.email }'],
  ];

  test.each(markers)('it is found when the service does the work after that (%s) (audit twice)', async (_, rule) => {
    const { context, unknown, looks, asksNow } = unit({ rule });
    const sent: Parameters<typeof context.feedback.create>[0][] = [];
    await unknown('x', 'cut', anyone, {
      ...context,
      feedback: overriding(context.feedback, {
        create: async (request, options) => {
          sent.push(request);
          return await context.feedback.create(request, options);
        },
      }),
    });
    expect(await looks('x')).toMatchObject({ state: 'waiting' });
    for (const request of sent) await context.feedback.create(request);
    expect(await asksNow('x')).toMatchObject({ state: 'creating' });
    expect(await looks('x')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test.each([
    ['what the contact was noted with', false],
    ["the contact's counters", true],
  ])('the next one is found by %s, though Redis has forgotten it (audit twice)', async (_, isNoteLost) => {
    const { context, store, unknown, looks, asksNow } = unit({
      rule: '{ name: all, campaign: 12, contact: customer.email }',
    });
    await unknown('x', 'cut');
    const key = '{cl:calm}:journey:x.1';
    const { client } = redis.handle;
    const before = await looks('x').then(async () => await client.dumpBuffer(key));
    const asked = await asksNow('x');
    expect(asked).toMatchObject({ state: 'asked' });
    await client.restore(key, 0, before ?? expect.fail('no journey'), 'REPLACE');
    await client.del(...(await client.keys('{cl:calm}:requests:*')));
    const contact = { kind: 'email', value: anyone.customer.email } as const;
    if (isNoteLost) await context.contacts.forgetAsked(contact);
    expect(await store.get('x.1')).toMatchObject({ state: 'waiting' });
    expect(await asksNow('x')).toMatchObject({ state: 'creating' });
    expect(await looks('x')).toMatchObject({ state: 'asked', requestId: asked.requestId });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it is made once more where only another journey has asked since (audit twice)', async () => {
    const { unknown, asks, looks, asksNow } = unit();
    await unknown('x', 'cut');
    expect(await looks('x')).toMatchObject({ state: 'waiting' });
    expect(await asks('o')).toMatchObject({ state: 'asked' });
    expect(await asksNow('x')).toMatchObject({ state: 'creating' });
    expect(await looks('x')).toMatchObject({ state: 'waiting' });
    expect(await asksNow('x')).toMatchObject({ state: 'asked' });
    expect(service.standin.requests()).toHaveLength(2);
  });
});

describe('a request that somebody else made for the same person since the closing, without any outage', () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }';
  const contact = { kind: 'email', value: anyone.customer.email } as const;
  const closing = { ...anyone, store: 'Tallinn' };

  test('it is left alone where it shows other values, and this customer is asked (audit 10)', async () => {
    const { context, asks, looks, state } = unit({ rule });
    const theirs = await context.feedback.create({ campaign: 12, contact, customFields: { Store: 'Riga' } });
    expect(await asks('a', closing)).toMatchObject({ state: 'creating', intent: { isSuspicion: true } });
    expect(await looks('a')).toMatchObject({ state: 'waiting' });
    await ask({ journeyId: 'a.1' }, context);
    const journey = await state('a.1');
    expect(journey).toMatchObject({ state: 'asked' });
    expect(journey.requestId).not.toBe(theirs.id);
    expect(service.standin.requests()).toHaveLength(2);
  });

  test('it is left to a person where nothing tells whose it is (audit 10)', async () => {
    const { context, asks, looks } = unit({ rule: '{ name: all, campaign: 12, contact: customer.email }' });
    await context.feedback.create({ campaign: 12, contact, customFields: {} });
    expect(await asks('a')).toMatchObject({ state: 'creating' });
    expect(await looks('a')).toMatchObject({ state: 'parked', why: expect.stringMatching(/no custom field tells/) });
    expect(service.standin.requests()).toHaveLength(1);
  });

  test('it is taken where it shows the same values, as Redis may have forgotten it (audit 10)', async () => {
    const { context, asks, looks } = unit({ rule });
    const ours = await context.feedback.create({ campaign: 12, contact, customFields: { Store: 'Tallinn' } });
    expect(await asks('a', closing)).toMatchObject({ state: 'creating' });
    expect(await looks('a')).toMatchObject({ state: 'asked', requestId: ours.id });
    expect(service.standin.requests()).toHaveLength(1);
  });
});

test('the answer to a request that is found late is collected, though a pass came between finding and noting it', async () => {
  const { context, unknown, looks, state } = unit({});
  const { clock, log, alert, feedback } = context;
  const muchLater = { ...clock, now: () => new Date(Date.now() + hour) };
  const shared = { redis: redis.handle.client, sources: async () => [context], feedback, log, alert };
  const pass = async () =>
    await collect({ campaign: 12 }, { ...shared, clock: muchLater, fullEveryMs: 24 * hour, lastErrors: new Map() });
  await unknown('l', 'work-then-cut');
  service.standin.answer({ request: Number(service.standin.requests()[0]?.id), grade: 5 });
  const racing: SourceContext = {
    ...context,
    store: overriding(context.store, {
      update: async (id, decide) => {
        await pass();
        return await context.store.update(id, decide);
      },
    }),
  };
  await looks('l', racing);
  await pass();
  expect(await state('l.1')).toMatchObject({ state: 'answered', answer: { grade: 5 } });
});
