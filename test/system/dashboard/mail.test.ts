import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve } from '../../../standins/kit/server.ts';
import { htmlOf } from '../../../worker/mails/html.ts';
import { findings, overhang, visit } from '../../support/browser.ts';
import { startChromium } from '../../support/chromium.ts';
import { busyWeek, quietMonth } from '../../support/worker/mails/example.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

test.each(
  (['light', 'dark'] as const).flatMap((colorScheme) => [600, 390].map((width) => [colorScheme, width] as const)),
)('a mail is readable and fits, %s, %d pixels wide', async (colorScheme, width) => {
  for (const figures of [busyWeek, quietMonth]) {
    const server = await serve(() => ({
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: htmlOf(figures),
    }));
    const { page, flaws } = await visit(browser, server.url, { colorScheme, viewport: { width, height: 800 } });
    await page.goto('/');
    expect(await overhang(page)).toBe(0);
    // Mails have no landmarks.
    expect((await findings(page)).filter((one) => !/^(region|landmark-one-main):/.test(one))).toEqual([]);
    expect(flaws.filter((one) => !one.includes('favicon'))).toEqual([]);
    await server.close();
  }
});
