import { expect, test } from 'vitest';
import { csv } from '../../../../worker/reports/cells.ts';

test.each([
  ['plain', 'plain'],
  ['a "word", and more', '"a ""word"", and more"'],
  ['two\nlines', '"two\nlines"'],
  ['=SUM(A1)', "'=SUM(A1)"],
  ['@here', "'@here"],
  ['-12.5', '-12.5'],
  ['+3', '+3'],
  ['+1e5', "'+1e5"],
  ['-Infinity', "'-Infinity"],
  ['\t=1', '"\'\t=1"'],
  ['＝1+1', "'＝1+1"],
  // Where the separator of a country is a semicolon.
  ['a;=1', '"a;=1"'],
  ['', ''],
])('a spreadsheet takes %j for what it is', (cell, written) => {
  expect(csv([[cell, 'x']])).toBe(`${written},x\r\n`);
});
