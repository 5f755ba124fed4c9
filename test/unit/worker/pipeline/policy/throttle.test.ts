import { expect, test } from 'vitest';
import { Policy } from '../../../../../worker/config/policy.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import { elsewhere, type LastAsked } from '../../../../../worker/journey/last-asked.ts';
import {
  hitsOf,
  hitsOfLast,
  lastCounted,
  limitsOf,
  longestThrottle,
  scopesOf,
  type ThrottleHit,
  throttlesOf,
} from '../../../../../worker/pipeline/policy/throttle.ts';
import { throttled } from '../../../../../worker/pipeline/policy/throttled.ts';
import { loadRule } from '../../../../../worker/pipeline/rules.ts';

const now = new Date('2026-11-21T12:00:00Z');
const day = 86_400_000;
const daysAgo = (days: number) => new Date(now.getTime() - days * day);
const rule = { ...loadRule(Rule.parse({ name: 'all', campaign: 12, contact: 'mail', throttle: '30d' })), campaign: 12 };
const policy = Policy.parse({
  throttle: { period: '7d', otherwise: 'defer' },
  campaigns: { 12: { throttle: '90d' }, 13: { throttle: '400d' } },
  groups: {
    csat: { campaigns: [12, 13], throttle: { period: '60d', otherwise: 'defer' } },
    other: { campaigns: [14], throttle: '1d' },
  },
});
const scopes = scopesOf(rule, policy);

test('a request keeps to the throttle of its rule, of its campaign, of the groups that have it, and to that over everything', () => {
  const all = scopes.map(({ name, period, otherwise, campaigns }) => [
    name,
    period / day,
    otherwise,
    campaigns && [...campaigns],
  ]);
  expect(all).toEqual([
    ['rule "all"', 30, 'drop', undefined],
    ['policy', 7, 'defer', undefined],
    ['campaign 12', 90, 'drop', [12]],
    ['group "csat"', 60, 'defer', [12, 13]],
  ]);
  expect(limitsOf(scopes, now).map(({ since }) => since)).toEqual([30, 7, 90, 60].map(daysAgo));
});

test('who was asked is known for as long as the longest throttle of all', () => {
  expect(longestThrottle(throttlesOf([rule], policy))).toBe(400 * day);
  expect(longestThrottle(throttlesOf([rule], {}))).toBe(30 * day);
  expect(longestThrottle(throttlesOf([], {}))).toBe(0);
});

test('a request that somebody else made may have been in any campaign', () => {
  const names = (journey: string, campaign?: number) =>
    hitsOfLast({ at: daysAgo(5), journey, campaign }, scopes, now).map(({ scope }) => scope.name);
  expect(names('shop/1.1', 13)).toEqual(['rule "all"', 'policy', 'group "csat"']);
  expect(names('shop/1.1')).toEqual(['rule "all"', 'policy']);
  expect(names(elsewhere)).toEqual(['rule "all"', 'policy', 'campaign 12', 'group "csat"']);
});

test('what is put off waits for the last of its throttles; one that drops is enough to skip, and each says until when', () => {
  const holds = scopes.map((scope) => ({ scope, askedAt: daysAgo(5), journey: 'shop/1.1' }));
  const [byRule, byPolicy, byCampaign, byGroup] = holds;
  expect(throttled([], now)).toBeUndefined();
  expect(throttled(byPolicy && byGroup ? [byPolicy, byGroup] : [], now)).toEqual({
    do: 'wait',
    until: daysAgo(5 - 60),
    why: 'the person was asked at 2026-11-16T12:00:00.000Z (journey shop/1.1; throttle of policy, 7d: until 2026-11-23T12:00:00.000Z); the person was asked at 2026-11-16T12:00:00.000Z (journey shop/1.1; throttle of group "csat", 60d: until 2027-01-15T12:00:00.000Z)',
  });
  expect(throttled(byRule && byPolicy && byCampaign ? [byPolicy, byCampaign] : [], now)).toEqual({
    do: 'skip',
    reason: 'throttled',
    why: 'the person was asked at 2026-11-16T12:00:00.000Z (journey shop/1.1; throttle of campaign 12, 90d: until 2027-02-14T12:00:00.000Z)',
  });
});

test.each<[what: string, hit: Partial<ThrottleHit>, words: string]>([
  ['by closeloop', {}, 'was asked at 2026-11-20T12:00:00.000Z (journey shop/1.1; throttle'],
  [
    'past closeloop',
    { journey: elsewhere },
    'was asked at 2026-11-20T12:00:00.000Z (by a request that only the service',
  ],
  [
    'by another address',
    { byOther: true },
    'was asked at 2026-11-20T12:00:00.000Z (journey shop/1.1, at another of their addresses; throttle',
  ],
  ['tomorrow', { askedAt: daysAgo(-1) }, 'will be asked at 2026-11-22T12:00:00.000Z (journey shop/1.1; throttle'],
])('it names the request that holds back another: one %s', (_what, hit, words) => {
  const [scope] = scopes;
  const said = scope && throttled([{ scope, askedAt: daysAgo(1), journey: 'shop/1.1', ...hit }], now);
  expect(said?.why).toContain(`the person ${words}`);
});

const here = (days: number, more: object = {}): LastAsked => ({ at: daysAgo(days), journey: 'shop/1.1', ...more });
test.each<[what: string, atService: number | undefined, lastHere: LastAsked | undefined, counted: object | undefined]>([
  ['nothing', undefined, undefined, undefined],
  ['the note', undefined, here(3), here(3)],
  ['the note, as it is the later', 4, here(3), here(3)],
  ['the service’s, as no note explains it', 3, undefined, { at: daysAgo(3), journey: elsewhere }],
  ['the service’s, with the note before it', 3, here(9), { at: daysAgo(3), journey: elsewhere, earlier: [here(9)] }],
  [
    'the note, sent when the service says',
    3,
    here(4, { scheduled: daysAgo(3) }),
    here(4, { scheduled: daysAgo(3), at: daysAgo(3) }),
  ],
  [
    'the note before one that was withdrawn',
    3,
    here(3, { withdrawn: true, earlier: [here(9)] }),
    here(9, { earlier: [] }),
  ],
  ['nothing where that was the only one', 3, here(3, { withdrawn: true }), undefined],
])('the last request that counts is %s', (_what, atService, lastHere, counted) => {
  const known = atService === undefined ? undefined : { last_appeal: daysAgo(atService) };
  expect(lastCounted(known, lastHere)).toEqual(counted);
});

test('a throttle is over at the very instant, and what Redis holds is told by its throttle', () => {
  const [scope] = scopes;
  if (scope === undefined) return expect.unreachable();
  expect(hitsOfLast(here(30), [scope], now)).toEqual([]);
  expect(hitsOfLast(here(30, { at: new Date(daysAgo(30).getTime() + 1) }), [scope], now)).toHaveLength(1);
  expect(hitsOfLast(undefined, [scope], now)).toEqual([]);
  const held = { limit: 0, at: daysAgo(1), journey: 'desk/2.1' };
  const hit = { scope, askedAt: daysAgo(1), journey: 'desk/2.1' };
  expect(hitsOf([held, { ...held, limit: 9 }], [scope], here(3, { earlier: [held] }))).toEqual([hit]);
  expect(hitsOf([held], [scope], here(3))).toEqual([{ ...hit, byOther: true }]);
});
