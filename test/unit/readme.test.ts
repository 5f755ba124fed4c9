import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { connectors } from '../../connectors/index.ts';
import { loadConfig } from '../../worker/config/config.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');

/** Loads a configuration with every variable that it names set to something. */
function load(yaml: string) {
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const known: Record<string, string> = {
    REDIS_URL: 'redis://127.0.0.1:6379',
    WOO_KEY: 'ck_1',
    WOO_SECRET: 'cs_1',
    RT_TOKEN: '1-27-ab',
  };
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  return loadConfig(yaml, { env: Object.fromEntries(names.map((name) => [name, known[name] ?? secret])), connectors });
}

test('the configuration that docs/configuration.md shows is a good one', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(load(yaml).sources.map(({ name, rules }) => [name, rules.length])).toEqual([['support', 1]]);
});

const samples = join(root, 'examples/configurations');
const shown = readdirSync(samples).map((file) => [file, readFileSync(join(samples, file), 'utf8')] as const);

test('every connector has a configuration to begin with, and docs/configuration.md names each', () => {
  const inPage = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
  const kinds = [...inPage, ...shown.map(([, yaml]) => yaml)].flatMap((yaml) => {
    return load(yaml).sources.map(({ connector }) => connector.name);
  });
  expect(new Set(kinds)).toEqual(new Set(connectors.map(({ name }) => name)));
  for (const [file] of shown) expect(page).toContain(`examples/configurations/${file}`);
});

test.each(shown)('%s is a good configuration', (_, yaml) => {
  expect(load(yaml).sources.flatMap(({ rules }) => rules).length).toBeGreaterThan(0);
});
