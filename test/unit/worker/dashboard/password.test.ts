import { scryptSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { WrittenPasswordHash } from '../../../../worker/config/dashboard.ts';
import { hashPassword, isPassword } from '../../../../worker/dashboard/password.ts';

test('what is printed for a password fits that password alone, however its letters are composed', async () => {
  const written = await hashPassword('café au lait, please');
  const hash = WrittenPasswordHash.parse(written);
  expect(written).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
  expect(hash.key).toEqual(
    scryptSync('café au lait, please', hash.salt, 32, { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 }),
  );
  expect(await isPassword(' cafe\u0301 au lait, please', hash)).toBe(true);
  expect(await isPassword('cafe au lait, please', hash)).toBe(false);
  expect(await isPassword('', hash)).toBe(false);
});

test('two hashes of one password differ', async () => {
  const same = 'correct horse battery staple';
  expect(await hashPassword(same)).not.toBe(await hashPassword(same));
});

test.each([
  'correct horse battery staple',
  '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW',
  // Costs nothing; and more than a process has memory.
  '$scrypt$ln=1,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '$scrypt$ln=25,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
])('%s is no hash of ours, and the message does not quote it', (text) => {
  const { success, error } = WrittenPasswordHash.safeParse(text);
  expect(success).toBe(false);
  expect(error?.message).toContain('closeloop dashboard password');
  expect(error?.message).not.toContain(text);
});
