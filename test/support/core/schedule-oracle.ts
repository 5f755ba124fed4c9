import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { CloseloopError } from '../../../core/errors.ts';
import { days } from '../../../core/schedule/days.ts';
import type { HolidayRules } from '../../../core/schedule/holidays.ts';
import { type PlaceHints, recipientPlace } from '../../../core/schedule/recipient-place.ts';
import { nextSendTime, type SendTimeInput } from '../../../core/schedule/send-time.ts';

/*
 * Send times computed a second time, by other means: minute by minute (quarter by quarter where hours are quarters), Intl's wall clock, hours as sets of the minutes of a week,
 * zones and countries of people by hand. Hours are whole minutes: nothing turns between two looks.
 */

export const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const week = 7 * 1_440;
const [begin, end] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2036-01-01T00:00:00Z')];

interface Hours {
  /** Minutes since midnight. */
  from: number;
  until: number;
  /** 0 is Monday. */
  days: readonly number[];
}

/** Somebody, with all clocks that may be theirs; `own` is the one of rules, undefined where it isn't known. */
interface Person {
  hints: PlaceHints;
  own: string | undefined;
  clocks: readonly string[];
  /**
   * Whose holidays concern them: their country's, those and their region's, nobody's, as their country's are not known, or `home`: those
   * of the country that the settings name. `either`: of one or the other, which is all the same then.
   */
  calendar: 'theirs' | 'region' | 'none' | 'home' | 'either';
}

export interface Case {
  account: string;
  person: Person;
  now: number;
  closedAt: number;
  delayMs: number;
  campaign: Hours;
  rule: (Hours & { zone: 'account' | 'recipient' }) | undefined;
  sms: Hours | undefined;
  /** Dates, 2026-12-25; undefined: holidays make no difference. */
  holidays: { home: readonly string[]; theirs: readonly string[]; region: readonly string[] } | undefined;
  serviceAddsDelay: boolean;
}

/** The campaign's, in minutes. */
export const sendDelay = 45;

/** Computed by core and by the oracle. `undefined`: never within 29 days. */
export function bothOf(one: Case): { core: number | undefined; oracle: number | undefined } {
  return { core: ofCore(one)?.at.getTime(), oracle: ofOracle(one) };
}

export const ofCore = (one: Case) => orNever(() => nextSendTime(inputOf(one)));

/** `undefined` where windows are never open together. */
export function orNever<Time>(find: () => Time): Time | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof CloseloopError && /never open together/.test(error.message)) return undefined;
    throw error;
  }
}

function inputOf({ account, person, campaign, rule, sms, holidays, ...one }: Case): SendTimeInput {
  return {
    now: new Date(one.now),
    closedAt: new Date(one.closedAt),
    delayMs: one.delayMs,
    campaign: {
      sendFrom: `${hhmm(campaign.from)}:00`,
      sendUntil: `${hhmm(campaign.until)}:00`,
      sendDelayMinutes: sendDelay,
    },
    window: rule && {
      from: hhmm(rule.from),
      until: hhmm(rule.until),
      days: days.filter((_, index) => rule.days.includes(index)),
      zone: rule.zone,
    },
    accountZone: account,
    recipient: recipientPlace(person.hints, account),
    sms: sms && { from: hhmm(sms.from), until: hhmm(sms.until) },
    holidays: holidayRulesOf({ person, holidays }),
    serviceAddsDelay: one.serviceAddsDelay,
  };
}

/** As core gets them. */
export function holidayRulesOf({ person, holidays }: Pick<Case, 'person' | 'holidays'>): HolidayRules | undefined {
  return holidays && rulesOf(holidays, person.calendar === 'either');
}

/** Of Latvia and its region are the settings; nobody knows Japan's holidays. */
function rulesOf({ home, theirs, region }: NonNullable<Case['holidays']>, isEither: boolean): HolidayRules {
  const daysIn = (country: string, within: string | undefined) => {
    if (country === 'LV' && within === 'Riga') return home;
    return isEither || within === undefined ? theirs : [...theirs, ...region];
  };
  const of = (country: string, within: string | undefined) => ({
    place: country,
    on: (date: string) => (daysIn(country, within).includes(date) ? 'A holiday' : undefined),
  });
  const calendar: HolidayRules['calendar'] = {
    of: (country, within) => (country === 'JP' && !isEither ? undefined : of(country, within)),
  };
  return { calendar, country: 'LV', region: 'Riga' };
}

function ofOracle(one: Case): number | undefined {
  const aheadMs = one.serviceAddsDelay ? sendDelay * minuteMs : 0;
  const earliest = Math.max(one.now + aheadMs, one.closedAt + one.delayMs);
  const isOpen = openAt(one);
  const turns = [one.campaign, one.rule, one.sms].flatMap((hours) => (hours ? [hours.from, hours.until] : []));
  const lookMs = turns.every((minute) => minute % 15 === 0) ? quarterMs : minuteMs;
  for (let at = earliest; at <= earliest + 29 * dayMs; at = (Math.floor(at / lookMs) + 1) * lookMs) {
    if (isOpen(at)) return at - aheadMs;
  }
  return undefined;
}

/** Whether a message may go out at an instant. */
export function openAt({ account, person, campaign, rule, sms, holidays }: Case): (at: number) => boolean {
  const { own, clocks } = person;
  const dates = holidays ? datesFor(person, holidays) : [];
  const zones = clocks.length > 0 ? clocks : [account];
  const hourly: [zone: string, minutes: Set<number>][] = [[account, minutesOf(campaign)]];
  if (rule) hourly.push([rule.zone === 'recipient' ? (own ?? account) : account, minutesOf(rule)]);
  if (sms) for (const zone of zones) hourly.push([zone, minutesOf(sms)]);
  return (at) =>
    hourly.every(([zone, minutes]) => minutes.has(wall(zone, at).minute)) &&
    !(dates.length > 0 && zones.some((zone) => dates.includes(wall(zone, at).date)));
}

function datesFor({ calendar }: Person, { home, theirs, region }: NonNullable<Case['holidays']>): readonly string[] {
  if (calendar === 'region') return [...theirs, ...region];
  return { theirs, home, either: theirs, none: [] }[calendar];
}

function minutesOf({ from, until, days: opening }: Hours): Set<number> {
  const length = from === until || until - from === 1_440 ? 1_440 : (until - from + 1_440) % 1_440;
  const start = from === until ? 0 : from;
  return new Set(opening.flatMap((day) => Array.from({ length }, (_, i) => (day * 1_440 + start + i) % week)));
}

const formats = new Map<string, Intl.DateTimeFormat>();

interface Wall {
  /** Of the week, from Monday 00:00. */
  minute: number;
  date: string;
}

const quarterMs = 15 * minuteMs;

/** A day, from midnight UTC, by the clock of a zone. */
interface WallDay {
  begins: Wall;
  next: string;
  /** The clock goes on as it did; where it doesn't, it is read each quarter of an hour, on which all clocks of these years change. */
  isPlain: boolean;
}
const wallDays = new Map<string, Map<number, WallDay>>();

/** What the wall of a zone shows. Intl is slow: it is read once a day where that tells all. */
function wall(zone: string, at: number): Wall {
  const ofZone = wallDays.get(zone) ?? new Map<number, WallDay>();
  wallDays.set(zone, ofZone);
  const midnight = Math.floor(at / dayMs) * dayMs;
  const day = ofZone.get(midnight) ?? readDay(zone, midnight);
  ofZone.set(midnight, day);
  if (!day.isPlain) return goneOn(readWall(zone, Math.floor(at / quarterMs) * quarterMs), at % quarterMs);
  const now = goneOn(day.begins, at - midnight);
  return now.minute % 1_440 < day.begins.minute % 1_440 ? { ...now, date: day.next } : now;
}

function readDay(zone: string, midnight: number): WallDay {
  const [begins, ends] = [readWall(zone, midnight), readWall(zone, midnight + dayMs)];
  return { begins, next: ends.date, isPlain: (begins.minute + 1_440) % week === ends.minute };
}

const goneOn = ({ minute, date }: Wall, ms: number): Wall => ({
  minute: (minute + Math.floor(ms / minuteMs)) % week,
  date,
});

/** The date that the calendar of a zone shows. */
export const dateOn = (zone: string, at: number): string => wall(zone, at).date;

/** Whether nothing turns within a quarter of an hour. */
export function changesOnQuarters(zone: string): boolean {
  const instants = [begin, ...changes(zone)].map((at) => Temporal.Instant.fromEpochMilliseconds(at));
  return instants.every((at) => {
    const { offsetNanoseconds, epochMilliseconds } = at.toZonedDateTimeISO(zone);
    return (offsetNanoseconds / 1e6) % quarterMs === 0 && epochMilliseconds % quarterMs === 0;
  });
}

function readWall(zone: string, at: number): Wall {
  let format = formats.get(zone);
  if (format === undefined) {
    const date = { weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...date, ...time });
    formats.set(zone, format);
  }
  const text = format.format(at);
  const [, name = '', day, month, year, hour, minute] =
    /^(\w{3}),? (\d\d)\/(\d\d)\/(\d{4}), (\d\d):(\d\d)$/.exec(text) ?? [];
  const index = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(name);
  if (index < 0) throw new Error(`unreadable clock: ${text}`);
  return { minute: index * 1_440 + Number(hour) * 60 + Number(minute), date: `${year}-${month}-${day}` };
}

export function hhmm(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

export const allZones = Intl.supportedValuesOf('timeZone');

const states = ['New_York', 'Chicago', 'Denver', 'Phoenix', 'Los_Angeles', 'Anchorage', 'Adak'];
const american = [...states.map((city) => `America/${city}`), 'Pacific/Honolulu'];

/** Of each step of the order in which a zone is found. */
const people: Person[] = [
  { hints: {}, own: undefined, clocks: [], calendar: 'home' },
  { hints: { timeZone: 'Eastern Time (US & Canada)' }, own: undefined, clocks: [], calendar: 'home' },
  { hints: { country: 'Estonia', phoneCountry: 'US' }, ...at('Europe/Tallinn') },
  { hints: { country: 'US', region: 'California' }, ...at('America/Los_Angeles'), calendar: 'region' },
  { hints: { country: 'AU', region: 'QLD' }, ...at('Australia/Brisbane'), calendar: 'region' },
  { hints: { country: 'DE', region: 'BY', timeZone: 'Asia/Tokyo' }, ...at('Asia/Tokyo'), calendar: 'region' },
  {
    hints: { country: 'US', region: 'TX' },
    own: 'America/Chicago',
    clocks: ['America/Chicago', 'America/Denver'],
    calendar: 'region',
  },
  { hints: { country: 'United States' }, own: undefined, clocks: american, calendar: 'theirs' },
  { hints: { phoneCountry: 'JP' }, ...at('Asia/Tokyo'), calendar: 'none' },
  { hints: { phoneCountry: 'GB' }, ...at('Europe/London') },
  { hints: { phoneCountry: 'US' }, own: undefined, clocks: american, calendar: 'theirs' },
  { hints: { phoneCountry: 'ES' }, own: undefined, clocks: ['Europe/Madrid', 'Atlantic/Canary'], calendar: 'theirs' },
  { hints: { country: 'PT', phoneCountry: 'DE' }, ...at('Europe/Berlin') },
];

function at(zone: string): Pick<Person, 'own' | 'clocks' | 'calendar'> {
  return { own: zone, clocks: [zone], calendar: 'theirs' };
}

const everyDay = [0, 1, 2, 3, 4, 5, 6];
/** Some from midnight, some the whole day. @param each how many minutes lie between two of them */
const hours = (opening: fc.Arbitrary<readonly number[]>, each: number): fc.Arbitrary<Hours> => {
  const minute = fc.oneof(
    { arbitrary: fc.nat(1_440 / each - 1).map((one) => one * each), weight: 9 },
    { arbitrary: fc.constant(0), weight: 1 },
  );
  const wholeDay = fc.record({ from: minute, days: opening }).map((one) => ({ ...one, until: one.from }));
  return fc.oneof(
    { arbitrary: fc.record({ from: minute, until: minute, days: opening }), weight: 8 },
    { arbitrary: wholeDay, weight: 1 },
  );
};

/** How many days from the decision holidays are: some soon, or nearly every day of a month. */
const month = Array.from({ length: 30 }, (_, i) => i - 1);
const ahead = fc.oneof({ arbitrary: fc.subarray(month.slice(0, 6)), weight: 4 }, fc.subarray(month));

/**
 * Cases whose decision falls near one of these instants of a zone.
 * @param each of how many minutes all hours are multiples: where they are quarters of an hour, the oracle looks as seldom, and many
 * more cases take the same time
 */
export function casesAround(
  place: fc.Arbitrary<{ zone: string; around: number }>,
  each: 1 | 15 = 1,
): fc.Arbitrary<Case> {
  const person = fc.oneof(
    fc.constantFrom(...people),
    fc
      .constantFrom(...allZones)
      .map((zone): Person => ({ hints: { timeZone: zone }, own: zone, clocks: [zone], calendar: 'either' })),
  );
  return fc
    .record({
      place,
      person,
      before: fc.integer({ min: -6 * 3_600_000, max: 30 * 3_600_000 }),
      age: fc.integer({ min: 0, max: 3 * dayMs }),
      delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * dayMs })),
      campaign: hours(fc.constant(everyDay), each),
      rule: fc.option(
        fc
          .tuple(
            hours(fc.subarray(everyDay, { minLength: 1 }), each),
            fc.constantFrom('account' as const, 'recipient' as const),
          )
          .map(([one, zone]) => ({ ...one, zone })),
        { nil: undefined },
      ),
      sms: fc.option(
        fc
          .tuple(fc.nat((12 * 60) / each), fc.integer({ min: 30 / each, max: Math.floor(719 / each) }))
          .map(([from, length]) => ({ from: from * each, until: (from + length) * each, days: everyDay })),
        { nil: undefined, freq: 2 },
      ),
      holidaysIn: fc.option(fc.record({ home: ahead, theirs: ahead, region: ahead }), { nil: undefined, freq: 2 }),
      serviceAddsDelay: fc.boolean(),
    })
    .map(({ place: { zone, around }, before, age, holidaysIn, ...rest }) => {
      const now = around - before;
      const dates = (days: readonly number[]) =>
        days.map((day) => new Date(now + day * dayMs).toISOString().slice(0, 10));
      const { home, theirs, region } = holidaysIn ?? { home: [], theirs: [], region: [] };
      const isEither = rest.person.calendar === 'either';
      const holidays = holidaysIn && {
        home: dates(isEither ? theirs : home),
        theirs: dates(theirs),
        region: dates(region),
      };
      return { ...rest, account: zone, now, closedAt: now - age, holidays };
    });
}

export const anywhere = fc.record({ zone: fc.constantFrom(...allZones), around: fc.integer({ min: begin, max: end }) });

/** Every change of a zone's clocks in these ten years; the middle of the time where it has none. */
export function changes(zone: string): number[] {
  const found: number[] = [];
  let one: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(begin).toZonedDateTimeISO(zone);
  for (one = one.getTimeZoneTransition('next'); one !== null; one = one.getTimeZoneTransition('next')) {
    if (one.epochMilliseconds >= end) break;
    found.push(one.epochMilliseconds);
  }
  return found.length > 0 ? found : [(begin + end) / 2];
}
