import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ContactOptions, contactKey, parseContact } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { Config, ContactList } from './config.ts';
import { ConfigError, type Path, type Problem, pathText } from './problem.ts';

/**
 * Adds to the configuration the contacts in the files that its `contactsIn` settings name. A changed list counts as a changed
 * configuration.
 * @param file the configuration's file: the paths of contact files are relative to its folder
 * @throws ConfigError for a file that can't be read, and for lines that name no contact
 */
export function withContactLists(config: Config, file: string): Config {
  const contactLists = new Map<string, ContactList>();
  const digests: Record<string, string> = {};
  for (const [name, path] of namedIn(config)) {
    const text = readList(name, path, file);
    contactLists.set(name, parseContactList(text, name, config));
    digests[name] = createHash('sha256').update(text).digest('hex').slice(0, 12);
  }
  if (contactLists.size === 0) return config;
  return { ...config, contactLists, written: { ...sectionOf(config.written), contactsIn: digests } };
}

function sectionOf(written: unknown): object {
  return typeof written === 'object' && written !== null ? written : {};
}

function namedIn({ policy, sources }: Config): Map<string, Path> {
  const places: [Path, Config['policy']['never']][] = [
    [['policy', 'never'], policy.never],
    ...sources.map((one): [Path, typeof one.policy.never] => [['sources', one.name, 'never'], one.policy.never]),
  ];
  const named = places.flatMap(([at, never = []]) =>
    never.flatMap(({ contactsIn }, i): [string, Path][] =>
      contactsIn === undefined ? [] : [[contactsIn, [...at, i, 'contactsIn']]],
    ),
  );
  return new Map(named);
}

function readList(name: string, path: Path, file: string): string {
  try {
    return readFileSync(resolve(dirname(file), name), 'utf8');
  } catch (cause) {
    const message = `${name} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new ConfigError(file, [{ path: pathText(path), message }]);
  }
}

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
