import fc from 'fast-check';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { days } from '../../../core/schedule/days.ts';
import { Policy } from '../../../worker/config/policy.ts';
import { Rule } from '../../../worker/config/rule.ts';
import { type CapSlots, capSlots } from '../../../worker/journey/cap-slots.ts';
import type { Journey } from '../../../worker/journey/journey.ts';
import { takePlace } from '../../../worker/pipeline/ask/place.ts';
import { liveClock } from '../../../worker/pipeline/clock.ts';
import { askingTime } from '../../../worker/pipeline/policy/asking-time.ts';
import { capsOn, loadRule } from '../../../worker/pipeline/rules.ts';
import type { RedisClient } from '../../../worker/redis/client.ts';
import {
  type Case,
  casesAround,
  dateOn,
  hhmm,
  holidayRulesOf,
  minuteMs,
  openAt,
  orNever,
  sendDelay,
} from './schedule-oracle.ts';

/*
 * Places under caps computed a second time: a day is the list of the minutes on which the account's calendar shows its date, an hour is
 * sixty of them, open time is the minutes that are open. Core does it with a script in Redis and by searching for openings.
 */

/** Of an hour and of a day; undefined: any number. */
export interface Cap {
  hour: number | undefined;
  day: number | undefined;
}

/** Closings of two rules whose requests keep to one cap of the policy, and each rule's to its own. */
export interface CapRun {
  rules: readonly { hours: Case; cap: Cap }[];
  policy: Cap;
  /** When each closing is first looked at, by which rule, and how much later than due the second look is. */
  closings: readonly { rule: number; afterMs: number; lateMs: number }[];
}

/** What becomes of a look at a closing. */
type Decision = { at: number } | 'ask' | 'never';

export function capRuns(place: fc.Arbitrary<{ zone: string; around: number }>): fc.Arbitrary<CapRun> {
  const most = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
  const cap = fc.record({ hour: most(4), day: most(12) });
  const closing = fc.record({
    rule: fc.nat(1),
    afterMs: fc.integer({ min: 0, max: 36 * 60 * minuteMs }),
    lateMs: fc.oneof(fc.constant(0), fc.nat(90 * minuteMs)),
  });
  return place.chain(({ zone, around }) =>
    fc.record({
      rules: fc.array(fc.record({ hours: casesAround(fc.constant({ zone, around })), cap }), {
        minLength: 2,
        maxLength: 2,
      }),
      policy: cap,
      closings: fc.array(closing, { minLength: 3, maxLength: 14 }),
    }),
  );
}

/** Where core and the oracle decide differently; `isOdd`: a window opens twice within an hour, which core takes for once. */
export interface Compared {
  looks: number;
  asked: number;
  differences: string[];
  isOdd: boolean;
}

/** Looks at each closing whenever it is due, until each has asked or never will. */
export async function compare(run: CapRun, redis: RedisClient, name: string): Promise<Compared> {
  const oracle = new Places(run);
  const core = coreOf(run, capSlots(redis, 'oracle'), name);
  const begins = run.rules[0]?.hours.now ?? 0;
  const waiting = run.closings.map(({ afterMs }, i) => ({
    i,
    at: begins + afterMs,
    dueAt: undefined as number | undefined,
  }));
  const found: Compared = { looks: 0, asked: 0, differences: [], isOdd: false };
  while (waiting.length > 0 && found.differences.length === 0) {
    const next = waiting.reduce((one, other) => (other.at < one.at ? other : one));
    const expected = oracle.look(next.i, next.at, next.dueAt);
    if (expected === 'odd') return { ...found, isOdd: true };
    const decided = await core(next.i, next.at, next.dueAt);
    found.looks += 1;
    if (JSON.stringify(decided) !== JSON.stringify(expected)) {
      found.differences.push(
        `closing ${next.i} at ${new Date(next.at).toISOString()}: core ${inWords(decided)}, oracle ${inWords(expected)}`,
      );
    }
    if (decided === 'ask') {
      found.asked += 1;
      if (!oracle.mayAsk(next.i, next.at)) found.differences.push(`closing ${next.i} asks while a window is closed`);
    }
    if (typeof decided === 'string') waiting.splice(waiting.indexOf(next), 1);
    else
      Object.assign(next, {
        dueAt: decided.at,
        at: decided.at + (next.dueAt === undefined ? (run.closings[next.i]?.lateMs ?? 0) : 0),
      });
  }
  return found;
}

const inWords = (one: Decision) => (typeof one === 'string' ? one : new Date(one.at).toISOString());

function coreOf({ rules, policy, closings }: CapRun, caps: CapSlots, name: string) {
  const loaded = rules.map((one, i) => ({
    ...one,
    rule: ruleOf(one, `${name}.${i}`, 300 + i),
    campaign: campaignOf(one.hours, 300 + i),
  }));
  return async (i: number, at: number, dueAt: number | undefined): Promise<Decision> => {
    const one = loaded[closings[i]?.rule ?? 0];
    if (!one) return 'never';
    const { hours, rule, campaign } = one;
    const now = new Date(at);
    const { person, sms } = hours;
    const context = {
      storedAs: 'oracle',
      timeZone: hours.account,
      policy: Policy.parse({
        ...(sms && { sms: { from: hhmm(sms.from), until: hhmm(sms.until) } }),
        ...(isCap(policy) && { cap: policy }),
      }),
      holidays: holidayRulesOf(hours),
      serviceAddsDelay: hours.serviceAddsDelay,
      clock: { ...liveClock, now: () => now, until: () => 0 },
      rules: [rule],
      caps,
    };
    const contact = sms
      ? { kind: 'phone' as const, value: '+37255512345' }
      : { kind: 'email' as const, value: 'a@b.ee' };
    const journey: Journey & { contact: typeof contact } = {
      id: `${name}-${i}.1`,
      source: 'oracle',
      recordId: `${name}-${i}`,
      state: 'waiting',
      receivedAt: now,
      updatedAt: now,
      closing: 'one',
      closedAt: new Date(at - 1),
      place: person.hints,
      contact,
      ...(dueAt !== undefined && { dueAt: new Date(dueAt) }),
    };
    const time = orNever(() => askingTime(rule, campaign, journey, context, now));
    if (!time?.ok) return 'never';
    if (time.at > now) return { at: time.at.getTime() };
    const scopes = capsOn(context.storedAs, rule, campaign, context.policy);
    const turn = scopes.length > 0 ? await takePlace(journey, rule, campaign, scopes, context) : { do: 'ask' as const };
    return turn.do === 'wait' ? { at: turn.at.getTime() } : turn.do === 'ask' ? 'ask' : 'never';
  };
}

const isCap = ({ hour, day }: Cap): boolean => hour !== undefined || day !== undefined;

function ruleOf({ hours: { rule }, cap }: CapRun['rules'][number], name: string, campaign: number) {
  const window = rule && {
    from: hhmm(rule.from),
    until: hhmm(rule.until),
    days: days.filter((_, index) => rule.days.includes(index)),
    zone: rule.zone,
  };
  const written = { name, campaign, contact: 'x', delay: '0s', maxAge: false, ...(window && { window }) };
  return { ...loadRule(Rule.parse({ ...written, ...(isCap(cap) && { cap }) })), campaign };
}

function campaignOf({ campaign }: Case, id: number): Campaign {
  return {
    id,
    type: 'mixed',
    metric: 'avg',
    name: 'Oracle',
    grade_list: [],
    send_from: `${hhmm(campaign.from)}:00`,
    send_until: `${hhmm(campaign.until)}:00`,
    send_delay: sendDelay,
    custom_fields: [],
    stats: { appeals_total: 0, appeals_graded: 0, appeals_commented: 0, grade_counts: {} },
  };
}

/** The minutes of a day on which a request may be made, by the hour of the day. */
interface Day {
  name: string;
  hours: { hour: number; minutes: number[] }[];
  open: number[];
  isOdd: boolean;
}

interface Place {
  scopes: readonly string[];
  day: string;
  hour: number;
}

/** The oracle. */
class Places {
  readonly #run: CapRun;
  readonly #open: ((at: number) => boolean)[];
  readonly #days = new Map<string, Day>();
  readonly #places = new Map<number, Place>();

  constructor(run: CapRun) {
    this.#run = run;
    this.#open = run.rules.map(({ hours }) => {
      const isOpen = openAt(hours);
      const aheadMs = hours.serviceAddsDelay ? sendDelay * minuteMs : 0;
      return (at) => isOpen(at + aheadMs);
    });
  }

  mayAsk(i: number, at: number): boolean {
    return this.#open[this.#run.closings[i]?.rule ?? 0]?.(at) === true;
  }

  look(i: number, now: number, dueAt = now): Decision | 'odd' {
    const rule = this.#run.closings[i]?.rule ?? 0;
    const isOpen = this.#open[rule] ?? (() => false);
    if (!isOpen(now)) {
      const opens = this.#nextOpen(rule, now);
      return opens === undefined ? 'never' : { at: opens };
    }
    const scopes = this.#scopes(rule);
    if (scopes.length === 0) return 'ask';
    const had = this.#places.get(i);
    const due = Math.max(now, dueAt);
    const dueIn = this.#hourOf(rule, due);
    if (had && had.day === dueIn.day && had.hour === dueIn.hour) return dueAt > now ? { at: dueAt } : 'ask';
    this.#places.delete(i);
    let openDays = 0;
    for (let at = this.#startOf(rule, now); openDays < 15; at = this.#startOf(rule, at + 27 * 60 * minuteMs)) {
      const day = this.#dayOf(rule, at);
      if (day.isOdd) return 'odd';
      if (day.open.length > 0 || openDays === 0) openDays += 1;
      else if (at > now + 60 * 1_440 * minuteMs) break;
      const place = this.#placeIn(day, scopes, now);
      if (place === undefined) continue;
      this.#places.set(i, { scopes: scopes.map(({ name }) => name), day: day.name, hour: place.hour });
      return place.at <= now ? 'ask' : { at: place.at };
    }
    return 'never';
  }

  #placeIn(day: Day, scopes: readonly Scope[], now: number): { hour: number; at: number } | undefined {
    let openThen = 0;
    for (const { hour, minutes } of day.hours) {
      openThen += minutes.length;
      const last = minutes.at(-1) ?? 0;
      if (last + minuteMs <= now) continue;
      const counts = scopes.map(({ name }) => this.#count(name, day.name, hour));
      const isFull = scopes.some(({ cap }, n) => {
        const { ofDay = 0, soFar = 0, inHour = 0 } = counts[n] ?? {};
        const share = Math.ceil((openThen * minuteMs * (cap.day ?? 0)) / (day.open.length * minuteMs));
        return (
          (cap.hour !== undefined && inHour >= cap.hour) ||
          (cap.day !== undefined && (ofDay >= cap.day || soFar >= share))
        );
      });
      if (isFull) continue;
      const slots = scopes.flatMap(({ cap }, n) => [
        ...(cap.day === undefined ? [] : [slot(counts[n]?.soFar ?? 0, cap.day, day.open)]),
        ...(cap.hour === undefined ? [] : [slot(counts[n]?.inHour ?? 0, cap.hour, minutes)]),
      ]);
      return { hour, at: Math.max(now, minutes[0] ?? 0, ...slots) };
    }
    return undefined;
  }

  #count(scope: string, day: string, hour: number) {
    const all = [...this.#places.values()].filter((one) => one.day === day && one.scopes.includes(scope));
    return {
      ofDay: all.length,
      soFar: all.filter((one) => one.hour <= hour).length,
      inHour: all.filter((one) => one.hour === hour).length,
    };
  }

  #scopes(rule: number): Scope[] {
    const own = this.#run.rules[rule]?.cap ?? { hour: undefined, day: undefined };
    const all = [
      { name: `rule ${rule}`, cap: own },
      { name: 'policy', cap: this.#run.policy },
    ];
    return all.filter(({ cap }) => isCap(cap));
  }

  #nextOpen(rule: number, now: number): number | undefined {
    const isOpen = this.#open[rule] ?? (() => false);
    const first = (Math.floor(now / minuteMs) + 1) * minuteMs;
    for (let at = first; at <= now + 29 * 1_440 * minuteMs; at += minuteMs) if (isOpen(at)) return at;
    return undefined;
  }

  /** The first minute of the day on the account's calendar. */
  #startOf(rule: number, at: number): number {
    const zone = this.#run.rules[rule]?.hours.account ?? 'UTC';
    const date = dateOn(zone, at);
    let first = Math.floor(at / minuteMs) * minuteMs;
    while (dateOn(zone, first - minuteMs) === date) first -= minuteMs;
    return first;
  }

  #hourOf(rule: number, at: number): { day: string; hour: number } {
    const zone = this.#run.rules[rule]?.hours.account ?? 'UTC';
    return { day: dateOn(zone, at), hour: Math.floor((at - this.#startOf(rule, at)) / (60 * minuteMs)) };
  }

  #dayOf(rule: number, at: number): Day {
    const zone = this.#run.rules[rule]?.hours.account ?? 'UTC';
    const name = dateOn(zone, at);
    const key = `${rule} ${name}`;
    const known = this.#days.get(key);
    if (known) return known;
    const isOpen = this.#open[rule] ?? (() => false);
    const minutes: number[] = [];
    for (let minute = this.#startOf(rule, at); dateOn(zone, minute) === name; minute += minuteMs) minutes.push(minute);
    const hours = Array.from({ length: Math.ceil(minutes.length / 60) }, (_, hour) => ({
      hour,
      minutes: minutes.slice(hour * 60, hour * 60 + 60).filter(isOpen),
    })).filter((one) => one.minutes.length > 0);
    const isOdd = hours.some(
      (one) => (one.minutes.at(-1) ?? 0) - (one.minutes[0] ?? 0) !== (one.minutes.length - 1) * minuteMs,
    );
    const day = { name, hours, open: hours.flatMap((one) => one.minutes), isOdd };
    this.#days.set(key, day);
    return day;
  }
}

interface Scope {
  name: string;
  cap: Cap;
}

/** The n-th of `count` places over these minutes. */
function slot(n: number, count: number, minutes: readonly number[]): number {
  const aheadMs = Math.floor((n * minutes.length * minuteMs) / count);
  return (minutes[Math.floor(aheadMs / minuteMs)] ?? 0) + (aheadMs % minuteMs);
}
