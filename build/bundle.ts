import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const root = resolve(import.meta.dirname, '..');

/**
 * What the package exports, what its launcher loads, and what is required when it is first needed: one graph, so that each module exists
 * once.
 */
const entries = {
  'core/index': 'core/index.ts',
  'core/feedback/index': 'core/feedback/index.ts',
  'test/support/contract': 'test/support/contract.ts',
  'worker/cli/main': 'worker/cli/main.ts',
  'shared/connections': 'core/connector/connections.ts',
  'shared/phone-plans': 'core/phone-plans.ts',
};

/** Dependencies of many small files, which most commands load: reading those took longer than running them. All others are left outside. */
const inlined = [
  '@ioredis/commands',
  'cluster-key-slot',
  'commander',
  'debug',
  'denque',
  'fastest-levenshtein',
  'ioredis',
  'libphonenumber-js',
  'ms',
  'p-limit',
  'redis-errors',
  'standard-as-callback',
  'temporal-polyfill',
  'temporal-utils',
  'undici',
  'yaml',
  'yocto-queue',
  'zod',
];

/**
 * What a dependency requires at its start, takes long to load, and is seldom needed: of a file, the statement, and what stands here in
 * its place. Node's TLS takes 15 ms, which the Redis client needs for an encrypted connection; HTTP/2 takes 20 and is never used.
 */
const seldom: readonly { file: RegExp; at: string; later: string }[] = [
  {
    file: /[\\/]ioredis[\\/].*Connector([\\/]index)?\.js$/,
    at: 'const tls_1 = require("tls");',
    later: 'const tls_1 = { connect: (to) => require("tls").connect(to) };',
  },
  {
    file: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client\.js$/,
    at: "const connectH2 = require('./client-h2.js')",
    later: "const connectH2 = (client, socket) => require('./client-h2.js')(client, socket)",
  },
];

const replaced = new Set<unknown>();
const requireLater: Plugin = {
  name: 'require-later',
  transform: (code, id) => {
    const found = seldom.find(({ file, at }) => file.test(id) && code.includes(at));
    if (!found) return null;
    replaced.add(found);
    return { code: code.replace(found.at, found.later), map: null };
  },
  buildEnd: () => {
    const gone = seldom.find((one) => !replaced.has(one));
    if (gone) throw new Error(`No file of ${gone.file} says "${gone.at}" any more: correct build/bundle.ts`);
  },
};

/** Writes what runs to `to`, joined to a few files, with source maps that carry the TypeScript they were made of. */
export async function bundle(to: string): Promise<void> {
  const joined = await rolldown({
    cwd: root,
    platform: 'node',
    input: entries,
    resolve: { conditionNames: ['@closeloop/source'] },
    plugins: [requireLater],
    external: (id) => !/^[./]/.test(id) && !inlined.includes(nameOf(id)),
  });
  const { output } = await joined.write({
    dir: to,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    sourcemap: true,
  });
  for (const { fileName } of output.filter(({ type }) => type === 'chunk')) {
    const file = join(to, fileName);
    writeFileSync(file, inAscii(readFileSync(file, 'utf8')));
  }
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(to, 'third-party-licenses.txt'), licensesOf(modules));
  const launcher = join(to, 'worker/cli/closeloop.js');
  writeFileSync(
    launcher,
    readFileSync(join(root, 'worker/cli/closeloop.js'), 'utf8').replace('./main.ts', './main.js'),
  );
  chmodSync(launcher, 0o755);
  // Beside the file that reads them.
  cpSync(join(root, 'worker/dashboard/assets'), join(to, 'shared/assets'), { recursive: true });
}

/** A source with other characters takes V8 twice the memory, and longer to read. Its lines, by which source maps go, stay. */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The licenses of the packages that these modules belong to: each asks to be passed on with its code. */
function licensesOf(modules: readonly string[]): string {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
    if (file === undefined) throw new Error(`${folder} has no license file, and is joined into what the package ships`);
    return `${folder.slice(folder.lastIndexOf('node_modules/') + 13)}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Of an import: `@scope/name/file` is `@scope/name`. */
function nameOf(id: string): string {
  const [scope = '', name] = id.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
