/* Builds the documentation into a static site below site/: `npm run docs`. Fails on a link that leads nowhere. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { siteFiles } from './site.ts';

const site = resolve(import.meta.dirname, '../../site');
const files = siteFiles();
rmSync(site, { recursive: true, force: true });
for (const [address, text] of files) {
  mkdirSync(dirname(join(site, address)), { recursive: true });
  writeFileSync(join(site, address), text);
}
process.stdout.write(`${files.size} files in site/: open site/index.html\n`);
