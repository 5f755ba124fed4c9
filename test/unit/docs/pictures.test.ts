import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const docs = resolve(import.meta.dirname, '../../../docs');
const read = (file: string) => readFileSync(resolve(docs, file), 'utf8');

describe.each(['policy.svg', 'windows.svg'])('%s', (file) => {
  test('has a title and a description, and colours for the dark', () => {
    expect(read(file)).toMatch(/<title id="t">[^<]+<\/title>\s*<desc id="d">[^<]+<\/desc>/);
    expect(read(file)).toContain('prefers-color-scheme:dark');
  });
});

test('every reason in the picture of the policy is one of the reference', () => {
  const reasons = [...read('reference/reasons.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, code]) => code);
  const drawn = [...read('policy.svg').matchAll(/<tspan class="r">([^<]*)<\/tspan>/g)].map(([, code]) => code);
  expect(drawn.length).toBeGreaterThan(10);
  expect(drawn.filter((code) => !reasons.includes(code))).toEqual([]);
});
