import { type ContactOptions, contactKey, parseContact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { ConfigError, type Problem } from './problem.ts';

/** The keys (`contactKey`) of the contacts in one file. */
export type ContactList = ReadonlySet<string>;

const mostProblems = 20;
const notOne = 'must be one e-mail address, phone number (with its country: +372 …) or identifier';

/** @throws ConfigError with the numbers of the wrong lines, and without their text */
export function parseContactList(text: string, file: string, options: ContactOptions): ContactList {
  const keys = new Set<string>();
  const problems: Problem[] = [];
  for (const [i, written] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) continue;
    const key = keyOf(line, options);
    if (key !== undefined) keys.add(key);
    else problems.push({ path: '', line: i + 1, column: 1, message: notOne });
    if (problems.length >= mostProblems) break;
  }
  if (problems.length > 0) throw new ConfigError(file, problems);
  return keys;
}

function keyOf(line: string, options: ContactOptions): string | undefined {
  try {
    const contact = parseContact(line, options);
    // A line with several contacts, with columns or with a misspelt address would exclude nobody.
    return contact.kind === 'identifier' && /[\s,;@]/.test(contact.value) ? undefined : contactKey(contact);
  } catch (error) {
    if (error instanceof CloseloopError) return undefined;
    throw error;
  }
}
