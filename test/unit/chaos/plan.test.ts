import { describe, expect, test } from 'vitest';
import { counts, planOf, slowestMs } from '../../system/chaos/plan.ts';

const options = { seed: 42, kills: 200, closings: 5_000, loadMs: 400_000 };
const plan = planOf(options);

describe('a plan', () => {
  test('it is the same for the same options, and another for another seed', () => {
    expect(planOf(options)).toEqual(plan);
    expect(planOf({ ...options, seed: 43 })).not.toEqual(plan);
  });

  test('it has as many closings and kills as were asked for', () => {
    const closings = plan.records.flatMap(({ steps }) => steps.filter((step) => step.do === 'close'));
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
    for (const on of ['feedback', 'desk', 'crm']) {
      for (const what of [
        'work-then-cut',
        'work-then-hang',
        'cut',
        '429',
        '500 after the work',
        '502',
        '503',
        'late',
      ]) {
        expect(faults).toContain(`${on} ${what}`);
      }
    }
    const lives = new Set(
      plan.records.map(({ vendor, rule, steps }) => `${vendor} ${rule} ${steps.map((step) => step.do)}`),
    );
    for (const vendor of ['desk', 'crm']) {
      for (const life of ['once close', 'slow close,reopen', 'slow close,reopen,close', 'each close,reopen,close']) {
        expect(lives).toContain(`${vendor} ${life}`);
      }
    }
  });

  test('steps of a record come in order, and no server works longer than the look-up waits', () => {
    for (const { steps } of plan.records)
      expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).sort((a, b) => a - b));
    for (const { fault } of plan.faults) expect(fault.delayMs ?? 0).toBeLessThanOrEqual(slowestMs);
  });
});
