import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ownKey } from '../../../../worker/redis/own-key.ts';
import { testFolder } from '../../../support/folder.ts';

function folder(): string {
  const dir = testFolder();
  return dir;
}

describe("the embedded Redis' own key", () => {
  test('it is made once, for nobody else to read, and all who begin at once have the same (audit 8)', async () => {
    const dir = folder();
    const keys = await Promise.all(Array.from({ length: 20 }, () => ownKey(dir)));
    const texts = keys.map((key) => Buffer.from(key).toString('base64'));
    expect(new Set(texts).size).toBe(1);
    expect(readdirSync(dir)).toEqual(['secrets-key']);
    expect(statSync(join(dir, 'secrets-key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, 'secrets-key'), 'utf8').trim()).toBe(texts[0]);
    expect(Buffer.from(await ownKey(dir)).toString('base64')).toBe(texts[0]);
  });

  test('it is another in every folder', async () => {
    expect(await ownKey(folder())).not.toEqual(await ownKey(folder()));
  });

  test('it is never replaced: a file that holds none is an error that names it', async () => {
    const dir = folder();
    for (const text of ['', 'short', 'x'.repeat(44)]) {
      writeFileSync(join(dir, 'secrets-key'), text);
      await expect(ownKey(dir)).rejects.toMatchObject({
        advice: { kind: 'config' },
        message: expect.stringContaining(join(dir, 'secrets-key')),
      });
      expect(readFileSync(join(dir, 'secrets-key'), 'utf8')).toBe(text);
    }
  });
});
