import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pages } from '../../../docs/.vitepress/sidebar.ts';
import { findings, overhang, visit } from '../../support/browser.ts';
import { startChromium } from '../../support/chromium.ts';
import { useFolder } from '../../support/folder.ts';

/* The site as "npm run docs" builds it, in a browser. A link to a page that does not exist ends the build. */

const root = resolve(import.meta.dirname, '../../..');
const site = useFolder();
const phone = { viewport: { width: 390, height: 844 } };

let browser: Browser;

beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'docs', '--', '--outDir', site], { cwd: root });
  browser = await startChromium();
});

afterAll(async () => {
  await browser.close();
});

/** A page of the site, which any server of files could give. */
async function open(address: string, options: BrowserContextOptions): Promise<{ page: Page; flaws: string[] }> {
  const { page, flaws } = await visit(browser, 'http://docs.test', options);
  await page.route('http://docs.test/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const path = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!existsSync(path)) flaws.push(`no file of the site: ${pathname}`);
    await route.fulfill(existsSync(path) ? { path } : { status: 404 });
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  return { page, flaws };
}

test('search finds a page by a word within it', async () => {
  const { page, flaws } = await open('/', {});
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('graylist');
  await page.getByRole('option').filter({ hasText: 'Reasons reference' }).click();
  await page.waitForURL('**/docs/reference/reasons.html**');
  // The address changes before the page does.
  await page.getByRole('heading', { level: 1, name: /Reasons/ }).waitFor();
  expect(flaws).toEqual([]);
});

test('on a phone the menu is folded until it is asked for, and leads to every page', async () => {
  const { page, flaws } = await open('/', phone);
  const menu = page.getByRole('navigation', { name: 'Sidebar Navigation' });
  await expect.poll(() => menu.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await expect.poll(() => menu.isVisible()).toBe(true);
  expect(await menu.getByRole('link').count()).toBe(pages.length);
  await menu.getByRole('link', { name: 'Zendesk' }).click();
  await page.waitForURL('**/docs/zendesk.html');
  await expect.poll(() => menu.isVisible()).toBe(false);
  expect(flaws).toEqual([]);
});

test('it is dark where the system is, and light when the reader wants it so, on the next page as well', async () => {
  const { page, flaws } = await open('/docs/policy.html', { colorScheme: 'dark' });
  const isDark = () => page.locator('html.dark').count();
  // That the search button's name leaves out the key which it shows is VitePress' own.
  const flawsOfAxe = async () => (await findings(page)).filter((one) => !/^label-content-name-mismatch/.test(one));
  expect([await isDark(), await flawsOfAxe()]).toEqual([1, []]);
  await page.getByRole('switch').first().click();
  await page.goto('/docs/redis.html', { waitUntil: 'networkidle' });
  expect([await isDark(), await flawsOfAxe()]).toEqual([0, []]);
  expect(flaws).toEqual([]);
});

test('no page is wider than a phone', async () => {
  const { page, flaws } = await open('/', phone);
  for (const name of pages.filter((name) => name !== 'README.md')) {
    await page.goto(`/${name.replace(/md$/, 'html')}`);
    expect([name, await overhang(page)]).toEqual([name, 0]);
  }
  expect(flaws).toEqual([]);
});

test('a link to a file of the repository shows it as text', async () => {
  const { page, flaws } = await open('/docs/deploy.html', {});
  await page.getByRole('link', { name: 'compose.yaml' }).first().click();
  await page.waitForURL('**/source/deploy/compose.yaml.txt');
  expect(await page.textContent('body')).toContain('services:');
  expect(flaws).toEqual([]);
});
