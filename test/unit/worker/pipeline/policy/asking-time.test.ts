import { expect, test } from 'vitest';
import type { Contact } from '../../../../../core/contact.ts';
import {
  askingTime,
  mayText,
  messageHours,
  placeOf,
  windowDoubts,
  windowProblems,
} from '../../../../../worker/pipeline/policy/asking-time.ts';
import { prefersLatest } from '../../../../../worker/pipeline/policy/throttle.ts';
import { heldUntil } from '../../../../../worker/pipeline/policy/throttled.ts';
import { inEachCampaign } from '../../../../../worker/pipeline/rules.ts';
import { campaignWith, decisionContext } from '../../../../support/worker/pipeline/policy.ts';

const now = new Date('2026-11-24T20:30:00Z');
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const email: Contact = { kind: 'email', value: 'a@b.ee' };
const phone: Contact = { kind: 'phone', value: '+37255512345' };
const sms = 'policy: { sms: { from: "08:00", until: "21:00" } }';
const evening = ', window: { from: "22:00", until: "23:00" }';

function opened(more = '', general = sms) {
  const context = decisionContext(`{ name: all, campaign: 12, contact: a${more} }`, { general });
  const [one] = context.rules.flatMap(inEachCampaign);
  return { context, rule: one?.rule ?? expect.fail('no rule') };
}

test.each<[what: string, more: string, campaign: object, asked: object, at: Date | string]>([
  ['at once', '', {}, {}, now],
  ['after the delay of the campaign', '', { send_delay: 90 }, {}, minutes(90)],
  ['after that of the rule', ', delay: 1h', { send_delay: 90 }, {}, minutes(60)],
  ['… counted from the closing', ', delay: 1h', {}, { closedAt: minutes(-30) }, minutes(30)],
  ['at once, as a person hurries them', ', delay: 1h', { send_delay: 90 }, { hurried: true }, now],
  ['in the window of the rule', evening, {}, { closedAt: minutes(100) }, '2026-11-25T20:00:00Z'],
  ['past that, as a person hurries them', evening, {}, { hurried: true, closedAt: minutes(100) }, minutes(100)],
  ['a text message in the morning', '', {}, { contact: phone }, '2026-11-25T06:00:00Z'],
  ['at once where nothing is sent', ', delay: 1h', { type: 'external' }, { contact: phone }, now],
])('a customer is asked %s', (_what, more, campaign, asked, at) => {
  const { context, rule } = opened(more);
  const from = 'closedAt' in asked && asked.closedAt instanceof Date && asked.closedAt > now ? asked.closedAt : now;
  const time = askingTime(rule, campaignWith(campaign), { closedAt: now, contact: email, ...asked }, context, from);
  expect(time).toMatchObject({ ok: true, at: new Date(at) });
});

test('what is sent by nobody says so, and a delay that the service adds is not waited for here', () => {
  const { context, rule } = opened();
  const asked = { closedAt: now, contact: email };
  const external = askingTime(rule, campaignWith({ type: 'external' }), asked, context, now);
  expect(external).toEqual({
    ...{ ok: true, at: now, until: undefined, why: ['nothing is sent: the campaign is external'] },
  });
  const adding = { ...context, serviceAddsDelay: true };
  expect(askingTime(rule, campaignWith({ send_delay: 90 }), asked, adding, now)).toMatchObject({ at: now });
});

test('windows that never meet for this recipient ask nobody; the mistake of a zone is no reason', () => {
  const { context, rule } = opened();
  const night = campaignWith({ send_from: '22:00:00', send_until: '23:00:00' });
  const time = askingTime(rule, night, { closedAt: now, contact: phone }, context, now);
  expect(time).toEqual({ ok: false, why: expect.stringContaining('never open together') });
  const broken = { ...context, timeZone: 'Mars/Olympus' };
  expect(() => askingTime(rule, campaignWith(), { closedAt: now, contact: email }, broken, now)).toThrow();
});

test('the place is what the vendor says, and the country of the number', () => {
  const record = { id: 'x', currentId: 'x', state: { is: 'open' }, shape: {} } as const;
  expect(placeOf(record, email)).toEqual({});
  expect(placeOf(record, phone)).toEqual({ phoneCountry: 'EE' });
  const where = { timeZone: 'Europe/Riga', country: 'LV', region: 'Riga' };
  expect(placeOf({ ...record, ...where }, email)).toEqual(where);
});

test('a rule is judged without a record by the windows that always hold', () => {
  const night = { send_from: '22:00:00', send_until: '23:00:00' };
  const { context, rule } = opened();
  const morning = opened(', window: { from: "09:00", until: "10:00" }');
  expect(windowProblems(morning.rule, campaignWith(night), context)).toHaveLength(1);
  expect(windowDoubts(morning.rule, campaignWith({ type: 'mixed', ...night }), context)).toEqual([]);
  expect(windowProblems(rule, campaignWith(night), context)).toEqual([]);
  const late = opened(', window: { from: "22:00", until: "23:00", zone: recipient }');
  const never = (type: string) => windowProblems(late.rule, campaignWith({ type }), late.context).length;
  expect([never('sms'), never('mixed')]).toEqual([1, 0]);
  const doubts = (type: string, hours: object = night) =>
    windowDoubts(rule, campaignWith({ type, ...hours }), context).length;
  expect(['mixed', 'sms', 'email'].map((type) => doubts(type))).toEqual([1, 1, 0]);
  expect(doubts('mixed', {})).toBe(0);
  expect((['sms', 'mixed', 'email', 'external', 'widget'] as const).map((type) => mayText({ type }))).toEqual([
    ...[true, true, false, false, false],
  ]);
});

test('hours of text messages and holidays hold where they are meant to', () => {
  const { context, rule } = opened();
  const account = { calendar: () => expect.unreachable(), country: 'EE' };
  const hours = (isText: boolean, more: object = {}) =>
    messageHours({ ...rule, ...more }, campaignWith(), Object.assign(context, { holidays: account }), isText);
  expect(hours(true)).toMatchObject({ accountZone: 'Europe/Tallinn', sms: context.policy.sms, holidays: account });
  expect(hours(false).sms).toBeUndefined();
  expect(hours(true, { holidays: 'ask' }).holidays).toBeUndefined();
});

const until = minutes(120);
const held = { do: 'wait', until, why: 'asked lately' } as const;

test.each<[what: string, more: string, campaign: object, closing: object, found: object]>([
  ['waits until its end', '', {}, {}, { do: 'wait', at: until, why: ['waits: asked lately'] }],
  ['… and for the windows', evening, {}, {}, { do: 'wait', at: new Date('2026-11-25T20:00:00Z') }],
  [
    'is skipped where it would be too old by then',
    '',
    {},
    { closedAt: minutes(-71 * 60) },
    {
      do: 'skip',
      reason: 'too-old',
      why: expect.stringMatching(/^asked lately, and would be too old to ask: .* then$/),
    },
  ],
  [
    '… unless a person wants it asked about',
    '',
    {},
    { closedAt: minutes(-71 * 60), backfilled: true },
    { do: 'wait', at: until },
  ],
  [
    'is skipped where no hour is left',
    '',
    { send_from: '22:00:00', send_until: '23:00:00' },
    { contact: phone },
    { do: 'skip', reason: 'no-time', why: expect.stringContaining('never open together') },
  ],
])('a request that a throttle holds %s', (_what, more, campaign, closing, found) => {
  const { context, rule } = opened(more);
  const given = { closedAt: minutes(-60), contact: email, ...closing };
  expect(heldUntil(held, given, rule, campaignWith(campaign), context)).toMatchObject(found);
});

test('a request that a throttle drops stays dropped, and one throttle prefers the latest closing', () => {
  const { context, rule } = opened();
  const no = { do: 'skip', reason: 'throttled', why: 'asked lately' } as const;
  expect(heldUntil(no, { closedAt: now, contact: email }, rule, campaignWith(), context)).toBe(no);
  expect([prefersLatest({ prefer: 'latest' }), prefersLatest({ prefer: 'first' })]).toEqual([true, false]);
});
