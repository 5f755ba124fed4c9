import { describe, expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { type SkipReason, skipReasons } from '../../../../worker/journey/reasons.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { ask, giveUpAsk } from '../../../../worker/pipeline/ask/ask.ts';
import { erase } from '../../../../worker/pipeline/erase/erase.ts';
import { plan } from '../../../../worker/pipeline/plan/plan.ts';
import { previewOf } from '../../../../worker/support/preview.ts';
import { cancel } from '../../../../worker/support/repair.ts';
import { type Answer, answerWhy } from '../../../../worker/support/why.ts';
import { explainRecord } from '../../../../worker/support/why-record.ts';
import { closedAs, eraseOf, eventOf, hour, open, type UnitContext, useManual } from '../../../support/manual.ts';

const service = useManual();
const email = 'erika@example.com';
const phone = '+37255512345';
const erika = { customer: { email } };
const latest = 'policy: { throttle: { period: 30d, prefer: latest } }';
const create = { method: 'POST', path: '/api/appeals/$' };
const always = 'contact: customer.email, again: each closing';

async function closes({ vendor, context }: UnitContext, id = 'x', more: object = erika): Promise<void> {
  vendor.close(id, more);
  await plan(eventOf(id), context);
}
async function asks(unit: UnitContext, id = 'x', more: object = erika): Promise<void> {
  await closes(unit, id, more);
  await ask({ journeyId: `${id}.1` }, unit.context);
}
const askAgain = ({ context }: UnitContext, id = 'x') => ask({ journeyId: `${id}.1` }, context);
const reopens = async ({ vendor, context }: UnitContext) => {
  vendor.close('x', { ...erika, ...open });
  await plan(eventOf('x', { kind: 'changed' }), context);
};
const steps = async ({ store }: UnitContext, ...states: [Journey['state'], Partial<Journey>][]) => {
  for (const [to, change] of states) {
    await store.update('x.1', (now) => ({ journey: step(now, to, new Date(), change), trace: [] }));
  }
};
const answer = { grade: 4, comment: null, seenAt: new Date(), version: 1 };

interface Case {
  rule?: string;
  general?: string;
  plant: (unit: UnitContext) => Promise<unknown>;
  /** The first reason, as people read it. */
  first: RegExp | undefined;
  /** … and as machines do. */
  reason?: SkipReason;
  isAsked?: boolean;
  remedy?: RegExp;
  /** What is asked beside `x`, and by whom. Left out: Erika's e-mail address. */
  by?: string;
  /** What only somebody who asks by an address is told. */
  byAddress?: RegExp;
  /** Nobody can be found by an address any more. */
  byRecordOnly?: true;
  /** The closing that tells it. Left out: the newest. */
  of?: string;
}

const skipped = (reason: SkipReason, first: RegExp, plant: Case['plant'], more: Partial<Case> = {}): Case => ({
  plant,
  first: new RegExp(`^not asked: .*${first.source}`),
  reason,
  isAsked: false,
  ...more,
});
const paused = { why: 'wrong text', by: 'anna@desk', at: new Date('2026-11-20T08:00:00Z') };
const held = 'campaign 12 is inactive';

const cases: Record<string, Case> = {
  'skipped: out': skipped('out', /merged into another/, (unit) =>
    closes(unit, 'x', { ...erika, state: { is: 'out', why: 'merged into another' } }),
  ),
  'skipped: reopened before it was read': skipped('reopened', /it was open again/, async ({ vendor, context }) => {
    vendor.close('x', { ...erika, ...open });
    await plan(eventOf('x', { certain: true, receivedAt: new Date(Date.now() - hour) }), context);
  }),
  'skipped: never, by a condition': skipped('never', /`ticket.store = "Tallinn"` is true \(never\)/, closes, {
    general: `policy: { never: ['ticket.store = "Tallinn"'] }`,
  }),
  'skipped: never, own domain': skipped('never', /own domain/, closes, {
    general: 'policy: { never: [{ ownDomains: [example.com] }] }',
  }),
  'skipped: no rule': skipped('no-rule', /no rule's condition is true \("riga"\)/, closes, {
    rule: `{ name: riga, when: 'ticket.store = "Riga"', campaign: 12, ${always} }`,
  }),
  'skipped: a condition fails': skipped('condition-failed', /condition of rule "sum" could not be/, closes, {
    rule: `{ name: sum, when: 'ticket.store + 1 = 2', campaign: 12, ${always} }`,
  }),
  'skipped: too old': skipped('too-old', /closed 5d ago/, (unit) =>
    closes(unit, 'x', { ...erika, ...closedAs('long ago', new Date(Date.now() - 120 * hour)) }),
  ),
  'skipped: asked already': skipped(
    'asked-already',
    /asked already: journey calm\/x.1 \(again: never\)/,
    async (unit) => {
      await asks(unit);
      await closes(unit, 'x', { ...erika, ...closedAs('second', new Date(Date.now() + 1_000)) });
    },
    { rule: '{ name: all, campaign: 12, contact: customer.email, again: never }' },
  ),
  'skipped: outside the sample': skipped('sample', /outside the sample of 0.01 %/, closes, {
    rule: `{ name: few, campaign: 12, ${always}, sample: 0.01% }`,
  }),
  'skipped: a field can not be filled': skipped('fields', /custom fields: "Gift" /, closes, {
    rule: `{ name: shop, campaign: 13, ${always}, fields: { Store: ticket.store, Gift: ticket.store } }`,
  }),
  'skipped: no contact for the campaign': skipped('no-contact', /no usable contact: customer.email/, closes, {
    rule: `{ name: text, campaign: 14, ${always} }`,
  }),
  'skipped: no campaign in their language': skipped(
    'language',
    /no campaign for the customer's language \(fi-fi\)/,
    (unit) => closes(unit, 'x', { ...erika, locale: 'fi-FI' }),
    { rule: `{ name: all, campaign: { et: 12 }, ${always} }` },
  ),
  'skipped: no hour': skipped(
    'no-time',
    /never open together/,
    async (unit) => {
      const night = { sendFrom: '22:00:00', sendUntil: '23:00:00' };
      service.standin.addCampaign({ account: 'acme', id: 200, name: 'At night', type: 'mixed', ...night });
      await closes(unit, 'x', { customer: { phone } });
    },
    {
      rule: '{ name: night, campaign: 200, contact: customer.phone }',
      general: 'policy: { sms: { from: "08:00", until: "21:00" } }',
      by: phone,
    },
  ),
  'skipped: blacklisted': skipped(
    'listed',
    /on the blacklist/,
    async (unit) => {
      await asks(unit, 'y');
      service.standin.blacklist({ account: 'acme', contact: email });
      await asks(unit);
    },
    { of: 'calm/x.1' },
  ),
  'skipped: graylisted': skipped(
    'listed',
    /on the graylist of campaign 12/,
    async (unit) => {
      await asks(unit, 'y');
      service.standin.graylist({ contact: email, campaign: 12 });
      await asks(unit);
    },
    { of: 'calm/x.1' },
  ),
  'skipped: throttled': skipped(
    'throttled',
    /asked at \S+ \(journey calm\/y\.1; throttle of policy, 30d/,
    async (unit) => {
      await asks(unit, 'y');
      await asks(unit);
    },
    { general: 'policy: { throttle: 30d }', of: 'calm/x.1' },
  ),
  'throttled, and waits for its end': {
    rule: `{ name: all, campaign: 12, ${always}, maxAge: false }`,
    general: 'policy: { throttle: { period: 30d, otherwise: defer } }',
    plant: async (unit) => {
      await asks(unit, 'y');
      await asks(unit);
    },
    of: 'calm/x.1',
    first: /^to be asked at .*; waits: the person was asked at \S+ \(/,
    isAsked: false,
  },
  'skipped: a later closing of theirs was asked about': skipped(
    'superseded',
    /a later closing of the person was asked about: journey calm\/y\.1/,
    async (unit) => {
      await closes(unit, 'x', { ...erika, ...closedAs('x', new Date(Date.now() - 60_000)) });
      await asks(unit, 'y');
      await askAgain(unit);
    },
    { general: latest, of: 'calm/x.1' },
  ),
  'waits for a later closing of theirs': {
    rule: `{ name: all, campaign: 12, ${always}, delay: 2h }`,
    general: latest,
    plant: async (unit) => {
      await closes(unit, 'x', { ...erika, ...closedAs('x', new Date(Date.now() - 2.1 * hour)) });
      await closes(unit, 'y', { ...erika, ...closedAs('y', new Date(Date.now() - hour)) });
      await askAgain(unit);
    },
    of: 'calm/x.1',
    first: /^to be asked at .*; waits for a later closing of the person: journey calm\/y\.1/,
    isAsked: false,
  },
  'skipped: caps are reached': skipped(
    'capped',
    /caps are reached on every day of the next two weeks: policy/,
    async (unit) => {
      for (let i = 0; i < 16; i++) await asks(unit, `y${i}`, { customer: { email: `y${i}@example.com` } });
      await asks(unit);
    },
    { rule: `{ name: all, campaign: 12, ${always}, maxAge: false }`, general: 'policy: { cap: { day: 1 } }' },
  ),
  'moved by a cap': {
    general: 'policy: { cap: { day: 1 } }',
    plant: async (unit) => {
      await asks(unit, 'y', { customer: { email: 'y@example.com' } });
      await asks(unit);
    },
    first: /^to be asked at .*; cap of .*: moved from/,
    isAsked: false,
  },
  'waits for its delay': {
    rule: `{ name: all, campaign: 12, ${always}, delay: 2h }`,
    plant: closes,
    first: /^to be asked at 20\S+; .*the rule's delay of 2h ends/,
    isAsked: false,
  },
  'waits, and would be skipped as things are now': {
    rule: `{ name: all, campaign: 12, ${always}, delay: 2h }`,
    plant: async (unit) => {
      await closes(unit);
      const contact = { kind: 'email', value: email } as const;
      await unit.context.feedback.create({ campaign: 12, contact, customFields: {} });
      service.standin.blacklist({ account: 'acme', contact: email });
    },
    first: /^to be asked at \S+; as things are now nobody would be asked then: the contact is on the blacklist/,
    isAsked: false,
  },
  'step paused by an operator': {
    plant: async (unit) => {
      await closes(unit);
      await unit.pipeline.pauses.pause('ask', paused);
    },
    first: /^to be asked at .*; held up: step ask of calm is paused by anna@desk since 2026-11-20\S+: wrong text/,
    isAsked: false,
    remedy: /^source resume calm --step ask$/,
  },
  'step stopped by a fault': {
    plant: async (unit) => {
      await closes(unit);
      await unit.pipeline.pauses.set('ask', 'the key was refused');
    },
    first: /held up: step ask of calm is stopped since \S+: the key was refused/,
    isAsked: false,
  },
  'campaign held by a fault': {
    plant: async (unit) => {
      await closes(unit);
      await unit.pipeline.holds.set('ask', 'campaign 12', held);
    },
    first: /held up: campaign 12 has to be mended since \S+: campaign 12 is inactive/,
    isAsked: false,
  },
  'rule held by a fault before it was planned': {
    plant: async ({ store, pipeline, vendor, context }) => {
      vendor.close('x', erika);
      service.standin.changeCampaign({ id: 12, state: 'draft' });
      await expect(plan(eventOf('x'), context)).rejects.toThrow('no campaign 12');
      await pipeline.holds.set('plan', 'campaign 12', held);
      expect(await store.get('x.1')).toMatchObject({ state: 'received' });
    },
    byRecordOnly: true,
    first: /^its delivery was stored, and nothing is decided yet; held up: campaign 12 has to be mended/,
  },
  'unknown outcome': {
    plant: async (unit) => {
      service.standin.faults.add({ ...create, then: 'cut' });
      await asks(unit);
    },
    first: /whether the service has taken the request is not known yet/,
  },
  'unknown outcome, left to a person': {
    plant: async ({ context, ...unit }) => {
      service.standin.faults.add({ ...create, then: 'cut' });
      await asks({ context, ...unit });
      await giveUpAsk({ journeyId: 'x.1' }, 'the service is down', context);
    },
    first: /^waits for a person: it is not known whether the service got the request: the service is down$/,
    remedy: /^journeys resolve calm\/x\.1 --asked <request>$/,
  },
  failed: {
    plant: async (unit) => {
      await closes(unit);
      await giveUpAsk({ journeyId: 'x.1' }, 'the service refuses the contact', unit.context);
    },
    first: /^given up: the service refuses the contact$/,
    isAsked: false,
    remedy: /^journeys replay calm\/x\.1$/,
  },
  asked: { plant: asks, first: /^asked at \S+; no answer yet$/, isAsked: true },
  'asked, by another address': {
    rule: '{ name: all, campaign: 12, contact: [customer.phone, customer.email] }',
    plant: (unit) => asks(unit, 'x', { customer: { email, phone } }),
    first: /^asked at \S+; no answer yet/,
    byAddress: /\(by another of their addresses: phone\)$/,
    isAsked: true,
  },
  'asked, and grades are not collected now': {
    plant: async (unit) => {
      await asks(unit);
      await unit.pipeline.pauses.pause('collect', paused);
    },
    first: /no answer yet; held up: step collect of calm is paused by anna@desk/,
    isAsked: true,
    remedy: /^source resume calm --step collect$/,
  },
  answered: {
    plant: async (unit) => {
      await asks(unit);
      await steps(unit, ['answered', { answer }]);
    },
    first: /answered at \S+; not on the record yet$/,
    isAsked: true,
  },
  written: {
    plant: async (unit) => {
      await asks(unit);
      await steps(unit, ['answered', { answer }], ['written', { writtenVersion: 1 }]);
    },
    first: /answered at \S+; on the record$/,
    isAsked: true,
  },
  expired: {
    plant: async (unit) => {
      await asks(unit);
      await steps(unit, ['expired', {}]);
    },
    first: /nobody answered in time$/,
    isAsked: true,
  },
  'test mode': {
    general: 'policy: { test: { email: me@ours.ee } }',
    plant: async (unit) => {
      await asks(unit);
      await steps(unit, ['tested', {}]);
    },
    first: /^the request went to the test contact at/,
    isAsked: false,
  },
  'reopened while it waited': {
    plant: async (unit) => {
      await closes(unit);
      await reopens(unit);
    },
    first: /^cancelled: the record is open again/,
    isAsked: false,
  },
  'deleted while it waited': {
    plant: async (unit) => {
      await closes(unit);
      unit.vendor.records.delete('x');
      await askAgain(unit);
    },
    first: /^cancelled: the record does not exist/,
    isAsked: false,
  },
  'merged while it waited': {
    plant: async (unit) => {
      await closes(unit);
      unit.vendor.close('z', erika);
      unit.vendor.close('x', { ...erika, currentId: 'z' });
      await askAgain(unit);
    },
    of: 'calm/x.1',
    first: /^cancelled: the record was merged into z/,
    isAsked: false,
  },
  'too late for its plan': skipped('too-old', /later than planned/, async (unit) => {
    await closes(unit);
    await unit.store.update('x.1', (now) => ({
      journey: { ...now, dueAt: new Date(Date.now() - 100 * hour) },
      trace: [],
    }));
    await askAgain(unit);
  }),
  'cancelled by a person': {
    plant: async (unit) => {
      await closes(unit);
      const journey = (await unit.store.get('x.1')) ?? expect.fail('no journey');
      await cancel(journey, 'a complaint is open', unit.context);
    },
    first: /^cancelled: a complaint is open$/,
    isAsked: false,
  },
  'skipped: erased since the record was closed': skipped(
    'erased',
    /its person was erased after the record was closed/,
    async (unit) => {
      const closedAt = new Date(Date.now() - hour);
      await erase(eraseOf({ contacts: [email] }), unit.context);
      unit.vendor.close('x', { ...erika, ...closedAs('one', closedAt) });
      await plan(eventOf('x', { at: closedAt, receivedAt: new Date(Date.now() + 1_000) }), unit.context);
    },
    { byRecordOnly: true },
  ),
  'answered, and what that led to': {
    plant: async (unit) => {
      await asks(unit);
      const act = { rule: 'unhappy', version: 1, at: new Date(), closing: '' } as const;
      const acts = [
        { ...act, marker: 'm.0', step: 0, name: 'note', state: 'done' as const },
        { ...act, marker: 'm.1', step: 1, name: 'tag', state: 'parked' as const, why: 'no such tag' },
      ];
      await unit.store.update('x.1', (now) => ({ journey: { ...now, acting: { judged: {}, acts } }, trace: [] }));
    },
    first: /; answer rule "unhappy": note done, tag parked \(no such tag\)$/,
    isAsked: true,
  },
  erased: {
    plant: async (unit) => {
      await asks(unit);
      await erase(eraseOf({ contacts: [email] }), unit.context);
    },
    byRecordOnly: true,
    first: /^the customer was erased at \S+: nothing more is known$/,
  },
  'a delivery that waits in the queue of a paused step': {
    plant: async (unit) => {
      await unit.pipeline.pauses.pause('plan', paused);
      unit.vendor.close('x', erika);
      await unit.context.queueEvent(eventOf('x'));
    },
    first: undefined,
  },
  'never heard of': { plant: async () => undefined, first: undefined },
};

const because = ({ closings }: Answer, of?: string) => closings.find(({ ref }) => of === undefined || ref === of);

describe('why names the first reason, by an address and by the record:', () => {
  test.each(Object.entries(cases))(
    '%s',
    async (_, { rule, general, plant, first, reason, isAsked, remedy, ...rest }) => {
      const unit = service.unitContext({
        ...(rule !== undefined && { rule }),
        ...(general !== undefined && { general }),
      });
      await plant(unit);
      const { by = email, byAddress, byRecordOnly, of } = rest;
      const { client: redis } = service.redis.handle;
      const asked = async (about: string) => await answerWhy([unit.pipeline], about, { redis, explainRecord });
      for (const about of ['x', 'calm/x', ...(byRecordOnly ? [] : [by])]) {
        const answer = await asked(about);
        const found = because(answer, of);
        const text = found && [found.what, ...found.because].join('; ');
        expect([about, text]).toEqual([about, first ? expect.stringMatching(first) : undefined]);
        expect([found?.journey.reason, found?.isAsked]).toEqual([reason, isAsked]);
        expect(found?.remedy ?? '').toMatch(remedy ?? /^$/);
      }
      if (byAddress) expect(because(await asked(by), of)?.what).toMatch(byAddress);
      if (byRecordOnly) expect((await asked(by)).closings).toEqual([]);
      expect((await asked('nobody@example.com')).closings).toEqual([]);
    },
  );

  test('each reason of the reference is among the cases', () => {
    const planted = new Set(Object.values(cases).map(({ reason }) => reason));
    expect(skipReasons.filter((one) => !planted.has(one))).toEqual([]);
    expect(Object.keys(cases).length).toBeGreaterThan(30);
  });
});

test('of an open record of which nothing is kept it is not known what would be, and no reason is made up', async () => {
  const { context } = service.unitContext({});
  const record = { id: 'x', currentId: 'x', state: { is: 'open' as const }, shape: {} };
  const unkept = { ...context, source: { ...context.source, read: async () => [{ ok: true as const, record }] } };
  expect(await explainRecord('x', unkept, undefined)).toMatchObject({
    state: 'open',
    conditions: [],
    ifClosedNow: { decision: 'unknown', why: expect.stringContaining('keeps nothing of a record') },
  });
  expect(await previewOf('x', unkept)).toMatchObject({ is: 'open', ifClosed: undefined });
});
