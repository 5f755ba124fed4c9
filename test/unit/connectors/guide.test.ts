import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../../docs');
const guide = readFileSync(join(folder, 'writing-a-connector.md'), 'utf8');
const example = readFileSync(join(folder, '../examples/declared-desk/connector.ts'), 'utf8');

test('the guide shows the example as it is', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(guide.slice(guide.indexOf('## A complete connector'))) ?? [];
  expect(shown, 'put the text of examples/declared-desk/connector.ts into docs/writing-a-connector.md').toBe(example);
});

test('the example is a whole connector in under 210 lines', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThan(210);
  const parts = ['settings', 'onboarding', 'intake', 'read', 'poll', 'write', 'notes', 'actions', 'preflight'];
  for (const part of parts) expect(example).toContain(part);
});

test('every link of the guide leads somewhere', () => {
  const links = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
});

const folders = ['../core/connector', '../core/connector/desk', '../test/support/contract'].map((room) =>
  join(folder, room),
);
const files = folders.flatMap((room) => readdirSync(room).map((name) => join(room, name)));
const sources = files
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

/** The members of an exported interface. */
function membersOf(name: string): string[] {
  const [, body = ''] = new RegExp(`\\nexport interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(sources) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??[:(<]/gm)].map(([, member]) => member ?? '');
}

test.each([
  ['Source', 20],
  ['PresentedRecord', 8],
  ['WriteBack', 10],
  ['RecordEvent', 5],
  ['EraseEvent', 4],
  ['ExternalGradeEvent', 4],
  ['SurveyEvent', 2],
  ['Desk', 8],
  ['DeskIntake', 3],
  ['RowReading', 3],
  ['ChangeWindow', 5],
  ['PolledPage', 2],
  ['DeskWriting', 14],
  ['DeskNotes', 2],
  ['DeskPreflight', 7],
  ['DeskFields', 5],
  ['DeskHooks', 4],
  ['Onboarding', 5],
  ['VendorAccount', 13],
  ['VendorCall', 7],
  ['VendorApi', 4],
  ['ConnectorSample', 13],
  ['Vendor', 24],
])('the guide tells of every member of %s', (name, least) => {
  const members = membersOf(name);
  expect(members.length).toBeGreaterThan(least);
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(guide))).toEqual([]);
});

test('the guide names only what "closeloop" exports', () => {
  const index = readFileSync(join(folder, '../core/index.ts'), 'utf8');
  const kit = guide.slice(guide.indexOf('## More of the kit'));
  const named = [...kit.matchAll(/`(\w+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'check' && name !== 'writeBack');
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => name !== 'closeloop' && !new RegExp(`\\b${name}\\b`).test(index))).toEqual([]);
});
