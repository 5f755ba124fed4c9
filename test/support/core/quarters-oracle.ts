import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect } from 'vitest';
import { CloseloopError } from '../../../core/errors.ts';
import { days } from '../../../core/schedule/days.ts';
import type { RuleWindow } from '../../../core/schedule/message-windows.ts';
import { recipientPlace } from '../../../core/schedule/recipient-place.ts';
import { nextSendTime, type SendTimeInput } from '../../../core/schedule/send-time.ts';

/*
 * The windows are computed here a second time, by other means: Intl's wall clock, looked at every quarter of an hour.
 * Hours are whole quarters, and so is every offset of 2026 and 2027: no opening falls between two looks.
 */

const quarter = 15 * 60_000;
export const zones = Intl.supportedValuesOf('timeZone');
export const [begin, end] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2028-01-01T00:00:00Z')];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Quarters since Monday 00:00 on the wall clock. */
function wallQuarter(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...parts });
    formats.set(zone, format);
  }
  const [, day = '', hour, minute] = /^(\w{3}),? (\d\d):(\d\d)$/.exec(format.format(at)) ?? [];
  const index = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(day);
  if (index < 0) throw new Error(`unreadable clock: ${format.format(at)}`);
  return index * 96 + Number(hour) * 4 + Math.floor(Number(minute) / 15);
}

interface Hours {
  from: number;
  until: number;
  days: readonly number[];
}

/** By sets of quarters of the week, not by comparing times. */
function openQuarters({ from, until, days: dayNumbers }: Hours): Set<number> {
  const length = from === until ? 96 : (until - from + 96) % 96;
  const start = from === until ? 0 : from;
  return new Set(dayNumbers.flatMap((day) => Array.from({ length }, (_, i) => (day * 96 + start + i) % 672)));
}

const everyDay = [0, 1, 2, 3, 4, 5, 6];
const hhmm = (quarters: number) =>
  `${String(Math.floor(quarters / 4)).padStart(2, '0')}:${String((quarters % 4) * 15).padStart(2, '0')}`;

export interface Case {
  zone: string;
  recipientZone: string | undefined;
  now: number;
  closedAt: number;
  delayMs: number;
  campaign: Hours;
  rule: Hours | undefined;
}

export function inputOf({ zone, recipientZone, now, closedAt, delayMs, campaign, rule }: Case): SendTimeInput {
  const window: RuleWindow | undefined = rule && {
    from: hhmm(rule.from),
    until: hhmm(rule.until),
    days: days.filter((_, index) => rule.days.includes(index)),
    zone: recipientZone === undefined ? 'account' : 'recipient',
  };
  return {
    now: new Date(now),
    closedAt: new Date(closedAt),
    delayMs,
    campaign: { sendFrom: `${hhmm(campaign.from)}:00`, sendUntil: `${hhmm(campaign.until)}:00`, sendDelayMinutes: 45 },
    window,
    accountZone: zone,
    recipient: recipientPlace({ timeZone: recipientZone }, zone),
  };
}

/** The first open instant, or undefined when there is none within 15 days. */
export function looked({ zone, recipientZone, now, closedAt, delayMs, campaign, rule }: Case): number | undefined {
  const earliest = Math.max(now, closedAt + delayMs);
  const ours = openQuarters(campaign);
  const theirs = rule && openQuarters(rule);
  const isOpen = (at: number) =>
    ours.has(wallQuarter(zone, at)) && (theirs?.has(wallQuarter(recipientZone ?? zone, at)) ?? true);
  for (let at = earliest; at <= earliest + 15 * 96 * quarter; at = Math.floor(at / quarter + 1) * quarter) {
    if (isOpen(at)) return at;
  }
  return undefined;
}

export function computed(one: Case): number | undefined {
  try {
    return nextSendTime(inputOf(one)).at.getTime();
  } catch (error) {
    if (error instanceof CloseloopError && /never open together/.test(error.message)) return undefined;
    throw error;
  }
}

const hours = (dayNumbers: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Hours> =>
  fc.record({ from: fc.nat(95), until: fc.nat(95), days: dayNumbers });

export function cases(places: fc.Arbitrary<{ zone: string; around: number }>, recipient: boolean): fc.Arbitrary<Case> {
  return fc
    .record({
      place: places,
      recipientZone: recipient ? fc.constantFrom(...zones) : fc.constant(undefined),
      before: fc.integer({ min: -6 * 3_600_000, max: 30 * 3_600_000 }),
      age: fc.integer({ min: 0, max: 3 * 86_400_000 }),
      delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * 86_400_000 })),
      campaign: hours(fc.constant(everyDay)),
      rule: fc.option(hours(fc.subarray(everyDay, { minLength: 1 })), { nil: undefined }),
    })
    .map(({ place, before, age, ...rest }) => {
      const now = place.around - before;
      return { ...rest, zone: place.zone, now, closedAt: now - age };
    });
}

/** Every change of the clocks in 2026 and 2027; the middle of the time where a zone has none. */
export function changes(zone: string): number[] {
  const found: number[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(begin).toZonedDateTimeISO(zone);
  for (at = at.getTimeZoneTransition('next'); at !== null; at = at.getTimeZoneTransition('next')) {
    if (at.epochMilliseconds >= end) break;
    found.push(at.epochMilliseconds);
  }
  return found.length > 0 ? found : [(begin + end) / 2];
}

/** In each zone around each change of its clocks, nextSendTime gives the first open instant. @returns how many zones have a change */
export function checkAroundChanges(which: readonly string[]): number {
  let seen = 0;
  for (const zone of which) {
    const around = changes(zone);
    const place = fc.constantFrom(...around).map((one) => ({ zone, around: one }));
    const numRuns = around.length > 1 ? 8 : 1;
    seen += around.length > 1 ? 1 : 0;
    fc.assert(
      fc.property(cases(place, false), (one) => void expect(computed(one)).toBe(looked(one))),
      { numRuns },
    );
  }
  return seen;
}
