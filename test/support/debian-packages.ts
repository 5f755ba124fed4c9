import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { moveInto, unpackPackages, userCache } from '../../worker/redis/server-binary.ts';

/** Where programs lie that tests have fetched: the user's, or where there is no such place one for the whole project. */
export function cachedAs(name: string): string {
  return join(userCache(process.env) ?? resolve(import.meta.dirname, '../../.closeloop'), name);
}

/**
 * A package of Debian or Ubuntu, unpacked into the cache without root and without touching anything else.
 * @param alone without what it depends on; else with all of that which the system lacks
 * @throws Error where it can't be had
 */
export async function fetchPackage(name: string, { alone }: { alone: boolean }): Promise<string> {
  const cache = cachedAs(name);
  if (existsSync(cache)) return cache;
  const draft = `${cache}.${randomUUID()}.tmp`;
  try {
    await unpackPackages(draft, process.env.PATH ?? '', async (call) =>
      alone
        ? [name]
        : packagesIn(await call('apt-get', 'install', '--print-uris', '-qq', '--no-install-recommends', name)),
    );
    await moveInto(cache, draft);
    return cache;
  } catch (cause) {
    const message = `These tests need the package "${name}" of Debian or Ubuntu, which could not be fetched. Install it, or go online.`;
    throw new Error(message, { cause });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Of lines like `'http://deb.debian.org/…/chromium_156.0-1_amd64.deb' chromium_156.0-1_amd64.deb 71234 SHA256:…`. */
function packagesIn(uris: string): string[] {
  return [...uris.matchAll(/^'[^']+' ([^_\s]+)_/gm)].map(([, name = '']) => name);
}
