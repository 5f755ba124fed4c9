import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { journeyStates } from '../../../worker/journey/states.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What the program says, with texts that stand on several lines in one piece. */
const said = ['worker', 'core', 'connectors']
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((name) => `${room}/${name}`),
  )
  .filter((name) => /\.(ts|js)$/.test(name))
  .map((name) => read(name).replaceAll(/['"`] \+\s*['"`]/g, ''))
  .join('\n');

const shown = [...read('docs/troubleshooting.md').matchAll(/^\| (?!---)([^|]+) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
);

test('the page lists messages', () => expect(shown.length).toBeGreaterThan(20));

test.each(shown)('closeloop says: %s', (message) => expect(said.includes(message)).toBe(true));

test('docs/journeys.md has each state of a journey, and no other', () => {
  const [, table = ''] = /\| state \| meaning \|\n([\s\S]*?)\n\n/.exec(read('docs/journeys.md')) ?? [];
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, state]) => state);
  expect(listed.sort()).toEqual([...journeyStates].sort());
});
