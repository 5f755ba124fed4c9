import { join, resolve } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { textOf } from '../../../worker/dashboard/html.ts';
import { loginView } from '../../../worker/dashboard/login.ts';
import { layout } from '../../../worker/dashboard/pages.ts';
import { startChromium } from '../../support/chromium.ts';
import { background } from '../../support/processes.ts';

/** Takes the pictures of docs/dashboard: each page of the demo, light, dark and on a phone. `npm run screenshots` */

const folder = resolve(import.meta.dirname, '../../../docs/dashboard');
const looks: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light', viewport: { width: 1_280, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1_280, height: 860 } },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
};

const customer = '+37255500001';
const find = async (page: Page, path: string, text: string) => {
  await page.goto(path);
  await page.locator('#q').fill(text);
  await page.getByRole('button', { name: 'Find' }).click();
};
const pages: Record<string, (page: Page) => Promise<unknown>> = {
  overview: (page) => page.goto('/'),
  'follow-up': (page) => page.goto('/follow-ups'),
  answers: (page) => page.goto('/answers?to=3'),
  operations: (page) => page.goto('/operations'),
  journeys: (page) => page.goto('/journeys'),
  journey: (page) => page.goto('/journeys/support/1001.1'),
  confirm: (page) => page.goto('/sources/support/ask/pause'),
  why: async (page) => {
    await page.goto('/why');
    await page.locator('#q').fill(customer);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2 }).first().waitFor();
  },
  grades: (page) => page.goto('/grades?by=Store'),
  people: (page) => find(page, '/people', customer),
  settings: (page) => page.goto('/settings'),
  login: async (page) => {
    // The demo has no users: what they are shown, with the demo's style.
    await page.goto('/nowhere');
    await page.setContent(textOf(layout({ title: 'Log in', body: loginView({ csrf: '', to: '/' }) }, undefined)));
  },
};

async function picture(browser: Browser, baseURL: string, name: string, look: string) {
  const context = await browser.newContext({ baseURL, ...looks[look] });
  const page = await context.newPage();
  await pages[name]?.(page);
  await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
  await context.close();
}

const browser = await startChromium();
const demo = background(['start', '--demo']);
try {
  const [url = ''] = (await demo.says(/See it in a browser: http:\/\/[\d.:]+/)).split(' ').slice(-1);
  // Most scenarios have ended by then.
  await demo.says(/on ticket +1013|(?:on ticket[\s\S]*){9}/);
  for (const name of Object.keys(pages)) for (const look of Object.keys(looks)) await picture(browser, url, name, look);
} finally {
  await demo.stop();
  await browser.close();
}
