import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { messageOf } from '../../../core/errors.ts';
import { signed, startDesk } from '../../../examples/helpdesk-connector/desk.ts';
import { useFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/loop.ts';
import { imagesOf } from '../../support/markdown.ts';
import { background, standin } from '../../support/processes.ts';

/* The package as a stranger has it: packed, installed into an empty folder with npm, and used by its documentation. */

const root = resolve(import.meta.dirname, '../../..');
const manifest = z
  .object({
    version: z.string(),
    devDependencies: z.object({ typescript: z.string() }),
    exports: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
  })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

const dir = useFolder();
let project: string;
let entry: string;
let packed: string[];

beforeAll(async () => {
  project = join(dir, 'project');
  mkdirSync(project);
  await run('npm', ['pack', '--pack-destination', dir], root);
  const tarball = join(dir, `closeloop-${manifest.version}.tgz`);
  const list = await run('tar', ['tzf', tarball], dir);
  packed = list.split('\n').flatMap((line) => /^package\/(.+[^/])$/.exec(line)?.[1] ?? []);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const compiler = `typescript@${manifest.devDependencies.typescript}`;
  await run('npm', ['install', '--prefer-offline', '--no-audit', tarball, compiler]);
  entry = join(project, 'node_modules/closeloop/dist/worker/cli/closeloop.js');
});

/** What a program prints; in the project, with this Node before any other. @throws with all that it said */
async function run(program: string, args: readonly string[], cwd = project): Promise<string> {
  // npm tells its scripts about the repository that it runs in: not this project's.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|npm_config_local|INIT_CWD)/.test(name),
  );
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const options = { cwd, env: { ...Object.fromEntries(inherited), PATH: path }, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const printed = z.object({ stdout: z.string() }).parse(error).stdout;
    throw new Error(`${messageOf(error)}\n${printed}`, { cause: error });
  }
}

/** Every file below, and when it was last written. */
function stateOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (name) => `${name} ${statSync(join(folder, name)).mtimeMs}`,
  );
}

const documented = (file: string): string =>
  /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? '';

/** Strict, and nothing that closeloop would have to ask for. */
const plain = { strict: true, module: 'nodenext', target: 'es2024', outDir: 'out' };

describe('the tarball', () => {
  const named = (pattern: RegExp) => packed.filter((name) => pattern.test(name)).sort();

  test('holds its launcher, and what that and the exports are joined of, each with a source map that carries its TypeScript; and the licenses of the packages among them', () => {
    const joined = named(/^dist\/.*\.js$/);
    expect(joined.filter((name) => !name.startsWith('dist/shared/'))).toEqual([
      'dist/core/feedback/index.js',
      'dist/core/index.js',
      'dist/test/support/contract.js',
      'dist/worker/cli/closeloop.js',
      'dist/worker/cli/main.js',
    ]);
    const installed = join(project, 'node_modules/closeloop');
    const SourceMap = z.object({ sources: z.array(z.string()), sourcesContent: z.array(z.string()) });
    const maps = named(/^dist\/.*\.map$/).map((name) => ({
      name,
      ...SourceMap.parse(JSON.parse(readFileSync(join(installed, name), 'utf8'))),
    }));
    expect(maps.filter(({ sources, sourcesContent }) => sources.length !== sourcesContent.length)).toEqual([]);
    const from = maps.flatMap(({ name, sources }) =>
      sources.map((source) => relative(installed, resolve(installed, dirname(name), source))),
    );
    expect(from.filter((source) => /\.test\.|^test\/(?!support\/contract)/.test(source))).toEqual([]);
    for (const room of ['core', 'connectors', 'worker', 'standins']) {
      expect(from.filter((source) => source.startsWith(`${room}/`)).length).toBeGreaterThan(20);
    }
    // Each module once: what a connector imports from here is what the worker runs.
    expect(from.length).toBe(new Set(from).size);
    // Their licenses ask for it.
    const foreign = new Set(from.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []));
    const licenses = readFileSync(join(installed, 'dist/third-party-licenses.txt'), 'utf8').split(/\n-{80}\n\n/);
    expect(licenses.map((text) => text.split('\n')[0]).sort()).toEqual([...foreign].sort());
    for (const text of licenses) expect(text).toMatch(/copyright/i);
  });

  test('holds the types of what it exports, and every file that it exports', () => {
    expect(named(/^dist\/.*\.ts$/).filter((name) => !/^dist\/(core|test)\/.*\.d\.ts$/.test(name))).toEqual([]);
    const exported = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : [target.types, target.default],
    );
    expect(exported.map((path) => path?.slice(2)).filter((path) => !packed.includes(path ?? ''))).toEqual([]);
  });

  test('holds documents, examples and what is bundled beside it, and nothing else', () => {
    expect(named(/^(?!dist\/|node_modules\/)/).filter((name) => !/^(docs|deploy|examples)\//.test(name))).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'closeloop.schema.json',
      'package.json',
    ]);
    expect(named(/\.test\./)).toEqual([]);
    // The pages and the pictures that they show: not what builds a site of them.
    const pages = named(/^(docs\/(reference\/)?[\w-]+|README|CHANGELOG)\.md$/);
    const pictures = pages.flatMap((page) =>
      imagesOf(readFileSync(join(root, page), 'utf8')).map(({ href }) => join(dirname(page), href)),
    );
    expect(pictures.length).toBeGreaterThan(1);
    const schemas = ['docs/reference/webhook-events.schema.json'];
    const documents = new Set([...pages.filter((page) => page.startsWith('docs/')), ...pictures, ...schemas]);
    expect(named(/^docs\//)).toEqual([...documents].sort());
    const bundled = packed.flatMap((name) => /^node_modules\/([^/]+)\//.exec(name)?.[1] ?? []);
    expect([...new Set(bundled)].sort()).toEqual(['asap', 'dotenv', 'promise', 'request', 'zendesk-node-api']);
  });
});

describe('installed into an empty folder', () => {
  test('npx closeloop tells its version', async () => {
    expect((await run('npx', ['closeloop', '--version'])).trim()).toBe(manifest.version);
  });

  test('zendesk-node-api has the request that closeloop replaces', async () => {
    const script = `
      import { createRequire } from 'node:module';
      const own = createRequire(createRequire(${JSON.stringify(entry)}).resolve('zendesk-node-api'));
      console.log(typeof own('request').sendingBy);`;
    expect((await run(process.execPath, ['--input-type=module', '-e', script])).trim()).toBe('function');
  });

  test('npx closeloop start --once runs the demo to its end, and writes nothing among the installed packages', async () => {
    const installed = stateOf(join(project, 'node_modules'));
    expect(await run('npx', ['closeloop', 'start', '--once'])).toContain('Every journey ended as it should.');
    expect(stateOf(join(project, 'node_modules'))).toEqual(installed);
  });

  describe('as a library', () => {
    let service: Awaited<ReturnType<typeof standin>>;
    beforeAll(async () => {
      service = await standin('feedback', entry);
    });
    afterAll(async () => void (await service?.stop()));

    const script = () => documented('docs/library.md').replace('http://127.0.0.1:9100', service.url);
    const runs = async (file: string): Promise<void> => {
      const said = await run(process.execPath, [file]);
      const id = /feedback request (\S+) goes out/.exec(said)?.[1];
      const fields = { Store: 'Tallinn', Agent: 'Anna Saar' };
      const requests = z.array(z.looseObject({ id: z.coerce.string() }));
      const made = requests.parse(await service.control('GET', 'requests?campaign=12'));
      expect(made.find((one) => one.id === id)).toMatchObject({ customFields: fields });
    };

    test('the documented script runs in JavaScript', async () => {
      writeFileSync(join(project, 'library.js'), script());
      await runs('library.js');
    });

    test('and in TypeScript under strict and nodenext, with every other entry', async () => {
      const others = `
        import type { Connector } from 'closeloop';
        import schema from 'closeloop/schema' with { type: 'json' };
        import { type ConnectorSample, connectorContract } from 'closeloop/testing';
        export const shared = (sample: ConnectorSample): Connector => sample.connector;
        export const title: string = schema.title;
        export const suite = connectorContract;`;
      writeFileSync(join(project, 'typed.ts'), script());
      writeFileSync(join(project, 'entries.ts'), others);
      const compilerOptions = { ...plain, exactOptionalPropertyTypes: true };
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['typed.ts', 'entries.ts'] }),
      );
      await run('npx', ['tsc']);
      await runs('out/typed.js');
      await run(process.execPath, ['out/entries.js']);
    });
  });

  test('a stranger comes from the tarball to a graded ticket with init', async () => {
    const folder = join(project, 'stranger');
    mkdirSync(folder);
    const place = ['--config', join(folder, 'closeloop.yaml'), '--data', join(folder, '.closeloop')];
    const [service, desk] = await Promise.all([standin('feedback', entry), standin('zendesk', entry)]);
    const took: string[] = [];
    const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
      const begun = Date.now();
      const result = await work();
      took.push(`${step} ${((Date.now() - begun) / 1_000).toFixed(1)} s`);
      return result;
    };
    const questions = ['--vendor', 'zendesk', '--subdomain', 'acme', '--client-id', 'closeloop', '--campaign', '12'];
    const addresses = ['--feedback-url', `${service.url}/api`, '--base-url', desk.url];
    const here = ['--public-url', `http://127.0.0.1:${await freePort()}`, '--time-zone', 'Europe/Tallinn', '--yes'];
    const secrets = { FEEDBACK_API_KEY: 'demo-key', ZENDESK_CLIENT_SECRET: 'zendesk-client-secret' };
    const asked = background(['init', ...place, ...questions, ...addresses, ...here], secrets, entry);
    expect([await timed('init, setup and check', () => asked.ended), asked.errors()]).toEqual([
      0,
      expect.stringContaining('closeloop start'),
    ]);
    const loop = background(['start', ...place], {}, entry);
    try {
      await timed('start', () => loop.says(/"started"/));
      await timed('from the solved ticket to the request', async () => {
        await desk.control('POST', 'users', { id: 71, name: 'Carl', email: 'carl@example.com' });
        await desk.control('POST', 'tickets', { id: 41960, requesterId: 71 });
        await desk.control('POST', 'tickets/41960/solve');
        await until(async () => {
          const found = await service.control('GET', 'requests?campaign=12');
          return Array.isArray(found) && found.length > 0 && found[0].sentAt;
        });
      });
      await service.control('POST', 'answers', { contact: 'carl@example.com', grade: 5, comment: 'Quick, thanks' });
      await timed('from the answer to the grade on the ticket', async () => {
        expect(await background(['collect', '--once', ...place], {}, entry).ended).toBe(0);
        await until(async () => JSON.stringify(await desk.control('GET', 'tickets/41960')).includes('"value":5'));
      });
    } finally {
      await loop.stop();
      await Promise.all([service.stop(), desk.stop()]);
    }
    process.stdout.write(`A stranger: ${took.join(', ')}\n`);
  });

  test('a connector in TypeScript, compiled with a plain tsconfig and installed as a package, carries a grade home', async () => {
    const author = join(project, 'author');
    mkdirSync(author);
    cpSync(join(root, 'examples/helpdesk-connector/connector.ts'), join(author, 'index.ts'));
    writeFileSync(join(author, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...plain, declaration: true } }));
    await run('npx', ['tsc', '-p', author]);
    const own = { name: '@acme/closeloop-deskly', version: '1.0.0', type: 'module', exports: './index.js' };
    writeFileSync(join(author, 'out/package.json'), JSON.stringify(own));
    cpSync(join(author, 'out'), join(project, 'node_modules/@acme/closeloop-deskly'), { recursive: true });

    const secret = 'deskly-package-secret';
    const desk = await startDesk({ email: 'carl@example.com', subject: 'No heating' });
    const service = await standin('feedback', entry);
    const file = join(project, 'closeloop.yaml');
    writeFileSync(
      file,
      `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
http: { port: 0 }
collect: { every: 300ms }
sources:
  desk:
    connector: "@acme/closeloop-deskly"
    baseUrl: ${desk.url}
    apiKey: key
    webhookSecrets: [${secret}]
    rules:
      - { name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.subject } }
`,
    );
    const loop = background(['start', '--config', file, '--data', join(project, '.closeloop')], {}, entry);
    try {
      const started: { hooks: string } = JSON.parse(await loop.says(/\{.*"started"\}/));
      const closed = desk.close();
      const body = JSON.stringify(closed);
      const headers = { 'content-type': 'application/json', ...signed(body, secret) };
      const hook = started.hooks.replace('<source>', 'desk');
      expect((await fetch(hook, { method: 'POST', body, headers })).status).toBe(202);
      await until(async () => {
        const found = await service.control('GET', 'requests?campaign=12');
        return Array.isArray(found) && found.length > 0 && found[0].sentAt;
      });
      await service.control('POST', 'answers', { contact: 'carl@example.com', grade: 4, comment: 'Warm again' });
      expect(await until(() => desk.ticket(closed.ticket.id)?.grade ?? undefined)).toBe(4);
    } finally {
      await loop.stop();
      await service.stop();
      await desk.stop();
    }
  });
});
