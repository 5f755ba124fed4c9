import { expect, test } from 'vitest';
import { functionsOf } from '../../walk/functions.ts';
import { pageWith, walkOfPage } from '../../walk/page.ts';
import { sumText, walkedFiles } from '../../walk/table.ts';

const text = 'export function a() {\n  return [1].map((n) =>\n    n);\n}\nfunction unused() {}\n';
const recorded = {
  idle: [{ file: 'core/idle.ts', index: 0 }],
  walked: [
    { file: 'worker/second.ts', index: 0, from: 'worker/second.ts' },
    { file: 'core/idle.ts', index: 1 },
    { file: 'core/third.ts', index: 0, from: 'worker/second.ts' },
    { file: 'core/third.ts', index: 1, from: 'core/third.ts' },
    { file: 'core/third.ts', index: 0, from: 'core/fourth.ts' },
  ],
};
const walked = walkedFiles(recorded, () => text, functionsOf);

test('it leaves out what an idle process enters, and counts the rest in the order of first entry', () => {
  expect(walked).toEqual([
    { file: 'worker/second.ts', waysIn: [], functions: 1, linesRun: 2, lines: 5 },
    { file: 'core/third.ts', waysIn: ['a'], functions: 2, linesRun: 4, lines: 5 },
  ]);
  expect(sumText(walked.map((one) => ({ ...one, lines: 7_525 })))).toBe('2 files, 15,100 lines beyond idle');
});

test('it writes the walk into its place on the page, and reads it there', () => {
  const page = 'Before.\n<!-- "npm run walk" writes from here -->\n<!-- to here -->\nAfter.\n';
  const written = pageWith(page, walked);
  expect(written).toMatch(/^Before\.[\s\S]*After\.\n$/);
  expect(pageWith(written, walked)).toBe(written);
  expect(walkOfPage(written)).toEqual({ files: ['worker/second.ts', 'core/third.ts'], lines: 0 });
  expect(() => pageWith('no place', walked)).toThrow(/has no place for the walk/);
});
