import { describe, expect, test } from 'vitest';
import { counts, planOf, slowestMs } from '../../system/chaos/plan.ts';
import { type Act, addressesOf, rules, slowDelayMs } from '../../system/chaos/planned-record.ts';

const options = { seed: 42, kills: 200, closings: 5_000, loadMs: 400_000 };
const plan = planOf(options);

const movesOf = (acts: readonly Act[]): string =>
  acts.flatMap((act) => (act.do === 'close' || act.do === 'reopen' ? [act.do] : [])).join();

const edits = (name: 'subject' | 'store' | 'flag') => (act: Act) => act.do === 'edit' && act.to[name] !== undefined;
const moves = (name: 'email' | 'language' | 'zone') => (act: Act) => act.do === 'move' && act.to[name] !== undefined;
const changes: [what: string, isIt: (act: Act) => boolean][] = [
  ['another rule comes to take it', edits('subject')],
  ['a value changes', edits('store')],
  ['a tag comes or goes', edits('flag')],
  ['it is handed over to another customer', (act) => act.do === 'hand over'],
  ['its customer gets another address', moves('email')],
  ['its customer gets another language', moves('language')],
  ['its customer moves to another zone', moves('zone')],
];

describe('a plan', () => {
  test('it is the same for the same options, and another for another seed', () => {
    expect(planOf(options)).toEqual(plan);
    expect(planOf({ ...options, seed: 43 })).not.toEqual(plan);
  });

  test('it has as many closings and kills as were asked for', () => {
    const closings = plan.records.flatMap(({ acts }) => acts.filter((act) => act.do === 'close'));
    expect([closings.length, plan.kills.length]).toEqual([5_000, 200]);
  });

  test('it holds everything that is to be survived', () => {
    const hits = new Set(plan.kills.map(({ hit, which, how }) => `${hit} ${which} ${how}`));
    for (const role of ['intake', 'worker'] as const) {
      for (let n = 0; n < counts[role]; n++) {
        for (const how of ['SIGKILL', 'SIGTERM', 'SIGSTOP']) expect(hits).toContain(`${role} ${n} ${how}`);
      }
    }
    expect(hits).toContain('redis 0 SIGKILL');
    const faults = plan.faults.map(
      ({ on, fault }) => `${on} ${fault.then ?? fault.status ?? 'late'}${fault.afterWork ? ' after the work' : ''}`,
    );
    for (const on of ['feedback', 'desk', 'plain', 'crm']) {
      for (const what of 'work-then-cut work-then-hang cut 429 502 503 late'.split(' ').concat('500 after the work'))
        expect(faults).toContain(`${on} ${what}`);
    }
    const late = plan.faults.filter(({ fault }) => fault.lateJobMs !== undefined);
    expect(new Set(late.map(({ on }) => on))).toEqual(new Set(['desk', 'plain']));
    const lives = new Set(plan.records.map(({ vendor, rule, acts }) => `${vendor} ${rule} ${movesOf(acts)}`));
    for (const vendor of ['desk', 'plain', 'crm']) {
      for (const life of ['once close', 'slow close,reopen', 'slow close,reopen,close', 'each close,reopen,close']) {
        expect(lives).toContain(`${vendor} ${life}`);
      }
    }
    const rulesOf = (vendor: string) =>
      new Set(plan.records.filter((one) => one.vendor === vendor).map(({ rule }) => rule));
    expect(['desk', 'plain', 'crm'].map((vendor) => rulesOf(vendor).size)).toEqual([rules.length, rules.length, 6]);
  });

  test.each(changes)('while a closing waits, %s', (_, isIt) => {
    const waiting = plan.records.filter(({ rule }) => rule === 'slow' || rule === 'hours');
    const found = waiting.filter(({ acts }) => acts.some((act) => act.afterMs < slowDelayMs && isIt(act)));
    expect(new Set(found.map(({ vendor }) => vendor)).size).toBe(3);
  });

  test('the same addresses never belong to customers of two records of the CRM, where nothing else tells requests apart', () => {
    const all = plan.records.filter(({ vendor }) => vendor === 'crm').flatMap(addressesOf);
    expect(new Set(all).size).toBe(all.length);
  });

  test('steps of a record come in order, and no server works longer than the look-up waits', () => {
    for (const { acts } of plan.records) {
      const times = acts.map(({ afterMs }) => afterMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
    for (const { fault } of plan.faults) expect(fault.delayMs ?? 0).toBeLessThanOrEqual(slowestMs);
  });
});
