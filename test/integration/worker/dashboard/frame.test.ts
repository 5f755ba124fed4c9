import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingHttpHeaders, request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
let sources = 0;

async function startShown() {
  const loop = await startLoop(redis, { source: `shown-${++sources}`, general: 'dashboard: { port: 0 }' });
  const { dashboardUrl = '' } = loop.app;
  return { loop, get: (path: string) => fetch(new URL(path, dashboardUrl)), dashboardUrl };
}

/** What any stand-in is asked from now on. */
function serviceCalls(): string[] {
  const calls: string[] = [];
  const note = (message: unknown) => void calls.push(JSON.stringify(message));
  subscribe('closeloop:standin-request', note);
  onTestFinished(() => void unsubscribe('closeloop:standin-request', note));
  return calls;
}

/** `fetch` sets `Host` and `Sec-Fetch-Mode` itself. */
function responseTo(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    asked.on('error', reject).end();
  });
}

/** As a browser would that was led here under another name. */
async function statusAs(host: string, url: string): Promise<number | undefined> {
  return (await responseTo(url, { host })).status;
}

describe('the page', () => {
  test('shows how many journeys are in each state', async () => {
    const { loop, get } = await startShown();
    await loop.post(loop.vendor.close('f1').delivery);
    await loop.journey('f1.1', 'asked');
    const response = await get('/operations');
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/<b>1<\/b> Asked/);
  });

  test('lets browsers load nothing of others, nothing inline, and in no frame', async () => {
    const { get } = await startShown();
    for (const path of ['/', '/assets/style.css', '/nowhere']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('same-origin');
    }
    expect((await get('/')).headers.get('cache-control')).toBe('no-store');
    expect(await (await get('/')).text()).not.toMatch(
      /<style|style=|<script(?![^>]* src="\/assets\/)|\son\w+=|https?:/,
    );
  });

  test.each(['evil.example', 'evil.example:8082', '127.0.0.1.evil.example', '10.0.0.7:8082'])(
    'is not shown under the name "%s"',
    async (host) => {
      const { dashboardUrl } = await startShown();
      const { port } = new URL(dashboardUrl);
      expect(await statusAs(host, dashboardUrl)).toBe(421);
      expect(await statusAs(`localhost:${port}`, dashboardUrl)).toBe(200);
      expect(await statusAs(`[::1]:${port}`, dashboardUrl)).toBe(200);
    },
  );

  test.each([
    ['whose percent-encoding is malformed', '/%zz'],
    ['with a part that is malformed', '/journeys/shop/%E0%A4%A'],
    ['with a part that is too long', `/journeys/shop/${'x'.repeat(1_001)}`],
  ])('guards an address %s as any other', async (_what, path) => {
    const { dashboardUrl, get } = await startShown();
    const url = `${dashboardUrl}${path}`;
    const foreign = await responseTo(url, { host: 'evil.example' });
    expect(foreign.status).toBe(421);
    const own = await get(path);
    expect([own.status, await own.text()]).toEqual([400, 'This address can not be read.\n']);
    for (const headers of [foreign.headers, Object.fromEntries(own.headers)]) {
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test.each([
    ['origin', { origin: 'https://evil.example' }],
    ['origin, which the browser keeps to itself', { origin: 'null' }],
    ['site', { 'sec-fetch-site': 'cross-site' }],
    ['neighbouring site', { 'sec-fetch-site': 'same-site' }],
  ])(
    'without users answers no search from another %s, and does not call the service for it',
    async (_what, headers) => {
      const { loop } = await startShown();
      const { post } = visitorOf(loop.app);
      const calls = serviceCalls();
      for (const path of ['/people', '/why', '/journeys/search'])
        expect([path, (await post(path, { q: 'kati@example.com' }, headers)).status]).toEqual([path, 403]);
      expect(calls.filter((call) => call.includes('kati'))).toEqual([]);
      // As a picture there would be; a link to this page may be followed.
      const statusOf = async (mode: string) =>
        (await responseTo(`${loop.app.dashboardUrl}/why`, { ...headers, 'sec-fetch-mode': mode })).status;
      expect([await statusOf('no-cors'), await statusOf('navigate')]).toEqual([403, 200]);
      const own = { origin: new URL(loop.app.dashboardUrl ?? '').origin, 'sec-fetch-site': 'same-origin' };
      expect((await post('/people', { q: 'kati@example.com' }, own)).status).toBe(200);
      expect(calls.filter((call) => call.includes('kati'))).not.toEqual([]);
    },
  );

  test('serves its style and script, and says when the browser has them already', async () => {
    const { get, dashboardUrl } = await startShown();
    const style = await get('/assets/style.css');
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    const etag = style.headers.get('etag') ?? '';
    const again = await fetch(new URL('/assets/style.css', dashboardUrl), { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect((await get('/assets/live.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect((await get('/assets/../dashboard.ts')).status).toBe(404);
    expect((await get('/nowhere')).status).toBe(404);
  });

  test('goes by the configuration that the process has after a reload', async () => {
    const { loop, get } = await startShown();
    await loop.app.reload();
    expect((await get('/')).status).toBe(200);
  });

  test('is nowhere where the configuration says so', async () => {
    const loop = await startLoop(redis, { source: 'hidden', general: 'dashboard: false' });
    expect(loop.app.dashboardUrl).toBeUndefined();
  });
});
