import { describe, expect, test } from 'vitest';
import { numbered } from '../../../../core/connector/record-name.ts';
import { journeysOf } from '../../../../worker/dashboard/journeys.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
let sources = 0;

async function startShown(rule?: string, vendor?: ToyVendor) {
  const source = `page-${++sources}`;
  const loop = await startLoop(redis, {
    source,
    general: 'dashboard: { port: 0, requestUrl: "https://feedback.example.com/requests/{request}" }',
    ...(rule !== undefined && { rule }),
    ...(vendor && { vendor: Object.assign(vendor, { account: source }) }),
  });
  return { loop, source, ...visitorOf(loop.app) };
}

type Shown = Awaited<ReturnType<typeof startShown>>;

/** A journey whose request the service refused, as a person meets it. */
async function failed({ loop }: Shown, id: string) {
  await loop.post(loop.vendor.close(id, { customer: {} }).delivery);
  const skipped = await loop.journey(`${id}.1`, 'skipped');
  const { reason: _, ...rest } = skipped;
  const journey = { ...rest, state: 'failed' as const, why: 'the service refuses it' };
  await loop.store.update(`${id}.1`, () => ({ journey, trace: ['failed: the service refuses it'] }));
}

const refsIn = (text: string): string[] =>
  [...text.matchAll(/<a href="\/journeys\/[^"]+">([^<]+)<\/a>/g)].map(([, ref = '']) => ref);

describe('the list of journeys', () => {
  test('filters by state and reason, and shows why', async () => {
    const shown = await startShown();
    const { loop, source, get } = shown;
    await loop.post(loop.vendor.close('l1').delivery);
    await loop.post(loop.vendor.close('l2', { customer: {} }).delivery);
    await loop.journey('l1.1', 'asked');
    await loop.journey('l2.1', 'skipped');
    expect(refsIn((await get(`/journeys?source=${source}`)).text).sort()).toEqual([`${source}/l1.1`, `${source}/l2.1`]);
    expect(refsIn((await get(`/journeys?source=${source}&state=skipped`)).text)).toEqual([`${source}/l2.1`]);
    expect(refsIn((await get(`/journeys?source=${source}&reason=no-contact`)).text)).toEqual([`${source}/l2.1`]);
    expect(refsIn((await get(`/journeys?source=${source}&rule=all&state=asked`)).text)).toEqual([`${source}/l1.1`]);
    expect(refsIn((await get(`/journeys?source=${source}&rule=other`)).text)).toEqual([]);
    const day = new Date().toISOString().slice(0, 10);
    const before = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
    expect(refsIn((await get(`/journeys?source=${source}&since=${before}`)).text)).toHaveLength(2);
    expect(refsIn((await get(`/journeys?source=${source}&until=${before}`)).text)).toEqual([]);
    expect((await get(`/journeys?source=${source}&state=none&since=${day}x&after=zz`)).status).toBe(200);
  });

  test('finds a customer by the address, and a record and a request by their ids, with no address in an address', async () => {
    const vendor = new ToyVendor();
    vendor.recordNames = numbered((id) => /^\w+$/.test(id));
    vendor.recordUrl = (id) => `https://toy.example/records/${id}`;
    const pages = ['https://toy.example/records/found', 'https://toy.example/records/found/?tab=1#top'];
    const { loop, source, get, post } = await startShown(undefined, vendor);
    await loop.post(loop.vendor.close('found', { customer: { email: 'Kati@Example.com' } }).delivery);
    const { requestId = '' } = await loop.journey('found.1', 'asked');
    for (const q of [
      ' kati@example.COM',
      'found',
      '#found',
      `${source}/found`,
      `${source}/#found`,
      ...pages,
      requestId,
    ]) {
      const { status, to } = await post('/journeys/search', { q });
      expect(status).toBe(303);
      expect(to).not.toMatch(/kati|%40|@/i);
      expect(refsIn((await get(to)).text)).toContain(`${source}/found.1`);
    }
    expect((await post('/journeys/search', { q: `${source}/found.1` })).to).toBe(`/journeys/${source}/found.1`);
    expect((await post('/journeys/search', { q: '' })).to).toBe('/journeys');
    const unknown = await get((await post('/journeys/search', { q: 'nobody@example.com' })).to);
    expect(unknown.text).toContain('No journey is known of that');
    expect(JSON.stringify(loop.told)).not.toMatch(/kati|nobody@/i);
  });

  test('shows every journey once, page by page, of all and of one customer, also where many were changed in one millisecond', async () => {
    const { loop, source, get, post } = await startShown();
    const contact = { kind: 'email', value: 'orders@example.com' } as const;
    const ids = Array.from({ length: 120 }, (_, i) => `p${i}`);
    const at = new Date('2026-11-01T10:00:00Z');
    for (const recordId of ids) {
      const about = { recordId, closing: 'c', closedAt: at, eventKey: 'k', receivedAt: at };
      const { journey } = await loop.store.getOrCreate(about, []);
      const state = Number(recordId.slice(1)) % 2 === 0 ? 'skipped' : 'failed';
      await loop.store.update(journey, (now) => ({
        journey: step(now, state, at, { why: 'for this test', contact }),
        trace: [],
      }));
    }
    for (const first of [`/journeys?source=${source}`, (await post('/journeys/search', { q: contact.value })).to]) {
      const pages: string[][] = [];
      for (let to: string | undefined = first; to !== undefined; ) {
        const { text } = await get(to);
        pages.push(refsIn(text));
        to = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
      expect(new Set(pages.flat())).toEqual(new Set(ids.map((id) => `${source}/${id}.1`)));
    }
    const { to } = await post('/journeys/search', { q: contact.value });
    const person = new URL(to, 'http://page').searchParams.get('person') ?? '';
    const options = { engine: () => loop.app.engine, config: () => expect.fail('not asked for'), now: () => at };
    const newest = await journeysOf({ person }, options, { size: 50, most: 30 });
    expect([newest.journeys.length, newest.isCut, newest.next]).toEqual([30, true, undefined]);
  });
});

describe('a journey', () => {
  test('is shown with what happened, whom it is about and its grade, all as text', async () => {
    const { loop, source, get } = await startShown();
    await loop.post(loop.vendor.close('j1').delivery);
    await loop.journey('j1.1', 'asked');
    loop.feedback.standin.answer({ contact: 'j1@example.com', grade: 4, comment: '<script>alert("hi")</script>' });
    await loop.journey('j1.1', 'written');
    const { status, text } = await get(`/journeys/${source}/j1.1`);
    expect(status).toBe(200);
    expect(text).toContain('&lt;script&gt;alert(&quot;hi&quot;)&lt;/script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('j1@example.com (email)');
    expect(text).toMatch(/<dt>Grade<\/dt><dd>4/);
    expect(text).toMatch(/<a href="https:\/\/feedback\.example\.com\/requests\/(\d+)" rel="noreferrer">\1<\/a>/);
    const { length } = await loop.store.trace('j1.1');
    expect(text.match(/<li><time/g)).toHaveLength(length);
    expect((await get(`/journeys/${source}/j9.1`)).status).toBe(404);
    expect((await get('/journeys/nowhere/j1.1')).status).toBe(404);
  });

  test("shows what was answered to each question of a survey, with the question's text", async () => {
    const { loop, source, get } = await startShown();
    await loop.post(loop.vendor.close('q1').delivery);
    const { requestId } = await loop.journey('q1.1', 'asked');
    const answers = { 713: '<b>More & better</b>', 711: 9, 999: true };
    const survey = { kind: 'survey', key: 's', what: 'survey', at: new Date(), requestId, answers };
    await loop.post(JSON.stringify({ plain: [survey] }));
    await loop.journey('q1.1', 'written');
    const { text } = await get(`/journeys/${source}/q1.1`);
    expect(text).toMatch(
      /<dt>How likely are you to recommend us\?<\/dt><dd>9<\/dd>[\s\S]*<dt>What should we do better\?<\/dt><dd>&lt;b&gt;More &amp; better/,
    );
    expect(text).toContain('<dt>Question 999</dt><dd>true</dd>');
    expect(JSON.stringify(loop.told)).not.toContain('better');
  });

  test('is replayed after a confirmation, and the audit log says by whom', async () => {
    const shown = await startShown();
    const { loop, source, get, submit } = shown;
    await failed(shown, 'r1');
    const record = loop.vendor.records.get('r1') ?? expect.fail('no record');
    loop.vendor.records.set('r1', { ...record, customer: { email: 'r1@example.com' } });
    const at = `/journeys/${source}/r1.1`;
    expect((await get(at)).text).toContain(`href="${at}/replay"`);
    expect(await submit(`${at}/replay`)).toMatchObject({ status: 303, to: `${at}?did=replay` });
    await loop.journey('r1.1', 'asked');
    const { text } = await get('/settings');
    expect(text).toMatch(
      new RegExp(`>somebody on this machine</td>\\s*<td[^>]*>replay</td>\\s*<td class="ref"[^>]*>${source}/r1.1</td>`),
    );
  });

  test('that waits tells when it asks on the clock of the account and of the recipient, in its timeline as well', async () => {
    const { loop, source, get } = await startShown('{ name: late, campaign: 12, contact: customer.email, delay: 48h }');
    await loop.post(loop.vendor.close('z1', { timeZone: 'Asia/Tokyo' }).delivery);
    await loop.journey('z1.1', 'waiting');
    const { text } = await get(`/journeys/${source}/z1.1`);
    expect(text.match(/\(Asia\/Tokyo, the recipient's\)/g)).toHaveLength(2);
    expect(text).toMatch(/<\/time> \(Asia\/Tokyo, the recipient's\)<br>planned: the customer is asked/);
  });

  test('that waits is asked ahead of its time, once, and the audit log says so', async () => {
    const { loop, source, get, submit } = await startShown(
      '{ name: late, campaign: 12, contact: customer.email, delay: 48h }',
    );
    await loop.post(loop.vendor.close('n1').delivery);
    await loop.journey('n1.1', 'waiting');
    const at = `/journeys/${source}/n1.1`;
    expect((await get(at)).text).toContain(`href="${at}/ask-now"`);
    const [one, other] = await Promise.all([submit(`${at}/ask-now`), submit(`${at}/ask-now`)]);
    expect([one.status, other.status]).toContain(303);
    await loop.journey('n1.1', 'asked');
    expect(loop.feedback.standin.requests()).toHaveLength(1);
    expect((await submit(`${at}/ask-now`)).status).not.toBe(303);
    expect((await get('/settings')).text).toMatch(/>ask-now<\/td>/);
  });

  test('is cancelled with its reason', async () => {
    const shown = await startShown();
    await failed(shown, 'c1');
    const at = `/journeys/${shown.source}/c1.1`;
    expect((await shown.submit(`${at}/cancel`, { why: 'a test of ours' })).status).toBe(303);
    expect(await shown.loop.store.get('c1.1')).toMatchObject({ state: 'cancelled', why: 'a test of ours' });
  });

  test('that is parked is resolved by what a person found out', async () => {
    const shown = await startShown();
    const { loop, source, submit } = shown;
    await loop.post(loop.vendor.close('s1').delivery);
    const asked = await loop.journey('s1.1', 'asked');
    const { requestId = '', ...rest } = asked;
    const journey = { ...rest, state: 'parked' as const, why: 'nobody knows' };
    await loop.store.update('s1.1', () => ({ journey, trace: [] }));
    // Of the test's own making: nothing else unlinks a request from its journey.
    const [bucket = ''] = await redis.handle.client.keys(`{cl:${source}}:requests:*`);
    await redis.handle.client.hdel(bucket, requestId);
    const at = `/journeys/${source}/s1.1/resolve`;
    expect(await submit(at)).toMatchObject({ status: 409, text: expect.stringContaining('Choose what you found out') });
    expect(await submit(at, { as: 'asked', request: '' })).toMatchObject({ status: 409 });
    expect(await submit(at, { as: 'asked', request: requestId })).toMatchObject({ status: 303 });
    expect(await loop.store.get('s1.1')).toMatchObject({ state: 'asked', requestId });
  });

  test('that is as it should be is left alone, and who tries is told why', async () => {
    const { loop, source, get, submit } = await startShown();
    await loop.post(loop.vendor.close('w1').delivery);
    await loop.journey('w1.1', 'asked');
    const at = `/journeys/${source}/w1.1`;
    expect((await get(`${at}/replay`)).text).toContain(
      'That does not help this journey as it is: <span class="state go">Asked</span>',
    );
    const { text: cancelling } = await get(`${at}/cancel`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(cancelling)?.[1] ?? '';
    const refused = await submit(`${at}/replay`, { csrf });
    expect(refused).toMatchObject({ status: 409, text: expect.stringContaining('the customer was asked') });
    expect((await get('/settings')).text).toContain('replay was refused');
    expect(await get(`${at}/explode`)).toMatchObject({ status: 404 });
  });
});

describe('a form that no page of ours sent is refused, and does nothing', () => {
  test.each<[what: string, fields: Record<string, string>, headers: Record<string, string>]>([
    ['without a token', { csrf: '' }, {}],
    ['with a token of nobody', { csrf: 'A'.repeat(43) }, {}],
    ['from another site', {}, { origin: 'https://evil.example' }],
    ['from a page of no origin', {}, { origin: 'null' }],
    ['from another port of this machine', {}, { 'sec-fetch-site': 'same-site' }],
    ['from another site, as the browser says', {}, { 'sec-fetch-site': 'cross-site' }],
    ['with a forged cookie', {}, { cookie: `closeloop-visit=${'B'.repeat(43)}` }],
    ['without its cookie', {}, { cookie: 'closeloop-visit=' }],
  ])('%s', async (_, fields, headers) => {
    const shown = await startShown();
    await failed(shown, 'f1');
    const refused = await shown.submit(`/journeys/${shown.source}/f1.1/cancel`, fields, headers);
    expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('Nothing was done') });
    expect((await shown.loop.store.get('f1.1'))?.state).toBe('failed');
  });
});
