import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { functionsOf } from '../walk/functions.ts';
import { recordTicket } from '../walk/loops.ts';
import { walkOfPage, walkPage } from '../walk/page.ts';
import { sumText, walkedFiles } from '../walk/table.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test('the page shows the files that a ticket runs beyond an idle process: else run "npm run walk"', async () => {
  const measured = walkedFiles(await recordTicket(), read, functionsOf);
  process.stdout.write(`${sumText(measured)}\n`);
  const shown = walkOfPage(read(walkPage));
  const sum = measured.reduce((lines, one) => lines + one.lines, 0);
  expect(measured.map(({ file }) => file).sort()).toEqual(shown.files.toSorted());
  expect(Math.abs(sum - shown.lines), `${sum} lines measured, ${shown.lines} on the page`).toBeLessThanOrEqual(100);
});
