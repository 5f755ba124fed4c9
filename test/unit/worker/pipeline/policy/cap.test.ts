import { expect, test } from 'vitest';
import { Policy } from '../../../../../worker/config/policy.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import type { CapScope, Slot } from '../../../../../worker/journey/cap-slots.ts';
import { inTime, inWords, type Turn, turnIn } from '../../../../../worker/pipeline/policy/cap.ts';
import { capsOn, loadRule } from '../../../../../worker/pipeline/rules.ts';
import { journeyIn } from '../../../../support/worker/journey/example.ts';
import { campaignWith } from '../../../../support/worker/pipeline/policy.ts';

const ruleOf = (more: object) => ({
  ...loadRule(Rule.parse({ name: 'all', campaign: 12, contact: 'a', ...more })),
  campaign: 12,
});
const policy = Policy.parse({
  cap: { day: 100 },
  campaigns: { 12: { cap: { hour: 5 } }, 13: { cap: { hour: 1 } } },
  groups: { csat: { campaigns: [12], cap: { hour: 9, day: 50 } }, open: { campaigns: [12] } },
});
const mixed = campaignWith();

test('a request keeps to the caps of its rule, its campaign, its groups and over everything', () => {
  const caps = capsOn('desk', ruleOf({ cap: { hour: 2 } }), mixed, policy);
  expect(caps.map((one) => inWords(one))).toEqual([
    'cap of 2 an hour of rule "all" of desk',
    'cap of 5 an hour of campaign 12',
    'cap of 9 an hour and 50 a day of group "csat"',
    'cap of 100 a day of policy',
  ]);
  expect(capsOn('desk', ruleOf({}), mixed, Policy.parse({}))).toEqual([]);
});

test('neither a test nor a request of an external campaign takes a place', () => {
  const names = (more: object, campaign = mixed) =>
    capsOn('desk', ruleOf(more), campaign, policy).map(({ name }) => name);
  expect(names({})).toEqual(['campaign 12', 'group "csat"', 'policy']);
  expect([names({ test: { email: 'me@a.ee' } }), names({}, campaignWith({ type: 'external' }))]).toEqual([[], []]);
});

const at = (time: string) => Date.parse(`2026-11-24T${time}Z`);
const open = { from: at('09:00'), until: at('10:00') };
const whole = { from: at('09:00'), until: at('13:00') };
const day = { ...whole, open: [whole], hours: [{ hour: at('09:00'), open, openMsThen: 3_600_000 }] };
const scopes = [{ name: 'policy', hour: 4, day: 8 }];
const slot = (more: Partial<Extract<Slot, { is: 'new' }>> = {}): Extract<Slot, { is: 'new' }> => ({
  ...{ is: 'new', hour: at('09:00'), places: [{ ofDay: 0, ofHour: 0 }] },
  ...more,
});
const turn = (one: ReturnType<typeof slot>, now: number, by: readonly CapScope[] = scopes) =>
  turnIn(one, by, day, now, 'Europe/Tallinn');
const waits = (time: string, why: string): Turn => ({ do: 'wait', at: new Date(at(time)), why: [why] });

test.each<[what: string, slot: ReturnType<typeof slot>, now: string, turn: Turn]>([
  ['the first place of the hour is free at once', slot(), '09:00', { do: 'ask' }],
  ['a place of the hour that has passed is free', slot({ places: [{ ofDay: 0, ofHour: 1 }] }), '09:20', { do: 'ask' }],
  [
    'a later place of the hour is waited for',
    slot({ places: [{ ofDay: 0, ofHour: 1 }] }),
    '09:05',
    waits('09:15', 'cap of 4 an hour and 8 a day of policy: moved from 11:05 to 11:15'),
  ],
  [
    'a place of the day comes later than that of the hour',
    slot({ places: [{ ofDay: 3, ofHour: 1 }] }),
    '09:05',
    waits('10:30', 'cap of 4 an hour and 8 a day of policy: moved from 11:05 to 12:30'),
  ],
  ['an hour that has not begun is waited for', slot(), '08:00', waits('09:00', 'moved from 10:00 to 11:00')],
  [
    '… and the cap that was full before is named',
    slot({ fullBefore: { name: 'rule "all"', day: 3 } }),
    '08:00',
    waits('09:00', 'cap of 3 a day of rule "all": moved from 10:00 to 11:00'),
  ],
  [
    'an hour that the day does not know stands for itself',
    slot({ hour: at('12:00') }),
    '09:00',
    waits('12:00', 'moved from 11:00 to 14:00'),
  ],
])('%s', (_what, one, now, expected) => expect(turn(one, at(now))).toEqual(expected));

test('another day is written with its date, and of several caps the last place counts', () => {
  const two = [
    { name: 'a', hour: 2 },
    { name: 'b', hour: 4 },
  ];
  const places = [
    { ofDay: 0, ofHour: 1 },
    { ofDay: 0, ofHour: 1 },
  ];
  expect(turn(slot({ places }), at('09:00'), two)).toEqual(
    waits('09:30', 'cap of 2 an hour of a: moved from 11:00 to 11:30'),
  );
  expect(turn(slot(), at('09:00') - 86_400_000)).toMatchObject({ why: ['moved from 11:00 to 2026-11-24 11:00'] });
});

test('a closing that would be too old by its turn is skipped, unless a person wants it asked about', () => {
  const journey = journeyIn('waiting', { closedAt: new Date(at('00:00') - 71 * 3_600_000) });
  const late = waits('09:00', 'policy: moved');
  const rule = ruleOf({});
  expect(inTime(late, journey, rule, mixed)).toEqual({
    ...{ do: 'skip', reason: 'too-old' },
    why: 'policy: moved, and would be too old to ask: closed 3d8h ago (maxAge 3d) then',
  });
  expect(inTime(late, { ...journey, backfilled: true }, rule, mixed)).toBe(late);
  expect(inTime({ do: 'ask' }, journey, rule, mixed)).toEqual({ do: 'ask' });
  const soon = waits('00:30', 'policy: moved');
  expect(inTime(soon, journey, rule, mixed)).toBe(soon);
});
