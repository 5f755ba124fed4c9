import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sidebar } from '../../../build/docs/sidebar.ts';
import { siteFiles } from '../../../build/docs/site.ts';

const files = siteFiles();
/** As the pages have it, and no other way. */
const picture = /<img src="((?:\.\.\/)*pictures\/[\w./-]+)" alt="([^"]*)" width="\d+" height="\d+">/g;
const htmlPages = [...files].filter(([address]) => address.endsWith('.html'));

test('the sidebar has the sections in the order in which they are read', () => {
  expect(sidebar.map(({ title }) => title)).toEqual(['Start', 'Vendors', 'Policy', 'Operate', 'Extend', 'Reference']);
  const index = files.get('index.html') ?? expect.fail('no index.html');
  const places = sidebar.map(({ title }) => index.indexOf(`<h2>${title}</h2>`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});

describe('the built site', () => {
  test('every link of its HTML leads to a file of the site, and to an id that is there', () => {
    const ids = new Map(
      htmlPages.map(([at, html]) => [at, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    );
    const gone = htmlPages.flatMap(([address, html]) =>
      [...html.matchAll(/ href="([^"]+)"/g)].flatMap(([, href = '']) => {
        if (/^https?:/.test(href)) return [];
        const [path = '', id] = href.split('#');
        const to = path === '' ? address : posix.join(posix.dirname(address), path);
        const isThere = files.has(to) && (id === undefined || ids.get(to)?.has(id));
        return isThere ? [] : [`${address}: ${href}`];
      }),
    );
    expect(gone).toEqual([]);
  });

  test('it loads nothing from elsewhere, and runs no script', () => {
    for (const [address, html] of htmlPages) {
      const rest = html.replaceAll(picture, '');
      expect([address, rest.match(/<script|<iframe|<img|javascript:| on\w+="| src=/gi)]).toEqual([address, null]);
      expect(html).toContain("default-src 'none'");
    }
  });

  test('its pictures are files of the site, with words for who does not see them, and their size', () => {
    const shown = htmlPages.flatMap(([address, html]) =>
      [...html.matchAll(picture)].map(([, src = '', alt]) => [posix.join(posix.dirname(address), src), alt] as const),
    );
    expect(shown.map(([file]) => file)).toEqual(['pictures/policy.svg', 'pictures/windows.svg']);
    for (const [file, alt] of shown) {
      expect(files.get(file)).toMatch(/^<svg /);
      expect(alt).not.toBe('');
    }
  });

  test('every page has one title and one first heading', () => {
    for (const [address, html] of htmlPages) {
      expect([address, html.match(/<h1[ >]/g)?.length, html.match(/<title>[^<]+<\/title>/g)?.length]).toEqual([
        address,
        1,
        1,
      ]);
    }
  });
});
