import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const rooms = ['core', 'connectors', 'worker', 'standins', 'examples', 'test'];

/** What a file may import of ours, by where it lives. Narrower rows come first; the first that fits counts. */
const allowed: [where: RegExp, mayImport: RegExp][] = [
  [/^core\//, /^core\//],
  [/^connectors\/index\.ts$/, /^(core|connectors)\//],
  [/^connectors\/([^/]+)\//, /^(core\/|connectors\/SAME\/)/],
  [/^worker\/cli\/main\.ts$/, /^(core|worker)\/|^(connectors|standins)\/index\.ts$/],
  [/^worker\/config\/write-schema\.ts$/, /^(core|worker)\/|^connectors\/index\.ts$/],
  [/^worker\/cli\/standin\.ts$/, /^(core|worker)\/|^standins\/index\.ts$/],
  [/^worker\/demo\//, /^(core|worker|standins)\/|^connectors\/index\.ts$/],
  [/^worker\//, /^(core|worker)\//],
  [/^standins\//, /^standins\//],
  // What authors of connectors run on theirs ships with the package: nothing but the contract may come with it.
  [
    /^test\/connectors\/contract(\.ts$|\/(?!.*(suite\.test|whole-desk)))/,
    /^core\/|^test\/connectors\/(contract|memory-)/,
  ],
  [/^examples\/.*(test|desk)\.ts$/, /^(examples|test|standins|core)\//],
  [/^examples\//, /^examples\//],
  [/^test\//, /./],
];

interface Import {
  from: string;
  to: string;
}

const files = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${room}/${name}`),
);

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(root, from), 'utf8');
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]/gm,
  );
  return [...found].map(([, named, dynamic]) => {
    const target = named ?? dynamic ?? '';
    return { from, to: relative(root, resolve(root, dirname(from), target)) };
  });
});

function mayImport({ from, to }: Import): boolean {
  const [where, pattern] = allowed.find(([place]) => place.test(from)) ?? [];
  const same = from.match(where ?? /$^/)?.[1] ?? '';
  return pattern !== undefined && new RegExp(pattern.source.replace('SAME', same)).test(to);
}

describe('imports point one way', () => {
  test('it sees the imports at all', () => {
    expect(imports.length).toBeGreaterThan(50);
    expect(imports).toContainEqual({ from: 'worker/pipeline/engine.ts', to: 'core/connector/contract.ts' });
  });

  test('none points the wrong way', () => {
    expect(imports.filter((one) => !mayImport(one)).map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  const wrong: [from: string, to: string][] = [
    ['core/errors.ts', 'connectors/index.ts'],
    ['core/errors.ts', 'worker/pipeline/engine.ts'],
    ['connectors/zendesk/read.ts', 'connectors/hubspot/read.ts'],
    ['connectors/zendesk/read.ts', 'worker/pipeline/engine.ts'],
    ['worker/pipeline/engine.ts', 'connectors/index.ts'],
    ['worker/pipeline/engine.ts', 'standins/index.ts'],
    ['worker/pipeline/engine.ts', 'test/redis.ts'],
    ['standins/feedback/standin.ts', 'core/feedback/schemas.ts'],
  ];
  test.each(wrong)('%s may not import %s', (from, to) => expect(mayImport({ from, to })).toBe(false));
});

test('what zendesk-node-api calls "request" is our own package', () => {
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve('zendesk-node-api'));
  expect(realpathSync(inside.resolve('request'))).toBe(join(root, 'connectors/zendesk/request/index.cjs'));
});

test('core and worker name no vendor', () => {
  const vendors = /zendesk|hubspot|shopify|woocommerce/i;
  // The demo is told with a help desk; main.ts alone knows the list.
  const shared = files.filter((file) => /^(core|worker)\//.test(file) && !/^worker\/(demo\/|cli\/main\.ts)/.test(file));
  const code = (file: string) =>
    readFileSync(join(root, file), 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*$/gm, '');
  expect(shared.filter((file) => vendors.test(code(file)))).toEqual([]);
});
