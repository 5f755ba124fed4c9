import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from './config.ts';
import { type ContactList, parseContactList } from './contact-list.ts';
import { ConfigError, type Path, pathText } from './problem.ts';

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
