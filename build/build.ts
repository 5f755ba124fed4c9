/* Compiles what `npm pack` ships into dist/: `npm run build`. The repository itself runs its TypeScript as it is. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.types.json']) {
  execFileSync(process.execPath, [compiler, '-p', join(import.meta.dirname, project)], { stdio: 'inherit' });
}
for (const asset of ['style.css', 'icon.svg']) {
  cpSync(join(root, 'worker/dashboard/assets', asset), join(root, 'dist/worker/dashboard/assets', asset));
}
chmodSync(join(root, 'dist/worker/cli/closeloop.js'), 0o755);
