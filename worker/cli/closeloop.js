#!/usr/bin/env node
import module from 'node:module';

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
// What was parsed once is kept for the next process: in the system's temporary folder, or where NODE_COMPILE_CACHE says.
module.enableCompileCache();
await import('./main.ts');
