import type { Problem } from '../kit/problem.ts';
import type { Account, ApiKey } from './model.ts';
import { problem } from './problem.ts';

const refused = (detail: string): Problem => problem(401, detail, { 'www-authenticate': 'Token' });

/**
 * Whose request this is, by its Authorization header.
 * @throws Problem 401 with one of the four details of specification 5.
 */
export function accountOf(header: string | undefined, keys: ReadonlyMap<string, ApiKey>, now: number): Account {
  if (header === undefined || !header.startsWith('Token')) {
    throw refused('Authentication credentials were not provided.');
  }
  // Exactly one space: anything else is part of a key that doesn't exist. A deleted key is simply no longer there.
  const key = header.startsWith('Token ') ? keys.get(header.slice('Token '.length)) : undefined;
  if (key === undefined) throw refused('Invalid token.');
  if (!key.active) throw refused('Inactive API key.');
  if (key.expiresAt !== null && key.expiresAt <= now) throw refused('Expired API token.');
  return key.account;
}
