import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { findings, focused, overhang, visit } from '../../support/browser.ts';
import { startChromium } from '../../support/chromium.ts';
import { startLoop, until } from '../../support/loop.ts';
import { background } from '../../support/processes.ts';
import { useRedis } from '../../support/redis.ts';
import { ToyVendor } from '../../support/toy-connector.ts';
import { passwords, users } from '../../support/worker/dashboard/users.ts';
import { failJourneys } from '../../support/worker/failed-journeys.ts';
import { openFollowUps } from '../../support/worker/follow-ups.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

const redis = useRedis();
let sources = 0;

// What others have tried from this address says nothing about the next test.
beforeEach(async () => {
  const { client } = redis.handle;
  const keys = await client.keys('{cl}:logins:*');
  if (keys.length > 0) await client.del(...keys);
});

/** A shop where people log in, and customers have two addresses. */
async function startShop(general: object = { users }) {
  const source = `shop-${++sources}`;
  const parts = { customer: ['customer.email', 'customer.phone'] };
  const vendor = Object.assign(new ToyVendor(), { account: source, parts });
  const dashboard = `dashboard: ${JSON.stringify({ port: 0, ...general })}`;
  const loop = await startLoop(redis, { source, vendor, general: dashboard });
  const url = loop.app.dashboardUrl ?? expect.fail('no page');
  return { loop, vendor, source, url };
}

type Shop = Awaited<ReturnType<typeof startShop>>;

/** A customer has answered, and the shop did not take the grade. */
async function failedWriteBack({ loop, vendor }: Shop, id: string) {
  const customer = { email: `${id}@example.com`, phone: '+37255512345' };
  await loop.post(vendor.close(id, { customer }).delivery);
  await loop.journey(`${id}.1`, 'asked');
  loop.feedback.standin.answer({ contact: customer.email, grade: 2, comment: 'The parcel was late.' });
  const { writtenVersion: _, ...written } = await loop.journey(`${id}.1`, 'written');
  const journey = { ...written, state: 'failed' as const, why: 'the key may not write orders' };
  await loop.store.update(`${id}.1`, () => ({ journey, trace: ['failed: the key may not write orders'] }));
}

async function logIn(page: Page, name: keyof typeof passwords, path = '/') {
  await page.goto(path);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(passwords[name]);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Tab, until this has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  const passed: string[] = [];
  while ((await focused(page)) !== text) {
    passed.push(await focused(page));
    if (passed.length > 60) expect.fail(`${text} is not among ${passed.join(', ')}`);
    await page.keyboard.press('Tab');
  }
}

test('the demo names its page, which shows closings on their way, live', async () => {
  const demo = background(['start', '--demo']);
  onTestFinished(async () => void (await demo.stop()));
  const [url = ''] = (await demo.says(/See it in a browser: http:\/\/[\d.:]+/)).split(' ').slice(-1);
  const { page, flaws } = await visit(browser, url);
  await page.goto('/operations');
  // Nothing is clicked and nothing loaded again: the page does it.
  await page.locator('.flow a', { hasText: /^[1-9]\d*\s*On the record$/ }).waitFor();
  expect(await page.getByRole('row', { name: /^support/ }).count()).toBe(1);
  expect(flaws).toEqual([]);
});

test('by keyboard alone a person logs in, finds a customer by a second address, reads why the grade is not on the order, and replays it', async () => {
  const shop = await startShop();
  await failedWriteBack(shop, 'o1');
  const { page, flaws } = await visit(browser, shop.url);
  await page.goto('/journeys');
  expect(await focused(page)).toBe('Name');
  await page.keyboard.type('anna');
  await tabTo(page, 'Password');
  await page.keyboard.type(passwords.anna);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Journeys' }).waitFor();
  await tabTo(
    page,
    'E-mail address, phone number, identifier, record (or the address of its page), request or journey',
  );
  await page.keyboard.type('+372 5551 2345');
  await page.keyboard.press('Enter');
  await page.waitForURL(/person=/);
  expect(page.url()).not.toContain('5551');
  await tabTo(page, `${shop.source}/o1.1`);
  await page.keyboard.press('Enter');
  await page.getByText('the key may not write orders').first().waitFor();
  await page.getByText('The parcel was late.').waitFor();
  await tabTo(page, 'Replay…');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Replay' }).waitFor();
  await tabTo(page, 'Replay it');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  await shop.loop.journey('o1.1', 'written');
  // Live: the timeline of the page that is open.
  await page.locator('#journey .state', { hasText: 'On the record' }).waitFor();
  expect(shop.vendor.written.map(({ recordId }) => recordId)).toEqual(['o1', 'o1']);
  await page.goto('/settings');
  await page.getByRole('row', { name: new RegExp(`anna replay ${shop.source}/o1.1`) }).waitFor();
  expect(flaws).toEqual([]);
});

/** Customers have answered at two stores by two agents; of the unhappy ones somebody waits for a person. */
async function morning() {
  const source = `shop-${++sources}`;
  const vendor = Object.assign(new ToyVendor(), { account: source });
  vendor.recordUrl = (record) => `https://toy.example/records/${record}`;
  const agent = '\'ticket.store = "Tartu" ? "Maria Tamm" : "Jaan Kask"\'';
  const rule = `{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store, Agent: ${agent} } }`;
  const loop = await startLoop(redis, {
    ...{ source, vendor, rule },
    general: `dashboard: ${JSON.stringify({ port: 0, users })}`,
  });
  await openFollowUps(loop, redis, { late: -30, soon: 3 });
  for (const [id, grade, comment] of [
    ['o1', 5, 'Here the next morning.'],
    ['o2', 4, 'Well packed.'],
  ] as const) {
    await loop.post(vendor.close(id, { store: 'Tartu' }).delivery);
    await loop.journey(`${id}.1`, 'asked');
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, comment });
    await loop.journey(`${id}.1`, 'written');
  }
  return { loop, source, url: loop.app.dashboardUrl ?? expect.fail('no page') };
}

test.each([
  ['wide and light', { colorScheme: 'light', viewport: { width: 1_440, height: 900 } }],
  ['on a phone and dark', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const)(
  '%s, a manager’s morning by keyboard: from a bad answer to its ticket, its follow-up, the agent’s answers and a file',
  async (_, look) => {
    const { loop, source, url } = await morning();
    const { page, flaws } = await visit(browser, url, look);
    const isClean = async () =>
      expect([page.url(), await overhang(page), await findings(page)]).toEqual([page.url(), 0, []]);
    await page.goto('/');
    await page.keyboard.type('anna');
    await tabTo(page, 'Password');
    await page.keyboard.type(passwords.anna);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('region', { name: 'After support' }).getByText('CSAT').waitFor();
    await isClean();
    // Who waits longest is first, by their words.
    await tabTo(page, 'much too late');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Follow-up ${source}/late.1` }).waitFor();
    await isClean();
    const ticket = page.getByRole('link', { name: `${source} late` });
    expect(await ticket.getAttribute('href')).toBe('https://toy.example/records/late');
    await tabTo(page, `Done… ${source}/late.1`);
    await page.keyboard.press('Enter');
    await tabTo(page, 'What was done (seen by colleagues alone)');
    await page.keyboard.type('Called, sent a new cup');
    await isClean();
    await tabTo(page, 'Done');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('has done').waitFor();
    await page.getByText('Called, sent a new cup').waitFor();
    expect((await loop.store.get('late.1'))?.followUp).toMatchObject({ state: 'done', doneBy: 'anna' });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Answers' }).press('Enter');
    await page.getByText('Well packed.').waitFor();
    await isClean();
    await tabTo(page, 'Maria Tamm');
    await page.keyboard.press('Enter');
    await page.waitForURL(/in\.Agent=Maria/);
    expect(await page.getByText('much too late').count()).toBe(0);
    const waiting = page.waitForEvent('download');
    await tabTo(page, 'Download CSV');
    await page.keyboard.press('Enter');
    const file = await readFile(await (await waiting).path(), 'utf8');
    expect(
      file
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[3]),
    ).toEqual(['Well packed.', 'Here the next morning.']);
    expect(flaws).toEqual([]);
  },
);

test('an operator’s night by keyboard: two hundred journeys that stopped for one cause are replayed at once, and the calls of one tell that it went well', async () => {
  const { loop, source, url } = await startShop();
  const ids = Array.from({ length: 200 }, (_, i) => `n${i}`);
  await failJourneys(loop, ids);
  const { page, flaws } = await visit(browser, url);
  await logIn(page, 'anna');
  await page.getByRole('link', { name: '1 thing needs a person' }).press('Enter');
  await page.getByRole('heading', { name: 'Operations' }).waitFor();
  // Whoever looks waits little for what is counted: the page shows it when it renews itself.
  await page.getByRole('heading', { name: 'What stopped, by cause' }).waitFor();
  await page.getByRole('img', { name: /^Failed in each of the last 24 hours/ }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByText('Figures').press('Enter');
  const hours = page.getByRole('region', { name: 'The last 24 hours' });
  expect(await hours.getByRole('row').count()).toBe(25);
  await page.getByRole('link', { name: 'Replay all…' }).press('Enter');
  await page.getByRole('heading', { name: 'Replay 200 journeys?' }).waitFor();
  expect(await findings(page)).toEqual([]);
  await tabTo(page, 'Replay 200 journeys');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('200 journeys were taken up again.').waitFor();
  expect(await findings(page)).toEqual([]);
  for (const id of ids) await loop.journey(`${id}.1`, 'asked');
  expect(loop.feedback.standin.requests()).toHaveLength(200);
  await page.goto(`/journeys?source=${source}&state=asked`);
  await page
    .getByRole('link', { name: `${source}/n` })
    .first()
    .press('Enter');
  const calls = page.getByRole('region', { name: 'Calls' });
  await calls.getByRole('row', { name: /Feedback service POST \/appeals\/ \(create\) 201 \d+ 1$/ }).waitFor();
  expect(await findings(page)).toEqual([]);
  for (const width of [390, 1_440]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await overhang(page)).toBe(0);
  }
  await page.goto('/settings');
  await page.getByRole('row', { name: `anna replay of 200 journeys all that fit: ${source} failed` }).waitFor();
  expect(flaws).toEqual([]);
});

test('a person is masked, and nobody finds them by any address afterwards', async () => {
  const shop = await startShop();
  await failedWriteBack(shop, 'o1');
  const { page, flaws } = await visit(browser, shop.url);
  await logIn(page, 'anna', '/people');
  const find = async (text: string) => {
    await page.goto('/people');
    await page.getByLabel('E-mail address, phone number or identifier of a person').fill(text);
    await page.getByRole('button', { name: 'Find' }).click();
  };
  await find('o1@example.com');
  await page.getByRole('link', { name: `${shop.source}/o1.1` }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.locator('form[action="/people/confirm"] button').click();
  await page.getByLabel('Mask them, and forget them here').check();
  expect(await findings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Mask this person' }).click();
  await page.getByRole('heading', { name: /^Erasure / }).waitFor();
  await until(async () => (await shop.loop.erasures.all()).length > 0);
  await page.reload();
  expect(await findings(page)).toEqual([]);
  expect(page.url()).not.toContain('example.com');
  for (const address of ['o1@example.com', '+37255512345']) {
    await find(address);
    await page.getByText('Nothing is stored of them here.').waitFor();
  }
  expect(shop.loop.feedback.standin.requests().map(({ masked }) => masked)).toEqual([true]);
  expect(flaws).toEqual([]);
});

test('the grades of a month by store are those that the service itself has', async () => {
  const shop = await startShop({});
  const { loop, vendor } = shop;
  const grades = { a1: 5, a2: 3, a3: 1, b1: 4, b2: undefined };
  for (const [id, grade] of Object.entries(grades)) {
    await loop.post(vendor.close(id, { store: id.startsWith('a') ? 'Tallinn' : 'Tartu' }).delivery);
    await loop.journey(`${id}.1`, 'asked');
    if (grade !== undefined) loop.feedback.standin.answer({ contact: `${id}@example.com`, grade });
  }
  for (const id of ['a1', 'a2', 'a3', 'b1']) await loop.journey(`${id}.1`, 'written');
  const { page, flaws } = await visit(browser, shop.url);
  await page.goto('/grades?period=this-month&by=Store');
  const table = page.getByRole('region', { name: 'Store, After support' });
  for (const store of ['Tallinn', 'Tartu']) {
    const all = loop.feedback.standin
      .requests()
      .filter(({ customFields }) => Object.values(customFields).includes(store));
    const answered = all.filter(({ grade }) => grade !== null);
    const good = answered.filter(({ grade }) => (grade ?? 0) >= 4);
    const cells = await table.getByRole('row', { name: store }).getByRole('cell').allTextContents();
    const rate = `${Math.round((100 * answered.length) / all.length)} %`;
    const csat = `${Math.round((1_000 * good.length) / answered.length) / 10} %`;
    expect([store, ...cells.slice(0, 4)]).toEqual([store, `${all.length}`, `${answered.length}`, rate, csat]);
  }
  await page.getByLabel('By', { exact: true }).selectOption('Agent');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('heading', { name: 'By Agent' }).waitFor();
  expect(await findings(page)).toEqual([]);
  expect(flaws).toEqual([]);
});

test('a wrong password is refused, and after ten of them the right one, too', async () => {
  const { url } = await startShop();
  const { page, flaws } = await visit(browser, url);
  await page.goto('/');
  for (let i = 0; i < 11; i++) {
    await page.getByLabel('Name').fill('anna');
    await page.getByLabel('Password').fill(i < 10 ? `wrong ${i}` : passwords.anna);
    await page.getByRole('button', { name: 'Log in' }).click();
    const told = i < 10 ? 'The name or the password is wrong.' : /^Too many attempts\. Try again in 1\d minutes\.$/;
    await page.getByRole('alert').getByText(told).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('anna');
    if (i === 0) expect(await findings(page)).toEqual([]);
  }
  expect(flaws).toEqual([]);
});

test('who may only look is shown no button', async () => {
  const shop = await startShop();
  await failedWriteBack(shop, 'o1');
  const { page } = await visit(browser, shop.url);
  await logIn(page, 'bob', `/journeys/${shop.source}/o1.1`);
  await page.getByText('bob (may look)').waitFor();
  expect(await page.getByRole('link', { name: /…$/ }).count()).toBe(0);
  expect((await page.goto(`/journeys/${shop.source}/o1.1/replay`))?.status()).toBe(403);
});

describe('a form that no page of ours made is refused', () => {
  test('with the login of a person who is there, and a token of somebody else', async () => {
    const shop = await startShop();
    await failedWriteBack(shop, 'o1');
    const { page } = await visit(browser, shop.url);
    await logIn(page, 'anna', `/journeys/${shop.source}/o1.1/cancel`);
    await page
      .locator('form[action$="/cancel"] [name=csrf]')
      .evaluate((field) => field.setAttribute('value', 'A'.repeat(43)));
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByText('This form did not come from this page').waitFor();
    expect((await shop.loop.store.get('o1.1'))?.state).toBe('failed');
  });

  test.each([
    ['where people log in', { users }, 'You are not logged in'],
    ['on this machine', {}, 'This form did not come from this page'],
  ])('from another site, %s', async (_, general, told) => {
    const shop = await startShop(general);
    await failedWriteBack(shop, 'o1');
    const action = `${shop.url}/journeys/${shop.source}/o1.1/cancel`;
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<form method="post" action="${action}"><input name="why" value="x"><button>Win a prize</button></form>`,
      );
    });
    await new Promise<void>((ready) => evil.listen(0, '127.0.0.1', ready));
    onTestFinished(async () => void evil.close());
    const { port } = z.object({ port: z.number() }).parse(evil.address());
    const { page } = await visit(browser, shop.url);
    if ('users' in general) await logIn(page, 'anna');
    else await page.goto(`/journeys/${shop.source}/o1.1/cancel`);
    await page.goto(`http://localhost:${port}/`);
    await page.getByRole('button').click();
    await page.getByText(told).waitFor();
    expect((await shop.loop.store.get('o1.1'))?.state).toBe('failed');
  });
});

test('on every page axe finds nothing, light and dark, and a phone need not scroll sideways', async () => {
  const shop = await startShop();
  await failedWriteBack(shop, 'o1');
  const { page, flaws } = await visit(browser, shop.url);
  await logIn(page, 'anna');
  const tabs = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all();
  const paths = await Promise.all(tabs.map((tab) => tab.getAttribute('href')));
  expect(paths.length).toBeGreaterThan(3);
  const journey = `/journeys/${shop.source}/o1.1`;
  const others = [
    journey,
    `${journey}/replay`,
    `${journey}/cancel`,
    `/sources/${shop.source}/ask/pause`,
    '/logout',
    '/nowhere',
  ];
  for (const path of [...paths, ...others]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(path ?? '');
      expect([path, colorScheme, await findings(page)]).toEqual([path, colorScheme, []]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    expect([path, await overhang(page), await findings(page)]).toEqual([path, 0, []]);
    await page.setViewportSize({ width: 1_280, height: 800 });
  }
  expect(flaws).toEqual([]);
});
