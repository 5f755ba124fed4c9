import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { testFolder } from '../../../support/folder.ts';
import { closeloop } from '../../../support/processes.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
});

/** A command run in `dir`. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  return await new Promise<{ code: unknown; out: string; err: string }>((done) => {
    const options = { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, ...env } };
    const child = execFile(process.execPath, [closeloop, ...args], options, (_, out, err) =>
      done({ code: child.exitCode, out, err }),
    );
  });
}

/** The same, and what earlier processes compiled need not be compiled again. */
const runCompiled: typeof run = (args, env = {}) =>
  run(args, { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', ...env });

test('--version tells the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../../package.json'), 'utf8'));
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

describe('the configuration', () => {
  /** Which file a command read is told with the mistake in it. */
  const wrong = 'nothing: here\n';

  test('it is closeloop.yaml of the current folder', async () => {
    writeFileSync(join(dir, 'closeloop.yaml'), wrong);
    expect((await runCompiled(['status'], { CLOSELOOP_CONFIG: '/elsewhere.yaml' })).err).toMatch(
      /^closeloop\.yaml has /,
    );
  });

  test('it is what CLOSELOOP_CONFIG names where there is none', async () => {
    writeFileSync(join(dir, 'other.yaml'), wrong);
    expect((await runCompiled(['status'], { CLOSELOOP_CONFIG: join(dir, 'other.yaml') })).err).toContain(
      'other.yaml has ',
    );
    expect((await runCompiled(['start'], { CLOSELOOP_CONFIG: join(dir, 'other.yaml') })).err).toContain(
      'other.yaml has ',
    );
  });

  test('it is what --config names before all', async () => {
    writeFileSync(join(dir, 'closeloop.yaml'), wrong);
    expect((await runCompiled(['status', '--config', 'mine.yaml'])).err).toMatch(/^mine\.yaml can't be read/);
  });

  test('without any a command says where it was looked for', async () => {
    const { code, err } = await runCompiled(['status'], { CLOSELOOP_CONFIG: '' });
    expect(code).toBe(2);
    expect(err).toMatch(/--config <file>.*not specified/);
    expect((await runCompiled(['status', '--help'])).out.replaceAll(/\s+/g, ' ')).toContain(
      'left out: closeloop.yaml in this folder, else what CLOSELOOP_CONFIG names',
    );
  });
});

describe('what was compiled', () => {
  test("it is kept for the next process in the user's cache", async () => {
    await run(['--version']);
    expect(readdirSync(join(dir, '.cache/closeloop/compiled'))).not.toEqual([]);
    mkdirSync(join(dir, 'xdg'));
    await run(['--version'], { XDG_CACHE_HOME: join(dir, 'xdg') });
    expect(existsSync(join(dir, 'xdg/closeloop/compiled'))).toBe(true);
  });

  test('where this version runs for the first time, what no other has made for a month is removed', async () => {
    const compiled = join(dir, '.cache/closeloop/compiled');
    const make = (name: string, days: number) => {
      mkdirSync(join(compiled, name), { recursive: true });
      writeFileSync(join(compiled, name, 'code'), '');
      const made = new Date(Date.now() - days * 86_400_000);
      utimesSync(join(compiled, name), made, made);
    };
    make('0.0.1', 31);
    make('0.0.2', 29);
    await run(['--version']);
    const [own = '', ...others] = readdirSync(compiled).toSorted().toReversed();
    expect([own, others]).toEqual([expect.stringContaining(process.version), ['0.0.2']]);
    // Every later command would look through them for nothing.
    make('0.0.1', 31);
    await run(['--version']);
    expect(readdirSync(compiled).toSorted()).toEqual(['0.0.1', '0.0.2', own]);
  });

  test('without a word it is not where its place is taken', async () => {
    mkdirSync(join(dir, '.cache/closeloop'), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, '.cache/closeloop/compiled'), '');
    expect(await run(['--version'])).toMatchObject({ code: 0, err: '' });
  });

  test.each(['/dev/null', '', '/proc'])('without a word it is not where HOME is "%s"', async (HOME) => {
    expect(await run(['--version'], { HOME })).toMatchObject({ code: 0, err: '' });
  });
});
