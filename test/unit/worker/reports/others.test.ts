import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GradeFigures, mostAsked, rowOf, together } from '../../../../worker/reports/grades.ts';

const scale = [1, 2, 3, 4, 5];
const mean = (grades: readonly number[]) => grades.reduce((a, b) => a + b, 0) / grades.length;

/** The grades of a store's requests; null: not answered. */
const Store = fc.array(fc.option(fc.constantFrom(...scale)), { maxLength: 30 });

function figuresOf(requests: readonly (number | null)[]): GradeFigures {
  const grades = requests.filter((grade) => grade !== null);
  return {
    asked: requests.length,
    answered: grades.length,
    rate: requests.length === 0 ? null : grades.length / requests.length,
    average: grades.length === 0 ? null : mean(grades),
    index: grades.length === 0 ? null : (100 * grades.filter((grade) => grade > 3).length) / grades.length,
    grades: scale.map((grade) => ({ grade, count: grades.filter((one) => one === grade).length })),
  };
}

const campaign = {
  id: 1,
  name: 'C',
  type: 'email' as const,
  metric: 'csat' as const,
  grade_list: scale,
  custom_fields: [],
};
const rowsOf = (stores: readonly { now: (number | null)[]; before: (number | null)[] }[]) =>
  stores.map(({ now, before }, i) => ({
    ...rowOf(campaign, 'csat', figuresOf(now), figuresOf(before)),
    by: { field: 'Store', value: `S${i}` },
  }));

describe('stores taken together', () => {
  test('have the figures of all of their requests', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ now: Store, before: Store }), { minLength: 1, maxLength: 12 }), (stores) => {
        const all = together(rowsOf(stores));
        const expected = figuresOf(stores.flatMap(({ now }) => now));
        expect(all?.now).toMatchObject({ asked: expected.asked, answered: expected.answered, rate: expected.rate });
        if (expected.average !== null) expect(all?.now.average).toBeCloseTo(expected.average, 1);
        else expect(all?.now.average).toBeNull();
        if (expected.index !== null) expect(all?.now.index).toBeCloseTo(expected.index, 1);
        expect(all?.before.asked).toBe(stores.flatMap(({ before }) => before).length);
        expect(all?.by).toBeUndefined();
        if (expected.asked > 0) expect(all?.now.grades).toEqual(expected.grades);
      }),
    );
  });

  test('have no rate and no average where one of them tells no number of answers', () => {
    const [one, two] = rowsOf([
      { now: [5, 4], before: [] },
      { now: [1, null], before: [] },
    ]);
    if (!one || !two) expect.fail('no rows');
    const untold = { ...two, now: { ...two.now, answered: null, rate: null } };
    expect(together([one, untold])?.now).toMatchObject({ asked: 4, answered: null, rate: null, average: null });
  });

  test('are the ones beyond the most asked; nobody is left out or told twice', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ now: Store, before: Store }), { maxLength: 40 }), (stores) => {
        const { rows, others, count } = mostAsked(rowsOf(stores), 20);
        expect(rows.length + count).toBe(stores.length);
        expect(others === undefined).toBe(stores.length <= 20);
        const asked = [...rows, ...(others ? [others] : [])].reduce((sum, { now }) => sum + now.asked, 0);
        expect(asked).toBe(stores.reduce((sum, { now }) => sum + now.length, 0));
        expect(rows.every(({ now }, i) => now.asked <= (rows[i - 1]?.now.asked ?? Number.POSITIVE_INFINITY))).toBe(
          true,
        );
      }),
    );
  });
});
