import { randomBytes, scryptSync } from 'node:crypto';
import { passwordHashText } from '../../../../worker/config/dashboard.ts';

export const passwords = { anna: 'anna is allowed to act', bob: 'bob may look at all of it' };

/** As cheap as a configuration may have it. */
export function hashOf(password: string): string {
  const salt = randomBytes(16);
  return passwordHashText({ ln: 14, p: 1, salt, key: scryptSync(password, salt, 32, { N: 2 ** 14, r: 8, p: 1 }) });
}

/** For a configuration. */
export const users = [
  { name: 'anna', role: 'act', password: hashOf(passwords.anna) },
  { name: 'bob', role: 'read', password: hashOf(passwords.bob) },
];
