import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
let sources = 0;

async function startShown() {
  const loop = await startLoop(redis, { source: `shown-${++sources}`, general: 'dashboard: { port: 0 }' });
  const { dashboardUrl = '' } = loop.app;
  return { loop, get: (path: string) => fetch(new URL(path, dashboardUrl)), dashboardUrl };
}

/** As a browser would that was led here under another name: fetch sets `Host` itself. */
function statusAs(host: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });
}

describe('the page', () => {
  test('shows how many journeys are in each state', async () => {
    const { loop, get } = await startShown();
    await loop.post(loop.vendor.close('f1').delivery);
    await loop.journey('f1.1', 'asked');
    const response = await get('/');
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/<b>1<\/b> asked/);
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
