#!/usr/bin/env node
import module from 'node:module';
import { join } from 'node:path';

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
// What was compiled once is kept for the next process, in this user's cache (in the system's temporary folder somebody else could
// put code in its place), or where NODE_COMPILE_CACHE says. Where that is not possible nothing is said: it only saves time.
const { userCache } = await import('../redis/user-cache.ts');
const cache = userCache(process.env);
if (cache !== undefined) module.enableCompileCache(join(cache, 'compiled'));
await import('./main.ts');
