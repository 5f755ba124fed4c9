import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connectors } from '../../connectors/index.ts';
import { loadConfig } from '../../worker/config/config.ts';

const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');

/** Loads a configuration with every variable that it names set to something. */
function load(yaml: string) {
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const known: Record<string, string> = { REDIS_URL: 'redis://127.0.0.1:6379', WOO_KEY: 'ck_1', WOO_SECRET: 'cs_1' };
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  return loadConfig(yaml, { env: Object.fromEntries(names.map((name) => [name, known[name] ?? secret])), connectors });
}

test('the configuration that the README shows is a good one', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(load(yaml).sources.map(({ name, rules }) => [name, rules.length])).toEqual([['support', 1]]);
});

const samples = resolve(import.meta.dirname, '../../examples/configurations');
const shown = readdirSync(samples).map((file) => [file, readFileSync(join(samples, file), 'utf8')] as const);

test('every connector has a configuration to begin with, and the README names each', () => {
  const inReadme = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
  const kinds = [...inReadme, ...shown.map(([, yaml]) => yaml)].flatMap((yaml) => {
    return load(yaml).sources.map(({ connector }) => connector.name);
  });
  expect(new Set(kinds)).toEqual(new Set(connectors.map(({ name }) => name)));
  for (const [file] of shown) expect(readme).toContain(`examples/configurations/${file}`);
});

test.each(shown)('%s is a good configuration', (_, yaml) => {
  expect(load(yaml).sources.flatMap(({ rules }) => rules).length).toBeGreaterThan(0);
});

test('every file and folder that the README points at is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, path = '']) => path);
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((path) => !existsSync(resolve(import.meta.dirname, '../..', path)))).toEqual([]);
});
