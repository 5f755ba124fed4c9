#!/usr/bin/env node
// Plain JavaScript, so that a Node that can't run TypeScript can at least say so.
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `closeloop needs Node 24 or later; this is ${process.version}.\n` +
      'In this repository "npm start" and "npm run closeloop -- …" bring their own Node 24 (run "npm ci" first).\n',
  );
  process.exit(2);
}
await import('./main.ts');
