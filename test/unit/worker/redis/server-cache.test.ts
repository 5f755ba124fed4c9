import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { serverCache } from '../../../../worker/redis/server-binary.ts';
import { testFolder } from '../../../support/folder.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
  for (const folder of ['home', 'xdg']) mkdirSync(join(dir, folder));
});

const own = () => join(dir, 'project/redis-server');
const inHome = () => join(dir, 'home/.cache/closeloop/redis-server');

test('two working folders of a user share one, also in a home that is empty yet', () => {
  const env = { HOME: join(dir, 'home') };
  expect([serverCache(own(), env), serverCache(join(dir, 'other'), env)]).toEqual([inHome(), inHome()]);
  expect(existsSync(join(dir, 'home/.cache/closeloop'))).toBe(true);
});

const rows: [name: string, env: () => Record<string, string>, expected: () => string][] = [
  [
    'XDG_CACHE_HOME names the place',
    () => ({ HOME: join(dir, 'home'), XDG_CACHE_HOME: join(dir, 'xdg') }),
    () => join(dir, 'xdg/closeloop/redis-server'),
  ],
  ['a relative XDG_CACHE_HOME is passed over', () => ({ HOME: join(dir, 'home'), XDG_CACHE_HOME: 'xdg' }), inHome],
  ['an empty XDG_CACHE_HOME counts as none', () => ({ HOME: join(dir, 'home'), XDG_CACHE_HOME: '' }), inHome],
  ['without a home it lies beside the data', () => ({}), own],
  ['with an empty HOME it lies beside the data', () => ({ HOME: '' }), own],
  ['with a home that is no folder it lies beside the data', () => ({ HOME: join(dir, 'file') }), own],
  ['with a home that is not there it lies beside the data', () => ({ HOME: join(dir, 'nowhere') }), own],
  ['with a home that takes no folders it lies beside the data', () => ({ HOME: '/proc' }), own],
];
test.each(rows)('%s', (_, env, expected) => {
  writeFileSync(join(dir, 'file'), '');
  expect(serverCache(own(), env())).toBe(expected());
});

test('a place that others write is not trusted with a program', () => {
  mkdirSync(join(dir, 'home/.cache/closeloop'), { recursive: true });
  chmodSync(join(dir, 'home/.cache/closeloop'), 0o777);
  expect(serverCache(own(), { HOME: join(dir, 'home') })).toBe(own());
});

test('a server that was fetched beside the data goes on being used', () => {
  mkdirSync(own(), { recursive: true });
  expect(serverCache(own(), { HOME: join(dir, 'home') })).toBe(own());
});
