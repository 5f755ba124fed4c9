import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { functionsOf } from './functions.ts';
import { recordTicket } from './loops.ts';
import { pageWith, walkPage } from './page.ts';
import { sumText, tableText, walkedFiles } from './table.ts';

// npm run walk: measures what one ticket runs, and writes it into docs/development.md.
const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const files = walkedFiles(await recordTicket(), read, functionsOf);
writeFileSync(join(root, walkPage), pageWith(read(walkPage), files));
process.stdout.write(`${tableText(files)}\n\n${sumText(files)}\n`);
