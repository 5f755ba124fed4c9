import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { envFileOf, environmentOf, readEnvFile, saveToEnvFile } from '../../../../worker/cli/env-file.ts';
import { useFolder } from '../../../support/folder.ts';

const dir = useFolder();

test('whatever is saved is read back', () => {
  const file = join(dir, 'any.env');
  const value = fc
    .string()
    .filter((text) => !/[\r\n\0]/.test(text) && !['"', "'", '`'].every((one) => text.includes(one)));
  fc.assert(
    fc.property(value, (text) => {
      saveToEnvFile(file, { SECRET: text });
      expect(readEnvFile(file)).toEqual({ SECRET: text });
    }),
  );
});

test('other lines stay, a variable is replaced, and nobody else can read it afterwards', () => {
  const file = join(dir, 'kept.env');
  writeFileSync(file, '# mine\nexport KEY=old\nKEYS=other\n\n');
  chmodSync(file, 0o644);
  saveToEnvFile(file, { KEY: 'new', MORE: 'a b' });
  expect(readFileSync(file, 'utf8')).toBe("# mine\nKEYS=other\nKEY=new\nMORE='a b'\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a value with a line break is refused, and the file stays', () => {
  const file = join(dir, 'stays.env');
  saveToEnvFile(file, { KEY: 'old' });
  expect(() => saveToEnvFile(file, { KEY: 'two\nlines' })).toThrow(/KEY has a line break/);
  expect(readEnvFile(file)).toEqual({ KEY: 'old' });
});

test('the environment counts before the file beside the configuration', () => {
  const config = join(dir, 'closeloop.yaml');
  saveToEnvFile(envFileOf(config), { KEY: 'of the file', OTHER: 'of the file' });
  expect(environmentOf(config, { KEY: 'of the environment' })).toMatchObject({
    KEY: 'of the environment',
    OTHER: 'of the file',
  });
});
