import type { Fault } from '../../../standins/kit/faults.ts';
import { planRecords } from './plan-records.ts';
import type { PlannedRecord, Vendor } from './planned-record.ts';
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

/** `afterWork`: the work is done, then this status is answered instead. `lateJobMs`: the work is a job that is executed so much later. */
export type ServerFault = Omit<Fault, 'headers'> & { afterWork?: boolean; retryAfter?: number; lateJobMs?: number };

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
/** A job of a vendor that runs late: its answer was lost, and what it writes may be out of date by then. */
export const lateJobMs = 25_000;

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
    const on = chance.of<PlannedFault['on']>(['feedback', 'feedback', 'feedback', 'desk', 'plain', 'crm']);
    const fault = { ...planFault(on, chance), times: chance.int(1, 5) };
    return { at: chance.int(0, loadMs), on, fault, forMs: chance.int(200, 1_200) };
  }).sort((a, b) => a.at - b.at);
}

/** Where it hurts most: creating at the service, writing at the vendors. Reads fail as well. */
const places = {
  feedback: ['^/api/appeals/$', '^/api/appeals/$', '^/api/'],
  desk: ['/tickets/update_many', '/api/v2/'],
  plain: ['/tickets/update_many', '/api/v2/'],
  crm: ['/batch/update', '/crm/'],
} as const;

function planFault(on: PlannedFault['on'], chance: Chance): ServerFault {
  const path = chance.of<string>(places[on]);
  const method = path === '^/api/appeals/$' ? { method: 'POST' } : {};
  const place = { path, ...method };
  if (path === '/tickets/update_many' && chance.happens(0.3)) {
    return { ...place, status: 502, body: html, afterWork: true, lateJobMs };
  }
  switch (chance.int(0, 8)) {
    case 0:
      return { ...place, then: 'work-then-cut' };
    case 1:
      // A vendor's client waits 10 s and more for an answer: few of those.
      return on === 'feedback' || chance.happens(0.5)
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
