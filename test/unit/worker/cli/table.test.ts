import { expect, test } from 'vitest';
import { bar, table } from '../../../../worker/cli/output.ts';

test('columns are as wide as their longest cell; figures stand to the right, also where some are missing', () => {
  const rows = [
    ['store', 'asked', 'rate'],
    ['Tallinn', '5', '20 %'],
    ['Tartu', '1200', ''],
  ];
  expect(table(rows)).toBe('store    asked  rate\nTallinn      5  20 %\nTartu     1200\n');
});

test('a name neither breaks a line nor commands the terminal', () => {
  expect(table([['store'], ['one\ntwo\u001b[2J']])).toBe('store\none two [2J\n');
});

test.each([
  [0, '░'.repeat(20)],
  [0.5, '█'.repeat(10) + '░'.repeat(10)],
  [2, '█'.repeat(20)],
])('a share of %d is drawn within its places', (share, drawn) => {
  expect(bar(share)).toBe(drawn);
});
