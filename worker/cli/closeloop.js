#!/usr/bin/env node
import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';

// Plain JavaScript, so that a Node that can't run TypeScript can at least say so.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `closeloop needs Node 24 or later; this is ${process.version}.\n` +
      'In its repository "npm start" and "npm run closeloop -- …" bring their own (run "npm ci" first); where it is installed, ' +
      '"npm install node@24" gives one to npx.\n',
  );
  process.exit(2);
}
// SIGHUP asks for a reload, which must not end a process that is only starting: start.ts takes it from here.
if (process.argv[2] === 'start' && !process.argv.includes('--once')) process.on('SIGHUP', () => {});
// What was compiled once is kept for the next process, in this user's cache (in the system's temporary folder somebody else could
// put code in its place), or where NODE_COMPILE_CACHE says. Where that is not possible nothing is said: it only saves time.
const cache = compileCache(process.env);
if (cache !== undefined) module.enableCompileCache(cache);
const { main } = await import('./main.ts');
await main();

/** By the rules of worker/redis/server-cache.ts, without loading it: Node would strip its types anew for every command. */
function compileCache({ XDG_CACHE_HOME: xdg = '', HOME: home = '' }) {
  const base = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, '.cache') : undefined;
  if (base === undefined) return undefined;
  const folder = join(base, 'closeloop');
  try {
    makeFolders(base, folder);
    const { uid, mode } = lstatSync(folder);
    return uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0 ? ofThisVersion(folder) : undefined;
  } catch {
    return undefined;
  }
}

/** Each version and each Node has a folder of its own, made at its first command: then there may be some that are used no more. */
function ofThisVersion(cache) {
  const { version } = JSON.parse(readFileSync(module.findPackageJSON(import.meta.url), 'utf8'));
  const all = join(cache, 'compiled');
  const own = join(all, `${version}-node-${process.version}`);
  if (!existsSync(own)) {
    makeFolders(all, own);
    void removeOld(all);
  }
  return own;
}

/**
 * Removes the folders that were made more than a month ago, while the command runs. One that is still used is made anew; all but this one
 * would be too many, as two projects may take turns with a version each.
 */
async function removeOld(all) {
  try {
    for (const name of await readdir(all)) {
      const path = join(all, name);
      const { mtimeMs } = await lstat(path);
      if (Date.now() - mtimeMs > 30 * 86_400_000) await rm(path, { recursive: true });
    }
  } catch {
    // The next version tries again.
  }
}

/** Not with their parents: in /proc, which is some users' home, Node tries that for ever. */
function makeFolders(...folders) {
  for (const one of folders) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
}
