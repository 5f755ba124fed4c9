import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GradeCount, indexRuleOf } from '../../../../worker/reports/index-rule.ts';

const zeroToTen = Array.from({ length: 11 }, (_, i) => i);
const oneToFive = [1, 2, 3, 4, 5];

function campaign(metric: 'csat' | 'nps' | 'avg', scale: readonly number[], given: readonly number[], index: number) {
  const grade_counts = Object.fromEntries(scale.map((grade) => [grade, given.filter((one) => one === grade).length]));
  const { length: appeals_graded } = given;
  const stats = { appeals_total: appeals_graded, appeals_graded, appeals_commented: 0, grade_counts };
  return {
    metric,
    grade_list: [...scale],
    stats: { ...stats, ...(metric === 'nps' ? { nps_index: index } : { csat_index: index }) },
  };
}

const countsOf = (given: readonly number[]): GradeCount[] => given.map((grade) => ({ grade, count: 1 }));
const share = (given: readonly number[], fits: (grade: number) => boolean) =>
  (100 * given.filter(fits).length) / given.length;
const rounded = (figure: number, decimals: number) => Math.round(figure * 10 ** decimals) / 10 ** decimals;

describe('the rule of an index', () => {
  const Given = (scale: readonly number[]) => fc.array(fc.constantFrom(...scale), { minLength: 1, maxLength: 60 });

  test('of NPS on 0 to 10 gives what counting the answers one by one gives, of these and of others', () => {
    const npsOf = (given: readonly number[]) => share(given, (g) => g >= 9) - share(given, (g) => g <= 6);
    fc.assert(
      fc.property(Given(zeroToTen), Given(zeroToTen), fc.constantFrom(0, 1, 2), (all, some, decimals) => {
        const rule = indexRuleOf(campaign('nps', zeroToTen, all, rounded(npsOf(all), decimals)));
        expect(rule?.of(countsOf(some))).toBeCloseTo(npsOf(some), 1);
      }),
    );
  });

  test('of CSAT is found by what the service makes of its own grades, whichever are its best', () => {
    fc.assert(
      fc.property(Given(oneToFive), fc.constantFrom(...oneToFive), (all, least) => {
        const own = share(all, (grade) => grade >= least);
        const rule = indexRuleOf(campaign('csat', oneToFive, all, rounded(own, 2)));
        // Grades that nobody gave tell nothing of the rule: of those that somebody gave it gives the service's figures.
        const some = all.slice(0, Math.ceil(all.length / 2));
        expect(rule?.of(countsOf(some))).toBeCloseTo(
          share(some, (grade) => grade >= least),
          1,
        );
      }),
    );
    expect(indexRuleOf(campaign('csat', oneToFive, [1, 3, 5, 5], 50))?.inWords).toBe(
      'the share of answers with 4 to 5',
    );
    expect(indexRuleOf(campaign('csat', oneToFive, [1, 4, 5, 5], 50))?.inWords).toBe('the share of answers with a 5');
  });

  test.each([
    ['on another scale than 0 to 10', campaign('nps', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [10, 10], 100)],
    ['of a service that counts otherwise', campaign('nps', zeroToTen, [10, 8, 6], 33.33)],
    ['of a service whose CSAT is an average', campaign('csat', oneToFive, [5, 4, 3, 2], 62.5)],
    ['of averages', campaign('avg', oneToFive, [5], 5)],
    ['of nobody', campaign('nps', zeroToTen, [], 0)],
  ])('is not known %s', (_, of) => {
    expect(indexRuleOf(of)).toBeUndefined();
  });

  test('gives nothing where nobody has graded', () => {
    expect(indexRuleOf(campaign('nps', zeroToTen, [10], 100))?.of([])).toBeNull();
  });
});
