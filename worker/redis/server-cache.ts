import { accessSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * The folder for a fetched server: one for all working folders of a user. `own` is taken where the user has no such place, and
 * where a server lies already.
 */
export function serverCache(own: string, env: Env): string {
  const shared = existsSync(own) ? undefined : userCache(env);
  return shared === undefined ? own : join(shared, 'redis-server');
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * A folder of this user for what all working folders may share: `closeloop` in `XDG_CACHE_HOME` or `~/.cache`, made where it is
 * missing. Undefined where there is no such place, or somebody else can write there: programs are run from it, and with another
 * user's `HOME` (sudo keeps it) they would be that user's.
 */
export function userCache({ XDG_CACHE_HOME: xdg = '', HOME: home = '' }: Env): string | undefined {
  // XDG Base Directory Specification: a path that is not absolute is passed over.
  const base = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, '.cache') : undefined;
  if (base === undefined) return undefined;
  const folder = join(base, 'closeloop');
  try {
    for (const one of [base, folder]) makeFolder(one);
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { uid, mode } = lstatSync(folder);
    return uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Not with its parents: in /proc, which is some users' home, Node tries that for ever. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
