/* Builds what `npm pack` ships into dist/: `npm run build`. The repository itself runs its TypeScript as it is. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { bundle } from './bundle.ts';

const dist = resolve(import.meta.dirname, '../dist');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

rmSync(dist, { recursive: true, force: true });
// The types of what package.json exports.
execFileSync(process.execPath, [compiler, '-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
await bundle(dist);
