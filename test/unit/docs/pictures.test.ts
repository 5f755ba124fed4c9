import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { picturesOf, sizeOf } from '../../../build/docs/pictures.ts';

const docs = resolve(import.meta.dirname, '../../../docs');
const read = (file: string) => readFileSync(resolve(docs, file), 'utf8');

describe('a picture of a page', () => {
  const shown = (markdown: string) => [...picturesOf(new Map([['docs/policy.md', markdown]]))];

  test('is an SVG file of docs/', () => {
    expect(shown('![How it goes](policy.svg) and ![how windows combine](windows.svg)')).toEqual([
      'docs/policy.svg',
      'docs/windows.svg',
    ]);
  });

  test.each([
    ['![A badge](https://badges.example.com/a.svg)', /must be an SVG file of docs\//],
    ['![A badge](data:image/svg+xml,x)', /must be an SVG file of docs\//],
    ['![An icon](../worker/dashboard/icon.svg)', /must be an SVG file of docs\//],
    ['![The page](dashboard/today-light.png)', /must be an SVG file of docs\//],
    ['![](policy.svg)', /must say in words/],
  ])('is not %s', (markdown, why) => expect(() => shown(markdown)).toThrow(why));

  test.each([
    '<script>alert(1)</script>',
    '<image href="https://a.example/x.png"/>',
    '<rect onload="x()"/>',
    '<style>@import "x.css"</style>',
    '<rect fill="url(https://a.example/#x)"/>',
  ])('runs nothing and loads nothing: %s', (content) => {
    expect(() => sizeOf(`<svg viewBox="0 0 7 8">${content}</svg>`, 'docs/x.svg')).toThrow(/loads nothing/);
  });

  test('says its size', () => {
    expect(sizeOf('<svg xmlns="x" viewBox="0 0 760 88.5"><path marker-end="url(#m)"/></svg>', 'x')).toEqual({
      width: 760,
      height: 88.5,
    });
    expect(() => sizeOf('<svg width="7">', 'docs/x.svg')).toThrow(/must say its size/);
  });
});

describe.each(['policy.svg', 'windows.svg'])('%s', (file) => {
  test('has a title and a description, and colours for the dark', () => {
    expect(read(file)).toMatch(/<title id="t">[^<]+<\/title>\s*<desc id="d">[^<]+<\/desc>/);
    expect(read(file)).toContain('prefers-color-scheme:dark');
  });
});

test('every reason in the picture of the policy is one of the reference', () => {
  const reasons = [...read('reference/reasons.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, code]) => code);
  const drawn = [...read('policy.svg').matchAll(/<tspan class="r">([^<]*)<\/tspan>/g)].map(([, code]) => code);
  expect(drawn.length).toBeGreaterThan(10);
  expect(drawn.filter((code) => !reasons.includes(code))).toEqual([]);
});
