import type { Fault } from '../../../standins/kit/faults.ts';
import { type Chance, chanceOf } from './random.ts';

/** What is to happen, wholly determined by these four numbers. All times are milliseconds after the start. */
export interface PlanOptions {
  seed: number;
  /** Faults that hit a process: SIGKILL, SIGTERM, SIGSTOP and SIGCONT, of closeloop's and of Redis. */
  kills: number;
  closings: number;
  /** How long closings come in, and faults with them. */
  loadMs: number;
}

export type Vendor = 'desk' | 'crm';
/** What the configuration calls their accounts. */
export const sources = { desk: 'support', crm: 'crm' } as const;
/** What the help desk is called in the configuration from the middle of the load on. */
export const renamedDesk = 'helpdesk';
/** Matches the reference of a journey of the help desk, under either name: the number of its record. */
export const deskRef = new RegExp(`^(?:${sources.desk}|${renamedDesk})/(\\d+)\\.\\d+$`);

/**
 * What the rules of the configuration make of a record. `once`: one request in its life. `each`: one for every closing.
 * `slow`: as `once`, asked only `slowDelayMs` after closing, so that a reopening comes in time to stop it.
 */
export type RuleName = 'once' | 'each' | 'slow';
export const slowDelayMs = 5_000;

/** A record that is created just before its first closing. */
export interface PlannedRecord {
  id: number;
  vendor: Vendor;
  rule: RuleName;
  /** E-mail address of the customer; several records may have the same one. */
  contact: string;
  steps: { at: number; do: 'close' | 'reopen' }[];
  /** Of the customer to a request about this record; none: never. The second one is a change of mind. */
  answers: { afterMs: number; grade: number; comment?: string }[];
  /** The customer asks the vendor to be forgotten, so long after the first closing. */
  forgetAfterMs?: number;
}

export interface ProcessFault {
  /** How long it may live and work before, since it was started (or woken) last. */
  afterMs: number;
  hit: 'intake' | 'worker' | 'redis';
  /** Which of them, counted from 0. */
  which: number;
  how: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
  /** SIGSTOP: until SIGCONT. Else: until it is started again. */
  forMs: number;
}

/** `afterWork`: the work is done, then this status is answered instead. */
export type ServerFault = Omit<Fault, 'headers'> & { afterWork?: boolean; retryAfter?: number };

export interface PlannedFault {
  at: number;
  on: 'feedback' | Vendor;
  fault: ServerFault;
  /**
   * What nobody has met by then is dropped; left out: kept. While a server counts as down only one job at a time calls it: faults that waited
   * for calls would keep it down to the end, and no process would be killed at work.
   */
  forMs?: number;
}

export interface Plan {
  options: PlanOptions;
  records: PlannedRecord[];
  kills: ProcessFault[];
  faults: PlannedFault[];
}

export const counts = { intake: 2, worker: 2, redis: 1 } as const;
/** A job's lock lasts 10 s (worker/pipeline/stage.ts): a process stopped for longer wakes up to find its jobs taken. */
const stopMs = { least: 11_000, most: 16_000 };
/** A request that a server works on this long after the client has left is the longest that `lookup.after` allows for. */
export const slowestMs = 2_000;

/** Pure: the same options give the same plan. */
export function planOf(options: PlanOptions): Plan {
  const chance = chanceOf(options.seed);
  return {
    options,
    records: planRecords(options, chance.fork('records')),
    kills: planKills(options, chance.fork('kills')),
    faults: planFaults(options, chance.fork('faults')),
  };
}

function planRecords({ closings, loadMs }: PlanOptions, chance: Chance): PlannedRecord[] {
  const records: PlannedRecord[] = [];
  for (let left = closings, id = 100_001; left > 0; id++) {
    const record = planRecord(id, left, loadMs, chance);
    left -= record.steps.filter((step) => step.do === 'close').length;
    records.push(record);
  }
  return records.sort((a, b) => (a.steps[0]?.at ?? 0) - (b.steps[0]?.at ?? 0));
}

function planRecord(id: number, closingsLeft: number, loadMs: number, chance: Chance): PlannedRecord {
  const vendor = chance.of<Vendor>(['desk', 'crm']);
  const life = chance.next();
  const [isReopened, isClosedAgain] = [life < 0.2, life < 0.12 && closingsLeft > 1];
  const at = chance.int(0, loadMs);
  const steps: PlannedRecord['steps'] = [{ at, do: 'close' }];
  // Vendors date to the second: steps of one record keep more than that apart.
  const reopenedAt = at + chance.int(1_100, 4_000);
  if (isReopened) steps.push({ at: reopenedAt, do: 'reopen' });
  if (isClosedAgain) steps.push({ at: reopenedAt + chance.int(1_100, 4_000), do: 'close' });
  const isRegular = vendor === 'desk' && chance.happens(0.1);
  return {
    id,
    vendor,
    rule: isReopened ? chance.of<RuleName>(['once', 'each', 'slow', 'slow']) : 'once',
    // Only where the marker tells requests apart: without it, two lost answers to one person need a person's eyes.
    contact: isRegular ? `regular-${chance.int(1, 40)}@example.com` : `customer-${id}@example.com`,
    steps,
    answers: planAnswers(id, chance),
    // The vendor that tells of it; and only who was not closed twice, as a forgotten person has no contact any more.
    ...(vendor === 'crm' && chance.happens(0.1) && { forgetAfterMs: chance.int(0, 12_000) }),
  };
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

function planKills({ kills }: PlanOptions, chance: Chance): ProcessFault[] {
  return Array.from({ length: kills }, (): ProcessFault => {
    const whom = chance.next();
    const hit = whom < 0.1 ? 'redis' : whom < 0.45 ? 'intake' : 'worker';
    const draw = chance.next();
    const how = hit === 'redis' || draw < 0.7 ? 'SIGKILL' : draw < 0.88 ? 'SIGTERM' : 'SIGSTOP';
    return {
      hit,
      which: chance.int(0, counts[hit] - 1),
      how,
      // A Redis that is always away would only show that nothing works without it.
      afterMs: hit === 'redis' ? chance.int(5_000, 25_000) : chance.int(200, 9_000),
      forMs: how === 'SIGSTOP' ? chance.int(stopMs.least, stopMs.most) : chance.int(0, 700),
    };
  });
}

const html = '<html><body><h1>502 Bad Gateway</h1></body></html>';

function planFaults({ loadMs, closings }: PlanOptions, chance: Chance): PlannedFault[] {
  // One burst for every ten closings, of up to five calls each.
  const count = Math.ceil(closings / 10);
  return Array.from({ length: count }, (): PlannedFault => {
    const on = chance.of<PlannedFault['on']>(['feedback', 'feedback', 'feedback', 'desk', 'crm']);
    const fault = { ...planFault(on, chance), times: chance.int(1, 5) };
    return { at: chance.int(0, loadMs), on, fault, forMs: chance.int(200, 1_200) };
  }).sort((a, b) => a.at - b.at);
}

/** Where it hurts most: creating at the service, writing at the vendors. Reads fail as well. */
const places = {
  feedback: ['^/api/appeals/$', '^/api/appeals/$', '^/api/'],
  desk: ['/tickets/update_many', '/api/v2/'],
  crm: ['/batch/update', '/crm/'],
} as const;

function planFault(on: PlannedFault['on'], chance: Chance): ServerFault {
  const path = chance.of<string>(places[on]);
  const method = path === '^/api/appeals/$' ? { method: 'POST' } : {};
  const place = { path, ...method };
  switch (chance.int(0, 8)) {
    case 0:
      return { ...place, then: 'work-then-cut' };
    case 1:
      // A vendor's client waits 10 s and more for an answer: few of those.
      return on === 'feedback' || chance.happens(0.2)
        ? { ...place, then: 'work-then-hang' }
        : { ...place, then: 'work-then-cut' };
    case 2:
      return { ...place, then: 'cut' };
    case 3:
      return { ...place, status: 429, retryAfter: chance.int(1, 2) };
    case 4:
      return { ...place, status: 500, afterWork: true };
    case 5:
      return { ...place, status: 502, body: html, afterWork: chance.happens(0.5) };
    case 6:
      return { ...place, status: 503, retryAfter: 1 };
    case 7:
      return { ...place, delayMs: chance.int(300, slowestMs) };
    default:
      return { ...place, delayMs: chance.int(100, slowestMs), then: 'work-then-cut' };
  }
}
