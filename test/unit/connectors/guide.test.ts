import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../../docs');
const guide = readFileSync(join(folder, 'writing-a-connector.md'), 'utf8');
const example = readFileSync(join(folder, '../examples/helpdesk-connector/connector.ts'), 'utf8');

test('the guide shows the example as it is', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(shown, 'put the text of examples/helpdesk-connector/connector.ts into docs/writing-a-connector.md').toBe(
    example,
  );
});

test('the example is a whole connector in under 210 lines', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThan(210);
  const parts = ['settings', 'verify', 'events', 'read', 'writeBack', 'forget', 'poll'];
  for (const part of parts) expect(example).toContain(part);
});

test('every link of the guide leads somewhere', () => {
  const links = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.length).toBeGreaterThan(2);
  expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
});

const kit = join(folder, '../core/connector');
const sources = ['contract', 'events'].map((name) => readFileSync(join(kit, `${name}.ts`), 'utf8')).join('\n');

/** The members of an exported interface. */
function membersOf(name: string): string[] {
  const [, body = ''] =
    new RegExp(`\\ninterface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(sources.replaceAll('export ', '')) ?? [];
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
])('the guide tells of every member of %s', (name, least) => {
  const members = membersOf(name);
  expect(members.length).toBeGreaterThan(least);
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(guide))).toEqual([]);
});
