import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { useFolder } from '../../../support/folder.ts';

const root = resolve(import.meta.dirname, '../../../..');
const dir = useFolder();

beforeAll(() => {
  writeFileSync(
    join(dir, 'load.ts'),
    `
import { readFileSync } from 'node:fs';
import { connectors } from '${root}/connectors/index.ts';
import { CloseloopError } from '${root}/core/errors.ts';
import { ConfigError } from '${root}/worker/config/problem.ts';
import { loadConfig } from '${root}/worker/config/config.ts';
import { readDocument } from '${root}/worker/config/document.ts';
import { connectorsNamedIn, loadExternal } from '${root}/worker/config/external-connectors.ts';
for (const file of process.argv.slice(2)) {
  const options = { env: process.env, connectors, file };
  const text = readFileSync(file, 'utf8');
  try {
    const document = readDocument(text, options.env);
    const config = loadConfig(text, { ...options, external: await loadExternal(connectorsNamedIn(document), options) });
    const sources = config.sources.map(({ name, connector, account, open }) => {
      let thrown;
      try { open({}); } catch (error) { thrown = error; }
      return { name, connector: connector.name, account, isOurs: thrown instanceof CloseloopError };
    });
    console.log(JSON.stringify({ sources }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.log(JSON.stringify({ problems: error.problems.map(({ path, message }) => path + ': ' + message) }));
  }
}
`,
  );
});

const feedback = 'feedback: { baseUrl: "https://feedback.example.com/api", apiKey: key, timeZone: Europe/Tallinn }';
const rules = 'rules: [{ name: all, campaign: 12, contact: customer.email }]';

/** A connector's file; its `open` throws one of closeloop's errors. */
const connectorFile = (name: string, more = 'export default') => `
import { CloseloopError, defineConnector, z } from 'closeloop';
${more} defineConnector({
  name: '${name}',
  settings: z.strictObject({ key: z.string().min(1) }),
  open: () => { throw new CloseloopError('opened', { kind: 'permanent' }); },
});
`;

interface Case {
  /** Beside the configuration. */
  files: Record<string, string>;
  sources: string[];
}

/** Loads configurations in a process of their own: by Node's loader, not the test runner's. */
async function loadAll(cases: readonly Case[]): Promise<Loaded[]> {
  const places = cases.map(({ files, sources }) => {
    const place = mkdtempSync(join(dir, 'case-'));
    const all = { ...files, 'closeloop.yaml': [feedback, 'sources:', ...sources].join('\n') };
    for (const [name, text] of Object.entries(all)) {
      mkdirSync(dirname(join(place, name)), { recursive: true });
      writeFileSync(join(place, name), text);
    }
    return place;
  });
  const configs = places.map((place) => join(place, 'closeloop.yaml'));
  const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'load.ts'), ...configs], { cwd: root });
  const lines = stdout.trim().split('\n');
  return places.map((place, i) => Loaded.parse(JSON.parse(lines[i]?.replaceAll(place, '<dir>') ?? '')));
}

const cases: Case[] = [];
let loading: Promise<Loaded[]> | undefined;

/** A configuration of this file: all of them are loaded by one process, when the first test asks for its own. */
function loaded(files: Case['files'], ...sources: string[]): () => Promise<Loaded> {
  const i = cases.push({ files, sources }) - 1;
  return async () => {
    loading ??= loadAll(cases);
    return (await loading)[i] ?? expect.unreachable();
  };
}

const Loaded = z.object({ sources: z.array(z.unknown()).optional(), problems: z.array(z.string()).optional() });
type Loaded = z.output<typeof Loaded>;

const source = (name: string, connector: string, more = 'key: k') =>
  `  ${name}: { connector: "${connector}", ${more}, ${rules} }`;

describe('a connector from outside', () => {
  const mine = { name: 'main', connector: 'mine', isOurs: true };

  const typed = { 'my-connector.ts': `${connectorFile('mine')}const typed: number = 1; void typed;` };
  const beside = loaded(typed, source('main', './my-connector.ts'));
  test('it is loaded from a TypeScript file beside the configuration, and throws errors that are ours', async () => {
    expect(await beside()).toEqual({ sources: [mine] });
  });

  const both = [source('main', './x/a.ts'), source('other', './x/../x/a.ts')];
  const twice = loaded({ 'x/a.ts': connectorFile('mine') }, ...both);
  test('it is loaded from a folder above, once for two sources', async () => {
    expect(await twice()).toEqual({ sources: [mine, { ...mine, name: 'other' }] });
  });

  const packages: [what: string, files: Record<string, string>, manifest: object][] = [
    ['its main file', { 'index.js': connectorFile('mine') }, { main: './index.js' }],
    ['what it exports to importers only', { 'lib/a.js': connectorFile('mine') }, { exports: { import: './lib/a.js' } }],
    ['a named export', { 'index.js': connectorFile('mine', 'export const mine =') }, { main: './index.js' }],
  ];
  const packaged = packages.map(([what, files, manifest]) => {
    const at = 'node_modules/@acme/closeloop-mine';
    const inside = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${at}/${name}`, text]));
    const text = JSON.stringify({ name: '@acme/closeloop-mine', type: 'module', ...manifest });
    const found = loaded({ ...inside, [`${at}/package.json`]: text }, source('main', '@acme/closeloop-mine'));
    return [what, found] as const;
  });
  test.each(packaged)('it is loaded from an npm package by %s', async (_what, found) => {
    expect(await found()).toEqual({ sources: [mine] });
  });

  const misspelt = loaded({ 'a.ts': connectorFile('mine') }, source('main', './a.ts', 'kay: k'));
  test('its settings are checked like those of any other', async () => {
    expect((await misspelt()).problems).toEqual([
      'sources.main.key: is missing: a text',
      'sources.main.kay: is not a setting; did you mean "key"?',
    ]);
  });
});

describe('a connector that cannot be loaded is a mistake at its place', () => {
  const at = 'sources.main.connector: ';
  const one = (text: string) => ({ 'a.ts': text });
  const plain = connectorFile('mine')
    .replace('defineConnector(', '({ account: () => "", ...')
    .replace(/\);\n$/, '});');
  const loose = connectorFile('mine').replace('strictObject', 'object');
  const rows: [what: string, connector: string, files: Record<string, string>, told: string | RegExp][] = [
    ['no such file', './none.ts', {}, 'there is no file <dir>/none.ts'],
    ['a folder', './x', { 'x/a.ts': '' }, '<dir>/x is a folder: name a file in it'],
    ['a name near another', 'hubspott', {}, /must be one of .*no package "hubspott" .* in <dir> or .*"hubspot"\?$/],
    ['a file without ./', 'a.ts', one(connectorFile('mine')), /did you mean the file "\.\/a\.ts"\?$/],
    ['no connector in it', './a.ts', one('export default { name: "x" };'), /a\.ts exports no connector; it needs: /],
    ['a connector without defineConnector', './a.ts', one(plain), /a\.ts exports no connector; it needs: /],
    ['settings that are not strict', './a.ts', one(loose), /misspelt names pass: use z\.strictObject .*\/a\.ts:3\)$/],
    ['two connectors in it', './a.ts', twoConnectors(), /a\.ts exports several connectors; make one the default$/],
    ['throws', './a.ts', one('\nthrow new Error("no key\\nmore");'), /breaks while it is loaded: no key .*a\.ts:2\)$/],
    ['no JavaScript', './a.js', { 'a.js': 'export default {' }, /a\.js breaks while it is loaded: U/],
    ['an import that is missing', './a.ts', one('import "not-there";'), /loaded: Cannot find package 'not-there'/],
    ['a built-in name', './a.ts', one(connectorFile('zendesk')), /own name is "zendesk", as a built-in connector has/],
    ['a name that is none', './a.ts', one(connectorFile('My Desk')), /own name must be of small letters/],
    ['a TypeScript package', 'pkg', typescriptPackage(), /no TypeScript in node_modules: the package must ship \.js/],
  ];
  const wrong = rows.map(([what, connector, files, told]) => {
    return [what, loaded(files, source('main', connector)), told] as const;
  });
  test.each(wrong)('%s', async (_what, found, told) => {
    const { problems = [] } = await found();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^sources\.main\.connector: /);
    expect(problems[0]?.slice(at.length)).toEqual(typeof told === 'string' ? told : expect.stringMatching(told));
  });

  const files = { 'a.ts': connectorFile('mine'), 'b.ts': connectorFile('mine') };
  const sameName = loaded(files, source('one', './a.ts'), source('two', './b.ts'));
  test('two of one name', async () => {
    const told = 'sources.two.connector: its own name is "mine", as the connector of "./a.ts" has; give it another';
    expect((await sameName()).problems).toEqual([told]);
  });

  const withOthers = loaded({}, source('main', './none.ts'), source('Other', 'zendesk'));
  test('it is told with the other mistakes of the file', async () => {
    expect((await withOthers()).problems?.length).toBeGreaterThan(2);
  });
});

function twoConnectors(): Record<string, string> {
  const one = connectorFile('one', 'export const one =');
  return { 'a.ts': `${one}export const two = { ...one, name: 'two' };` };
}

function typescriptPackage(): Record<string, string> {
  const manifest = JSON.stringify({ name: 'pkg', type: 'module', main: './index.ts' });
  return { 'node_modules/pkg/package.json': manifest, 'node_modules/pkg/index.ts': connectorFile('mine') };
}
