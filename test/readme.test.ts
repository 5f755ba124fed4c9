import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connectors } from '../connectors/index.ts';
import { loadConfig } from '../worker/config/config.ts';

const readme = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');

test('the configuration that the README shows is a good one', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const env = {
    ...Object.fromEntries(names.map((name) => [name, `value-of-${name}`])),
    REDIS_URL: 'redis://127.0.0.1:6379',
    ALERT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  };
  const { sources } = loadConfig(yaml, { env, connectors });
  expect(sources.map(({ name, rules }) => [name, rules.length])).toEqual([['support', 1]]);
});

test('every file that the README points at is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, path = '']) => path);
  expect(links.length).toBeGreaterThan(5);
  for (const path of links) expect(() => readFileSync(resolve(import.meta.dirname, '..', path))).not.toThrow();
});
