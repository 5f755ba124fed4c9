import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, matchesGlob, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { configurationSections } from '../build/docs/configuration-reference.ts';
import { references } from '../build/docs/references.ts';
import { pages } from '../docs/.vitepress/sidebar.ts';
import { brokenLinks, imagesOf } from './support/markdown.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const made = [...(await references())];

describe('what is made from the source', () => {
  test.each(made)('%s is what "npm run schema" writes now', (path, text) => {
    expect(existsSync(join(root, path)) && read(path), 'run "npm run schema" and commit what it writes').toBe(text);
  });

  test('every setting has a meaning: say it with .describe(…) in the schema', () => {
    const settings = configurationSections().flatMap(({ title, settings }) =>
      settings.map((one) => ({ ...one, path: `${title}: ${one.path}` })),
    );
    expect(settings.length).toBeGreaterThan(150);
    expect(settings.filter(({ meaning }) => meaning === '').map(({ path }) => path)).toEqual([]);
  });
});

describe('pages', () => {
  // Those that are not on the site are for whoever works in the repository.
  const inRepository = ['CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md'];
  const texts = new Map([...pages, ...inRepository].map((page) => [page, read(page)]));
  const isFile = (path: string) => existsSync(join(root, path)) && statSync(join(root, path)).isFile();

  test('every page of docs/ is in the menu: add it to docs/.vitepress/sidebar.ts', () => {
    const files = globSync(['docs/*.md', 'docs/reference/*.md'], { cwd: root });
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => !pages.includes(path))).toEqual([]);
  });

  test('every link leads to a file, and to a heading that is there', () => {
    expect(brokenLinks(texts, isFile)).toEqual([]);
  });

  test('every picture says in words what it shows', () => {
    const pictures = [...texts.values()].flatMap(imagesOf);
    expect(pictures.length).toBeGreaterThan(1);
    expect(pictures.filter(({ alt }) => alt.trim() === '')).toEqual([]);
  });

  test('the package holds every file that its pages link to', () => {
    const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(read('package.json')));
    const isIn = (path: string, entry: string): boolean => path.startsWith(`${entry}/`) || matchesGlob(path, entry);
    const isPacked = (path: string): boolean =>
      isFile(path) &&
      !/\.test\.ts$/.test(path) &&
      !files.some((one) => one.startsWith('!') && isIn(path, one.slice(1))) &&
      [...files, 'README.md', 'LICENSE', 'package.json'].some((one) => isIn(path, one));
    const packed = new Map([...texts].filter(([page]) => isPacked(page)));
    expect(packed.size).toBeGreaterThan(10);
    expect(brokenLinks(packed, isPacked).filter((broken) => broken.endsWith('is no file'))).toEqual([]);
  });

  test('it sees links that lead nowhere', () => {
    const two = new Map([
      ['docs/a.md', '# A\n[b](b.md) [gone](gone.md) [f](../deploy) [c](b.md#second-part) [d](b.md#third) [e](#here)'],
      ['docs/b.md', '# B\n## Second part\n[a](../docs/a.md#a) [web](https://example.com/gone)'],
    ]);
    expect(brokenLinks(two, (path) => two.has(path))).toEqual([
      'docs/a.md: gone.md is no file',
      'docs/a.md: ../deploy is no file',
      'docs/a.md: b.md#third names no heading of docs/b.md',
      'docs/a.md: #here names no heading of docs/a.md',
    ]);
  });
});
