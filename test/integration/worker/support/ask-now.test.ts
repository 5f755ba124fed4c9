import { describe, expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { ask, askAbout } from '../../../../worker/pipeline/ask/ask.ts';
import { liveClock } from '../../../../worker/pipeline/clock.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { sweep } from '../../../../worker/pipeline/sweep.ts';
import { askNow } from '../../../../worker/support/ask-now.ts';
import { closedAs, eventOf, hour, jobsOf, open, type UnitContext, useManual } from '../../../support/manual.ts';

const service = useManual();
const email = 'erika@example.com';
const erika = { customer: { email } };
/** 03:00 in Tallinn, a Monday. */
const night = Date.parse('2026-11-23T01:00:00Z');
const late = 'contact: customer.email, again: each closing, delay: 48h';
const rule = `{ name: all, campaign: 12, ${late} }`;

type Options = Parameters<typeof service.unitContext>[0];

/** `x` waits to be asked about. */
async function waiting(options: Options = {}, more: object = erika) {
  let now = Date.now();
  const clock = {
    ...liveClock,
    now: () => new Date(now),
    until: (at: Date) => Math.max(0, at.getTime() - now),
  };
  const unit = service.unitContext({ rule, clock, ...options });
  const at = (time: number) => {
    now = time;
    service.standin.moveClock({ now: new Date(time) });
  };
  const closes = async (id = 'x', other = more) => {
    unit.vendor.close(id, { ...closedAs(`closing of ${id}`, new Date(now)), ...other });
    await plan(eventOf(id, { at: new Date(now), receivedAt: new Date(now) }), unit.context);
  };
  return { ...unit, at, now: () => now, closes };
}
type Unit = Pick<UnitContext, 'store' | 'context' | 'pipeline'>;

const journey = async ({ store }: Pick<Unit, 'store'>): Promise<Journey> =>
  (await store.get('x.1')) ?? expect.fail('no journey');
const hurries = async (unit: Unit, context = unit.context) => await askNow(await journey(unit), context);

test('the delay and the window of the rule are not waited for, and the customer is asked once however often it is said', async () => {
  const window = 'window: { from: "03:00", until: "03:01" }';
  const unit = await waiting({ rule: `{ name: all, campaign: 12, ${late}, ${window} }` });
  await unit.closes();
  const before = await journey(unit);
  const dueAt = await Promise.all([hurries(unit), hurries(unit), hurries(unit)]);
  expect(dueAt.map((at) => at.getTime() <= unit.now())).toEqual([true, true, true]);
  expect(await journey(unit)).toMatchObject({ state: 'waiting', hurried: true });
  expect((await unit.trace('x.1')).match(/a person wants it asked/g)).toHaveLength(1);
  // The job of the planned time still waits beside one for now.
  expect(await jobsOf(unit.pipeline.jobs.ask)).toEqual([{ journeyId: 'x.1' }, { journeyId: 'x.1' }]);
  await Promise.allSettled([0, 1, 2].map(() => ask({ journeyId: 'x.1' }, unit.context)));
  await ask({ journeyId: 'x.1' }, unit.context);
  expect(await journey(unit)).toMatchObject({ state: 'asked' });
  expect(service.standin.requests()).toHaveLength(1);
  // One that had read the journey before it was hurried: nothing is asked again, and nothing put back.
  await askAbout(before, unit.context);
  expect(await journey(unit)).toMatchObject({ state: 'asked' });
  expect(service.standin.requests()).toHaveLength(1);
});

test('a job that read the journey before does not put it back to its planned time', async () => {
  const unit = await waiting();
  await unit.closes();
  const before = await journey(unit);
  // As its job finds it, where the planned time has been moved: it would be put off to another one.
  const stale = { ...before, closedAt: new Date(before.closedAt.getTime() + hour) };
  const dueAt = await hurries(unit);
  expect(await askAbout(stale, unit.context)).toMatchObject({ do: 'wait' });
  expect(await journey(unit)).toMatchObject({ dueAt, hurried: true });
});

test('the hours of the campaign, and of text messages, hold: it is asked as they open', async () => {
  service.standin.addCampaign({ account: 'acme', id: 300, type: 'mixed', sendFrom: '09:00:00', sendUntil: '19:00:00' });
  const contact = 'contact: [customer.phone, customer.email], delay: 48h';
  for (const [more, opens, general] of [
    [erika, '2026-11-23T07:00:00.000Z', ''],
    [
      { customer: { phone: '+37255512345' } },
      '2026-11-23T08:00:00.000Z',
      'policy: { sms: { from: "10:00", until: "19:00" } }',
    ],
  ] as const) {
    const unit = await waiting(
      { rule: `{ name: all, campaign: 300, ${contact} }`, source: `hours${opens.slice(12, 13)}`, general },
      more,
    );
    unit.at(night);
    await unit.closes();
    expect((await hurries(unit)).toISOString()).toBe(opens);
    expect(await ask({ journeyId: 'x.1' }, unit.context)).toMatchObject({ do: 'wait' });
    unit.at(Date.parse(opens));
    await ask({ journeyId: 'x.1' }, unit.context);
    expect(await journey(unit)).toMatchObject({ state: 'asked' });
  }
});

test('a cap holds: the customer is asked when there is room', async () => {
  const unit = await waiting({
    rule: `{ name: all, campaign: 12, ${late}, maxAge: false }`,
    general: 'policy: { cap: { day: 1 } }',
  });
  await unit.closes('y', { customer: { email: 'y@example.com' } });
  await askNow((await unit.store.get('y.1')) ?? expect.fail('no y'), unit.context);
  await ask({ journeyId: 'y.1' }, unit.context);
  await unit.closes();
  await hurries(unit);
  expect(await ask({ journeyId: 'x.1' }, unit.context)).toMatchObject({ do: 'wait' });
  expect(await unit.trace('x.1')).toMatch(/moved from/);
  expect(service.standin.requests()).toHaveLength(1);
});

describe('what is against asking now changes nothing, and is told', () => {
  type Waiting = Awaited<ReturnType<typeof waiting>>;
  const rows: [what: string, why: RegExp, (unit: Waiting) => Promise<void> | void, options?: Options][] = [
    [
      'a throttle that would be over at the planned time',
      /Nobody would be asked now: the person was asked at \S+ \(.*; throttle of policy, 1d/,
      async ({ context, closes }) => {
        await closes('y');
        await askNow((await context.store.get('y.1')) ?? expect.fail('no y'), context);
        await ask({ journeyId: 'y.1' }, context);
      },
      { general: 'policy: { throttle: 1d }' },
    ],
    [
      'a throttle that is waited for longer than planned',
      /It can't be asked sooner than planned: .*the person was asked at \S+ \(/,
      async ({ context, closes }) => {
        await closes('y');
        await askNow((await context.store.get('y.1')) ?? expect.fail('no y'), context);
        await ask({ journeyId: 'y.1' }, context);
      },
      {
        rule: `{ name: all, campaign: 12, ${late}, maxAge: false }`,
        general: 'policy: { throttle: { period: 30d, otherwise: defer } }',
      },
    ],
    [
      'the blacklist',
      /Nobody would be asked now: .*blacklist/,
      async () => {
        const { context } = service.unitContext({ source: 'other' });
        await context.feedback.create({ campaign: 12, contact: { kind: 'email', value: email }, customFields: {} });
        service.standin.blacklist({ account: 'acme', contact: email });
      },
    ],
    [
      'a condition of never that is true now',
      /Nobody would be asked now: `ticket.store = "VIP"` is true \(never\)/,
      ({ vendor }) => {
        const record = vendor.records.get('x') ?? expect.fail('no record');
        vendor.records.set('x', { ...record, store: 'VIP' });
      },
      { general: `policy: { never: ['ticket.store = "VIP"'] }` },
    ],
    ['a record that is open', /Its record is open/, ({ vendor }) => void vendor.close('x', { ...erika, ...open })],
    ['a record that is gone', /the record does not exist/, ({ vendor }) => void vendor.records.delete('x')],
    ['closed again', /closed again since/, ({ vendor }) => void vendor.close('x', { ...erika, ...closedAs('second') })],
  ];
  test.each(rows)('%s', async (_, why, plant, options = {}) => {
    const unit = await waiting(options);
    await unit.closes();
    await plant(unit);
    const before = await journey(unit);
    await expect(hurries(unit)).rejects.toThrow(why);
    expect(await journey(unit)).toEqual(before);
    expect(before.state).toBe('waiting');
    expect(await unit.pipeline.jobs.ask.queue.getJob('ask-ahead-x.1')).toBeUndefined();
  });

  test('a journey that waits for nothing', async () => {
    const unit = await waiting({ rule: '{ name: all, campaign: 12, contact: customer.email }' });
    await unit.closes();
    const before = await journey(unit);
    await ask({ journeyId: 'x.1' }, unit.context);
    await expect(hurries(unit)).rejects.toThrow('calm/x.1 is asked, and does not wait to be asked');
    await expect(askNow(before, unit.context)).rejects.toThrow(/asked/);
    expect(service.standin.requests()).toHaveLength(1);
  });
});

test('a process that ends before the job is queued is made up for by the sweep, and by saying it again', async () => {
  const unit = await waiting();
  await unit.closes();
  const dying = { ...unit.context, queueAskAhead: async () => Promise.reject(new Error('killed')) };
  await expect(hurries(unit, dying)).rejects.toThrow('killed');
  const ahead = () => unit.pipeline.jobs.ask.queue.getJob('ask-ahead-x.1');
  expect(await ahead()).toBeUndefined();
  unit.at(unit.now() + hour);
  await sweep(unit.context, { expireAfterMs: 1e12, retentionMs: 1e12 });
  expect(await ahead()).toBeDefined();
  await (await ahead())?.remove();
  await hurries(unit);
  expect(await ahead()).toBeDefined();
});
