import { accessSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * The folder for a fetched server, shared by all working folders of a user. `own` is used where the user has no such folder, or
 * where `own` exists already.
 */
export function serverCache(own: string, env: Env): string {
  const shared = existsSync(own) ? undefined : userCache(env);
  return shared === undefined ? own : join(shared, 'redis-server');
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * A folder of this user for files that all working folders may share: `closeloop` in `XDG_CACHE_HOME` or `~/.cache`, made where it is
 * missing. Undefined where there is no such folder, or where another user can write there: closeloop runs programs from this folder, and with
 * another user's `HOME` (sudo keeps it) the programs would be that user's.
 */
export function userCache({ XDG_CACHE_HOME: xdg = '', HOME: home = '' }: Env): string | undefined {
  // By the XDG Base Directory Specification a path that is not absolute is ignored.
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

/** Creates a folder without its parents: in /proc, which is the home of some users, Node would try to create parents for ever. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
