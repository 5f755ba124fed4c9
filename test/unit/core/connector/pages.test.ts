import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { linkedPages, numberedPages, pageWatch } from '../../../../core/connector/pages.ts';
import { createVendorApi } from '../../../../core/connector/vendor-api.ts';
import { openPorts } from '../../../support/contract/bench.ts';

test('the way through a list may not come to the same page again (audit 28)', () => {
  const watch = pageWatch('Acme: things');
  watch('a');
  watch('b');
  expect(() => watch('a')).toThrow('Acme: things: its pages lead in a circle');
});

test('the way through a list has an end (audit 28)', () => {
  const watch = pageWatch('Acme: things', 3);
  for (const page of ['a', 'b', 'c']) watch(page);
  expect(() => watch('d')).toThrow('its pages have no end (3 so far)');
});

test('a page that is called by a megabyte is not gone to, as each name is kept while a list is read (audit loop)', () => {
  const watch = pageWatch('Acme: things');
  watch('x'.repeat(8_192));
  expect(() => watch('x'.repeat(8_193))).toThrow('its pages are called by more than 8192 characters');
});

test('a list by numbers of pages ends with a page that is not full', async () => {
  const pages = [[1, 2], [3, 4], []];
  expect(await numberedPages('Acme: things', 2, async (page) => pages[page - 1] ?? expect.fail('too far'))).toEqual([
    1, 2, 3, 4,
  ]);
  await expect(numberedPages('Acme: things', 1, async () => [0])).rejects.toThrow(
    'its pages have no end (10000 so far)',
  );
});

describe('a list whose responses name the next page', () => {
  /** What is asked for, and what the pages hold; `link`: the header of the first response. */
  async function readBy(link: string | undefined) {
    const asked: string[] = [];
    const fetch = async (url: string | URL): Promise<Response> => {
      asked.push(String(url));
      const isFirst = asked.length === 1;
      return Response.json(asked.length, { headers: isFirst && link !== undefined ? { link } : {} });
    };
    const account = { name: 'Acme', baseUrl: 'https://acme.example/api/v2' };
    const api = createVendorApi(account, openPorts({ fetch }).ports);
    const pages = linkedPages(api, account, { method: 'GET', path: '/things?per_page=100' }, z.number());
    const read: number[] = [];
    for await (const page of pages) read.push(page);
    return { pages: read, asked: asked.slice(1) };
  }

  test.each([
    ['alone', '<https://acme.example/api/v2/things?page=2>; rel="next"'],
    ['among others, with a comma', '</api/v2/things?page=1>; rel=prev, </api/v2/things?page=2>; title="a"; rel=next'],
    ['with another relation', '<https://acme.example/api/v2/things?page=2>; rel="last next"'],
  ])('is read to its end: %s', async (_how, link) => {
    expect(await readBy(link)).toEqual({ pages: [1, 2], asked: ['https://acme.example/api/v2/things?page=2'] });
  });

  test.each([
    ['no header', undefined],
    ['another relation', '<https://acme.example/api/v2/things?page=1>; rel="prev"'],
    ['a relation that begins alike', '<https://acme.example/api/v2/things?page=1>; rel="next-archive"'],
    ['no address', 'nonsense'],
  ])('ends with %s', async (_what, link) => expect((await readBy(link)).asked).toEqual([]));

  test.each([
    ['host', '<https://acme.example.evil.example/api/v2/things?page=2>; rel="next"'],
    ['scheme', '<http://acme.example/api/v2/things?page=2>; rel="next"'],
    ['path', '</login?next=2>; rel="next"'],
    ['way out', '<https://acme.example/api/v2/../../admin>; rel="next"'],
    ['non-address', '<https://[>; rel="next"'],
  ])('sends nothing to another %s', async (_what, link) => {
    await expect(readBy(link)).rejects.toThrow('Acme: its pages lead elsewhere');
  });
});
