import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const Evaluated = z.object({ result: z.object({ value: z.unknown() }), exceptionDetails: z.undefined().optional() });
const Findings = z.object({
  violations: z.array(z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

export interface Visit {
  page: Page;
  /** Whatever a page must never do: ask another host, run or load what its policy forbids, throw. */
  flaws: string[];
}

/** A browser window of its own for one test, on this address. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ baseURL: url, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const flaws: string[] = [];
  const { host } = new URL(url);
  page.on('request', (request) => {
    if (new URL(request.url()).host !== host) flaws.push(`asks another host: ${request.url()}`);
  });
  page.on('console', (message) => {
    // That a form was refused is what a test expects; the browser tells it as an error.
    const isRefusal = /^Failed to load resource: .* status of 4\d\d/.test(message.text());
    if (message.type() === 'error' && !isRefusal) flaws.push(message.text());
  });
  page.on('pageerror', (error) => flaws.push(error.message));
  return { page, flaws };
}

/** What axe finds on the page as it is shown now. */
export async function findings(page: Page): Promise<string[]> {
  await evaluate(page, axe);
  const { violations } = Findings.parse(await evaluate(page, "axe.run(document, { resultTypes: ['violations'] })"));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Pixels by which the page is wider than its window: people would have to scroll sideways. */
export async function overhang(page: Page): Promise<number> {
  const expression = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  return z.number().parse(await evaluate(page, expression));
}

/** The text of what has the focus, or its label's. */
export async function focused(page: Page): Promise<string> {
  const expression =
    '(({ labels, textContent }) => (labels?.[0] ?? { textContent }).textContent.trim())(document.activeElement)';
  return z.string().parse(await evaluate(page, expression));
}

/** As the developer tools do it: the page's own policy lets nothing be evaluated. */
async function evaluate(page: Page, expression: string): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  try {
    const answer = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    return Evaluated.parse(answer).result.value;
  } finally {
    await session.detach();
  }
}
