import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moveInto } from '../../../../worker/redis/server-binary.ts';
import { testFolder } from '../../../support/folder.ts';

function folder(): string {
  const dir = testFolder();
  for (const name of ['mine', 'theirs']) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'program'), name);
  }
  return dir;
}

test.each([
  ['is taken where nobody was faster', 'cache', 'mine'],
  ['stays the one of another process that was faster', 'theirs', 'theirs'],
])('the place of a fetched program %s', async (_, place, expected) => {
  const dir = folder();
  await moveInto(join(dir, place), join(dir, 'mine'));
  expect(readFileSync(join(dir, place, 'program'), 'utf8')).toBe(expected);
});

test('any other fault of the move is told', async () => {
  const dir = folder();
  await expect(moveInto(join(dir, 'cache'), join(dir, 'nothing'))).rejects.toThrow('ENOENT');
});
