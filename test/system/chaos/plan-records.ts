import {
  type Act,
  type PersonFacts,
  type PlannedRecord,
  type RuleName,
  rules,
  slowDelayMs,
  type TicketFacts,
  type Vendor,
} from './planned-record.ts';
import { accountZone, farZone, latestDelayMs } from './policy.ts';
import type { Chance } from './random.ts';

type Timed = PlannedRecord['acts'][number];

/** How many of a hundred records each rule takes. */
const shares: Readonly<Record<RuleName, number>> = {
  ...{ once: 22, each: 16, slow: 18, tongues: 10, hours: 8, capped: 5, trial: 7, rare: 4, patient: 4, latest: 6 },
};
const crmRules: readonly RuleName[] = ['once', 'each', 'slow', 'tongues', 'hours', 'capped'];
/** Of records whose customer waits; of the others. */
const changed = { waiting: 0.6, atOnce: 0.15 };
/** An own closing of rule `each` that stays closed for longer than this must have been asked about: closings.ts. */
export const patienceMs = 120_000;

/** Records until there are as many closings as wanted, in the order in which their lives begin. */
export function planRecords(
  { closings, loadMs }: { closings: number; loadMs: number },
  chance: Chance,
): PlannedRecord[] {
  const records: PlannedRecord[] = [];
  for (let left = closings, id = 100_001; left > 0; ) {
    const some = planLife(id, left, chance.int(0, loadMs), chance);
    left -= some.flatMap(({ acts }) => acts).filter((act) => act.do === 'close').length;
    id += some.length;
    records.push(...some);
  }
  return records.sort((a, b) => a.at - b.at);
}

/** One record, or several of one customer that are closed shortly one after the other. */
function planLife(id: number, closingsLeft: number, at: number, chance: Chance): PlannedRecord[] {
  const vendor = chance.of<Vendor>(['desk', 'plain', 'crm', 'crm']);
  const rule = drawRule(vendor, chance);
  const isShared = rule === 'rare' || rule === 'patient' || rule === 'latest';
  const count = isShared ? Math.min(chance.int(2, 3), closingsLeft) : 1;
  const isRegular = vendor === 'desk' && rule === 'once' && chance.happens(0.3);
  const email = isRegular ? `regular-${chance.int(1, 40)}@example.com` : `customer-${id}@example.com`;
  const isOwn = !isShared && !isRegular;
  // Facts of a customer with several records stay as they are.
  const person = isOwn ? drawPerson(email, rule, chance) : { email, language: 'en' as const, zone: accountZone };
  return Array.from({ length: count }, (_, nth): PlannedRecord => {
    const closed: Timed = { do: 'close', afterMs: nth === 0 ? 0 : chance.int(nth * 1_100, latestDelayMs - 2_000) };
    const record = { id: id + nth, vendor, rule, at, answers: planAnswers(id + nth, chance) };
    const ticket: TicketFacts = { subject: rule, store: `Store ${chance.int(1, 9)}`, flag: drawFlag(chance) };
    if (vendor === 'crm' && rule === 'once' && chance.happens(0.2)) {
      const forgotten: Timed = { do: 'forget', afterMs: chance.int(0, 12_000) };
      return { ...record, ticket: { ...ticket, flag: '' }, people: [person], acts: [closed, forgotten] };
    }
    const again = planReopenings(rule, closingsLeft, chance);
    const changes = planChanges(record, { isOwn, isReopened: again.length > 0 }, chance);
    const partner = drawPerson(`partner-${id + nth}@example.com`, rule, chance);
    const acts = [closed, ...again, ...changes].toSorted((a, b) => a.afterMs - b.afterMs);
    return { ...record, ticket, people: isOwn ? [person, partner] : [person], acts };
  });
}

function drawRule(vendor: Vendor, chance: Chance): RuleName {
  const possible = vendor === 'crm' ? crmRules : rules;
  let draw = chance.next() * possible.reduce((sum, rule) => sum + shares[rule], 0);
  return (
    possible.find((rule) => {
      draw -= shares[rule];
      return draw < 0;
    }) ?? 'once'
  );
}

function drawPerson(email: string, rule: RuleName, chance: Chance): PersonFacts {
  const isFar = rule === 'hours' && chance.happens(0.2);
  return { email, language: drawLanguage(chance), zone: isFar ? farZone : accountZone };
}

const drawLanguage = (chance: Chance): PersonFacts['language'] => chance.of(['en', 'en', 'en', 'et', 'et', 'et', 'fi']);
const drawFlag = (chance: Chance): TicketFacts['flag'] =>
  chance.happens(0.85) ? '' : chance.of<TicketFacts['flag']>(['no_survey', 'vip']);

/** Vendors date to the second: steps of one record keep more than that apart. */
const pause = (chance: Chance): number => chance.int(1_100, 4_000);

function planReopenings(rule: RuleName, closingsLeft: number, chance: Chance): Timed[] {
  const acts: Timed[] = [];
  let afterMs = 0;
  const then = (what: 'reopen' | 'close', ms: number): void => {
    afterMs += ms;
    acts.push({ do: what, afterMs });
  };
  const reopen = (ms: number): void => then('reopen', ms);
  const close = (): void => then('close', pause(chance));
  if (rule === 'each') {
    // Most are reopened at once, others only when each of their closings must have been asked about.
    const isLong = chance.happens(0.2);
    const cycles = Math.min(isLong ? 1 : chance.int(1, 3), closingsLeft - 1);
    for (let n = 0; n < cycles; n++) {
      reopen(isLong ? patienceMs + chance.int(5_000, 30_000) : pause(chance));
      close();
    }
    if (chance.happens(0.3)) reopen(pause(chance));
  } else if ((rule === 'once' || rule === 'slow') && chance.happens(0.3)) {
    reopen(pause(chance));
    if (closingsLeft > 1 && chance.happens(0.6)) close();
  }
  return acts;
}

/** What changes while a closing waits, or is being worked on. */
function planChanges(
  { id, rule }: Pick<PlannedRecord, 'id' | 'rule'>,
  { isOwn, isReopened }: { isOwn: boolean; isReopened: boolean },
  chance: Chance,
): Timed[] {
  const waits = ['slow', 'tongues', 'hours', 'trial', 'latest'].includes(rule);
  if (!chance.happens(waits ? changed.waiting : changed.atOnce)) return [];
  const kinds: (() => Act)[] = [
    () => ({ do: 'edit', to: { store: `Store ${chance.int(10, 19)}` } }),
    () => ({ do: 'edit', to: { flag: chance.of<TicketFacts['flag']>(['', 'no_survey', 'vip']) } }),
  ];
  if (rule === 'slow' || rule === 'tongues') {
    const subjects: TicketFacts['subject'][] = ['once', 'slow', 'tongues', 'nothing'];
    kinds.push(() => ({ do: 'edit', to: { subject: subjects[chance.int(0, 3)] ?? 'once' } }));
  }
  if (isOwn) {
    kinds.push(
      () => ({ do: 'hand over' }),
      () => ({ do: 'move', to: { email: `moved-${id}@example.com` } }),
      () => ({ do: 'move', to: { language: drawLanguage(chance) } }),
    );
    if (rule === 'hours') kinds.push(() => ({ do: 'move', to: { zone: chance.of([accountZone, farZone]) } }));
  }
  const latest = waits ? slowDelayMs + 1_500 : 3_000;
  // Two changes of one kind would need an order among acts of one instant.
  const drawn = Array.from({ length: chance.int(1, isReopened ? 1 : 2) }, () => kinds[chance.int(0, kinds.length - 1)]);
  return [...new Set(drawn)].flatMap((draw) => (draw ? [{ ...draw(), afterMs: chance.int(100, latest) }] : []));
}

function planAnswers(id: number, chance: Chance): PlannedRecord['answers'] {
  if (chance.happens(0.15)) return [];
  const answer = (nth: number, most: number): PlannedRecord['answers'][number] => ({
    afterMs: chance.int(50, most),
    grade: chance.int(1, 5),
    ...(chance.happens(0.5) ? { comment: `What ${id} says, for the ${nth}. time: "${chance.int(1, 1e6)}" & ž` } : {}),
  });
  return chance.happens(0.2) ? [answer(1, 3_000), answer(2, 6_000)] : [answer(1, 5_000)];
}
