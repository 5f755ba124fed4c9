/* Writes what is made from the source: the schema of the configuration and the references of the documentation. `npm run schema`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { references } from './references.ts';

const root = resolve(import.meta.dirname, '../..');
for (const [path, text] of await references()) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
