import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { WrittenPasswordHash } from '../../../../worker/config/dashboard.ts';
import { isPassword } from '../../../../worker/dashboard/password.ts';
import { closeloop } from '../../../support/processes.ts';

const given = (password: string) =>
  spawnSync(process.execPath, [closeloop, 'dashboard', 'password'], { input: `${password}\n`, encoding: 'utf8' });

test('"dashboard password" prints the hash of what standard input holds, never that itself, and refuses a short one', async () => {
  const [good, short] = [given('correct horse battery staple'), given('hunter2')];
  expect([good.status, short.status]).toEqual([0, 2]);
  expect(await isPassword('correct horse battery staple', WrittenPasswordHash.parse(good.stdout.trim()))).toBe(true);
  expect(short.stdout).toBe('');
  expect(short.stderr).toContain('15 characters or more');
  expect(good.stdout + good.stderr + short.stderr).not.toMatch(/horse|hunter2/);
});
