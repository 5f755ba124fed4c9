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

test('the example is a whole connector in under 190 lines', () => {
  expect(example.trimEnd().split('\n').length).toBeLessThan(190);
  const parts = ['settings', 'verify', 'events', 'read', 'writeBack', 'forget', 'poll'];
  for (const part of parts) expect(example).toContain(part);
});

test('every link of the guide leads somewhere', () => {
  const links = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link ?? '');
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
});
