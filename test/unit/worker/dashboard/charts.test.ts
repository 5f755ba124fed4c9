import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../../../worker/dashboard/html.ts';
import { barChart, lineChart } from '../../../../worker/dashboard/views/charts.ts';

const numbersIn = (svg: string): number[] =>
  [...svg.matchAll(/ (?:x|y|x1|x2|y1|y2|cx|cy|width|height)="([^"]*)"/g)].map(([, value]) => Number(value));
const ranges = fc.constantFrom<[number, number]>([1, 5], [0, 10], [1, 10], [-100, 100], [0, 100], [1, 2]);

describe('a line of figures', () => {
  test('has an axis, its points and the last figure, and is broken where there is none', () => {
    const points = [
      { name: '26 Oct – 1 Nov', figure: 60 },
      { name: '2–8 Nov', figure: null },
      { name: '9–15 Nov', figure: 80 },
      { name: '16–22 Nov', figure: -33.3 },
    ];
    const svg = textOf(lineChart(points, [-100, 100], 'NPS over time'));
    expect([...svg.matchAll(/text-anchor="end">([^<]*)</g)].map(([, text]) => text)).toEqual(
      expect.arrayContaining(['−100', '−50', '0', '50', '100', '−33.3']),
    );
    expect(svg).toContain('>26 Oct<');
    expect(svg).toContain('>9 Nov<');
    expect(svg.match(/<circle/g)).toHaveLength(3);
    expect(svg.match(/<polyline/g)).toHaveLength(1);
    expect(svg).toContain('<title>9–15 Nov: 80</title>');
  });

  test('has its last figure above it, also at the top of the scale', () => {
    const svg = textOf(lineChart([{ name: '2–8 Nov', figure: 100 }], [0, 100], 'CSAT'));
    const [, point = ''] = /cy="([^"]+)"/.exec(svg) ?? [];
    const [, text = ''] = /class="value"[^>]* y="([^"]+)"/.exec(svg) ?? [];
    expect(Number(text)).toBeLessThan(Number(point));
    // A phone writes it 17 units high.
    expect(Number(text)).toBeGreaterThanOrEqual(17);
  });

  test('lies within its drawing, whatever the figures are', () => {
    fc.assert(
      fc.property(
        ranges,
        fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 16 }),
        (range, shares) => {
          const [low, high] = range;
          const points = shares.map((share, i) => ({
            name: `${i + 1} Nov`,
            figure: share === null ? null : low + share * (high - low),
          }));
          for (const number of numbersIn(textOf(lineChart(points, range, 'a chart')))) {
            expect(number).toBeGreaterThanOrEqual(-1);
            expect(number).toBeLessThanOrEqual(440);
          }
        },
      ),
    );
  });
});

test('bars lie within their drawing, also where all are nothing', () => {
  const shares = fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 24 });
  fc.assert(
    fc.property(shares, (all) => {
      const bars = all.map((figure, i) => ({ name: `${i}:00`, figure, text: '', above: '', isFew: i % 2 === 0 }));
      for (const number of numbersIn(textOf(barChart(bars, 'bars')))) {
        expect(number).toBeGreaterThanOrEqual(-1);
        expect(number).toBeLessThanOrEqual(440);
      }
    }),
  );
});
