import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import { CloseloopError } from '../../core/errors.ts';
import { type PasswordHash, passwordHashText } from '../config/dashboard.ts';

/** The cost of new hashes: 32 MiB and a third of a second each (OWASP's Password Storage Cheat Sheet, 2026). */
const cost = { ln: 15, p: 3 };
const saltBytes = 16;
const keyBytes = 32;
/** Passwords are checked one at a time, and only so many checks may wait, as other work needs the memory and the cores too. */
const oneByOne = pLimit(1);
const mostWaiting = 20;

/** Hashes the password. @returns the text for the configuration */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  return passwordHashText({ ...cost, salt, key: await keyOf(password, { ...cost, salt }) });
}

/** Compares in constant time. @throws CloseloopError transient while too many checks wait */
export async function isPassword(password: string, hash: PasswordHash): Promise<boolean> {
  if (oneByOne.pendingCount >= mostWaiting) {
    throw new CloseloopError('Too many people log in at this moment. Try again in a minute.', { kind: 'transient' });
  }
  return timingSafeEqual(await oneByOne(() => keyOf(password, hash)), hash.key);
}

/** The password without differences that people can't see: keyboards write the same letter in several ways, and copying adds a space at an end. */
export function normalized(password: string): string {
  return password.normalize('NFKC').trim();
}

async function keyOf(password: string, { ln, p, salt }: Pick<PasswordHash, 'ln' | 'p' | 'salt'>): Promise<Buffer> {
  const cost = { N: 2 ** ln, r: 8, p, maxmem: 2 ** (ln + 11) };
  return await new Promise((resolve, reject) => {
    scrypt(normalized(password), salt, keyBytes, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
