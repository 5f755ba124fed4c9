import { request } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { Dashboard } from '../../../../worker/config/dashboard.ts';
import { Audit } from '../../../../worker/dashboard/audit.ts';
import { Logins } from '../../../../worker/dashboard/login.ts';
import { LoginLimit } from '../../../../worker/dashboard/login-limit.ts';
import { Sessions } from '../../../../worker/dashboard/sessions.ts';
import { memoryLog, startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';
import { hashOf, passwords, users } from '../../../support/worker/dashboard/users.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
let sources = 0;
const publicUrl = 'https://closeloop.example.com';

// What others have tried from this address says nothing about the next test.
beforeEach(async () => {
  const { client } = redis.handle;
  const keys = await client.keys('{cl}:logins:*');
  if (keys.length > 0) await client.del(...keys);
});

async function startGuarded() {
  const source = `guarded-${++sources}`;
  const general = `dashboard: ${JSON.stringify({ port: 0, publicUrl, trustProxy: ['127.0.0.1'], users })}`;
  const loop = await startLoop(redis, { source, general });
  const visit = () => {
    const visitor = visitorOf(loop.app);
    const login = (name: string, password: string, path = '/login') => visitor.submit(path, { name, password });
    return { ...visitor, login };
  };
  return { loop, source, visit };
}

describe('a page with users', () => {
  test('shows nothing to who has not logged in, and leads them to where they do', async () => {
    const { visit, loop } = await startGuarded();
    const { get, post } = visit();
    for (const path of ['/', '/journeys', '/settings', '/nowhere', '/logout', '/journeys/x/y/cancel']) {
      const { status, text, headers } = await get(path);
      expect([path, status, text]).toEqual([path, 303, '']);
      expect(headers.get('location')).toMatch(/^\/login/);
    }
    expect(await post('/journeys/search', { q: 'x' })).toMatchObject({ status: 401 });
    expect(await post('/sources/x/ask/pause', {})).toMatchObject({ status: 401 });
    const login = await get('/login?to=%2Fjourneys');
    expect(login).toMatchObject({ status: 200, text: expect.not.stringContaining('<nav') });
    expect((await fetch(new URL('/assets/style.css', loop.app.dashboardUrl))).status).toBe(200);
  });

  test('lets in who knows the password, to where they wanted, until they log out', async () => {
    const { visit } = await startGuarded();
    const anna = visit();
    const done = await anna.login('anna', passwords.anna, '/login?to=%2Fjourneys%3Fstate%3Dfailed');
    expect(done).toMatchObject({ status: 303, to: '/journeys?state=failed' });
    const { status, text } = await anna.get('/');
    expect(status).toBe(200);
    expect(text).toContain('<p class="who">anna <a href="/logout">Log out</a></p>');
    const [session = ''] = [...anna.cookies.values()].slice(-1);
    expect((await anna.post('/logout', { csrf: 'x' })).status).toBe(403);
    expect(await anna.submit('/logout')).toMatchObject({ status: 303, to: '/login' });
    expect((await anna.get('/')).status).toBe(303);
    // Nor does the id help whoever has kept it.
    anna.cookies.set('closeloop-session', session);
    expect((await anna.get('/')).status).toBe(303);
  });

  test('tells neither in words nor in time whether a name is known, and notes no password', async () => {
    const { visit, loop } = await startGuarded();
    const times = { anna: [0], 'hunter2 is no name': [0] };
    const texts = new Set<string>();
    for (let i = 0; i < 3; i++) {
      for (const name of ['anna', 'hunter2 is no name'] as const) {
        const { get, post } = visit();
        const csrf = /name="csrf" value="([^"]*)"/.exec((await get('/login')).text)?.[1] ?? '';
        // The time that it takes cores: on a busy machine the one or the other waits for them.
        const before = process.cpuUsage();
        const { status, text } = await post('/login', { csrf, name, password: 'wrong horse' });
        const { user, system } = process.cpuUsage(before);
        times[name].push(user + system);
        expect(status).toBe(401);
        texts.add(text.replaceAll(name, '').replace(/value="[\w-]{43}"/, ''));
      }
    }
    expect(texts.size).toBe(1);
    const [known, unknown] = Object.values(times).map((all) => Math.min(...all.slice(1)));
    expect((unknown ?? 0) / (known ?? 0)).toBeGreaterThan(0.3);
    const noted = JSON.stringify([await new Audit(redis.handle.client, 'audit-logins').last(100), loop.told]);
    expect(noted).toContain('"who":"anna","what":"login failed"');
    expect(noted).toContain('"who":"somebody unknown","what":"login failed"');
    expect(noted).not.toMatch(/horse|hunter2/);
  });

  test('refuses a name after ten wrong passwords, also the right one, in every process; others log in', async () => {
    const { visit } = await startGuarded();
    for (let i = 0; i < 10; i++) expect((await visit().login('anna', `wrong ${i}`)).status).toBe(401);
    const refused = await visit().login('anna', passwords.anna);
    expect(refused).toMatchObject({ status: 429, text: expect.stringMatching(/Try again in 1\d minutes\./) });
    const { loop: other } = await startGuarded();
    expect(await visitorOf(other.app).submit('/login', { name: 'anna', password: passwords.anna })).toMatchObject({
      status: 429,
    });
    expect((await visit().login('bob', passwords.bob)).status).toBe(303);
    const [last] = (await new Audit(redis.handle.client, 'audit-logins').last(2)).slice(1);
    expect(last).toMatchObject({ who: 'anna', what: 'login refused: too many attempts' });
  });

  test('shows who may only look no button, and takes nothing from them', async () => {
    const { visit, loop, source } = await startGuarded();
    await loop.post(loop.vendor.close('r1').delivery);
    await loop.journey('r1.1', 'asked');
    const [anna, bob] = [visit(), visit()];
    await anna.login('anna', passwords.anna);
    await bob.login('bob', passwords.bob);
    const acts = [`/journeys/${source}/r1.1/cancel`, `/sources/${source}/ask/pause`];
    for (const [i, path] of [`/journeys/${source}/r1.1`, '/operations'].entries()) {
      const href = `href="${acts[i]}"`;
      expect((await anna.get(path)).text).toContain(href);
      expect((await bob.get(path)).text).not.toContain(href);
    }
    const csrf = /name="csrf" value="([^"]*)"/.exec((await bob.get('/logout')).text)?.[1] ?? '';
    for (const path of acts) {
      expect(await bob.get(path)).toMatchObject({ status: 403, text: expect.stringContaining('not act') });
      expect((await bob.post(path, { csrf, why: 'x' })).status).toBe(403);
    }
    expect(await loop.store.get('r1.1')).toMatchObject({ state: 'asked' });
    expect((await bob.post('/journeys/search', { q: 'r1' })).status).toBe(303);
  });

  test('notes by whom something was done; forms of one login are none of another', async () => {
    const { visit, source } = await startGuarded();
    const [anna, again] = [visit(), visit()];
    for (const one of [anna, again]) await one.login('anna', passwords.anna);
    const path = `/sources/${source}/ask/pause`;
    const csrf = /name="csrf" value="([^"]*)"/.exec((await again.get(path)).text)?.[1] ?? '';
    expect((await anna.post(path, { csrf, why: 'x' })).status).toBe(403);
    expect((await anna.submit(path, { why: 'the text is wrong' })).status).toBe(303);
    const { text } = await anna.get('/settings');
    expect(text).toMatch(new RegExp(`>anna</td>\\s*<td[^>]*>pause ask</td>\\s*<td class="ref"[^>]*>${source}</td>`));
    expect(text).toMatch(/>anna<\/td>\s*<td[^>]*>logged in<\/td>/);
    await anna.submit(`/sources/${source}/ask/resume`);
  });

  test('is shown under its public address, with cookies for TLS and this host alone', async () => {
    const { loop } = await startGuarded();
    const url = new URL('/login', loop.app.dashboardUrl);
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    const cookies = await cookiesAs({ host: 'closeloop.example.com', ...forwarded }, url);
    expect(cookies).toEqual([
      expect.stringMatching(/^__Host-closeloop-visit=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    // A proxy that asks under a name of this machine would show the page to anybody.
    expect(await cookiesAs({ host: `127.0.0.1:${url.port}`, ...forwarded }, url)).toBe(421);
    expect(await cookiesAs({ host: 'evil.example' }, url)).toBe(421);
  });

  test('takes forms that a proxy passes on under its address with the port, and none of another page', async () => {
    const { loop } = await startGuarded();
    const url = new URL('/login', loop.app.dashboardUrl);
    const host = { host: 'closeloop.example.com:443', 'x-forwarded-for': '192.0.2.7' };
    const { cookies, text } = await sent(host, url);
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(text) ?? [];
    const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
    const form = new URLSearchParams({ csrf, name: 'anna', password: 'wrong' }).toString();
    const statusOf = async (origin: string) =>
      (await sent({ ...host, cookie, origin, 'content-type': 'application/x-www-form-urlencoded' }, url, form)).status;
    expect(await statusOf('https://closeloop.example.com')).toBe(401);
    expect(await statusOf('https://closeloop.example.com:444')).toBe(403);
    expect(await statusOf('https://evil.example')).toBe(403);
    expect(await statusOf('null')).toBe(403);
  });
});

/** What a response sets; its status where it is another than 200. */
async function cookiesAs(headers: Record<string, string>, url: URL): Promise<string[] | number | undefined> {
  const { status, cookies } = await sent(headers, url);
  return status === 200 ? cookies : status;
}

interface Shown {
  status: number | undefined;
  cookies: string[];
  text: string;
}

/** `fetch` sets `Host` itself. @param body sent by POST */
function sent(headers: Record<string, string>, url: URL, body?: string): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode, cookies: response.headers['set-cookie'] ?? [], text }),
      );
    });
    asked.on('error', reject).end(body);
  });
}

describe('a session', () => {
  const settingsOf = (written = users) => Dashboard.parse({ users: written, sessions: { idle: '10m', longest: '1h' } });

  function open() {
    const at = { now: new Date('2026-11-23T09:00:00Z'), settings: settingsOf() };
    const { client } = redis.handle;
    const sessions = new Sessions({ redis: client, seal: testSeal, settings: () => at.settings, now: () => at.now });
    const [anna] = at.settings.users;
    const begin = async () => await sessions.begin(anna ?? expect.fail('no user'));
    return { at, sessions, begin, client };
  }

  test('ends when nobody uses it, when it is old, with another password, and with its user', async () => {
    const { at, sessions, begin, client } = open();
    const id = await begin();
    const { session = '' } = (await sessions.find(id, { isUsed: false })) ?? {};
    expect(await client.pttl(session)).toBeGreaterThan(9 * 60_000);
    await client.pexpire(session, 60_000);
    await sessions.find(id, { isUsed: false });
    expect(await client.pttl(session)).toBeLessThanOrEqual(60_000);
    at.now = new Date('2026-11-23T09:55:00Z');
    expect(await sessions.find(id, { isUsed: true })).toMatchObject({ name: 'anna', role: 'act' });
    const ttl = await client.pttl(session);
    expect(ttl > 60_000 && ttl <= 5 * 60_000).toBe(true);
    at.now = new Date('2026-11-23T10:00:00Z');
    expect(await sessions.find(id, { isUsed: true })).toBeUndefined();
    expect(await client.exists(session)).toBe(0);

    for (const changed of [
      users.slice(1),
      users.map((one) => ({ ...one, password: hashOf('another one altogether') })),
    ]) {
      at.settings = settingsOf();
      const other = await begin();
      at.settings = settingsOf(changed);
      expect(await sessions.find(other, { isUsed: true })).toBeUndefined();
    }
  });

  test('has the role that its user has now; Redis holds neither its id nor a password', async () => {
    const { at, sessions, begin, client } = open();
    const id = await begin();
    at.settings = settingsOf(users.map((one) => ({ ...one, role: 'read' })));
    expect(await sessions.find(id, { isUsed: true })).toMatchObject({ role: 'read' });
    const keys = await client.keys('{cl}:session:*');
    const stored = JSON.stringify([keys, ...(await Promise.all(keys.map((key) => client.get(key))))]);
    expect(stored).not.toContain(id);
    expect(stored).not.toContain('scrypt');
    for (const wrong of ['', 'x'.repeat(43), '*', `${id}x`]) {
      expect(await sessions.find(wrong, { isUsed: true })).toBeUndefined();
    }
  });
});

test('an attempt that was not made does not count', async () => {
  const limit = new LoginLimit({ redis: redis.handle.client, seal: testSeal });
  const attempt = { name: 'anna', address: '192.0.2.1' };
  for (let i = 0; i < 10; i++) expect(await limit.count(attempt)).toBe(0);
  expect(await limit.count(attempt)).toBeGreaterThan(0);
  await limit.takeBack(attempt);
  expect(await limit.count(attempt)).toBe(0);
  expect(await limit.count(attempt)).toBeGreaterThan(0);
});

test('of many attempts at once no more are compared than may be made in a row, and a right one gives the address its place back', async () => {
  const settings = Dashboard.parse({ users });
  const { log } = memoryLog();
  const options = { redis: redis.handle.client, seal: testSeal, settings: () => settings, log };
  const [one, other] = [new Logins(options), new Logins(options)];
  const attempt = { name: 'anna', address: '2001:db8::1', password: 'wrong' };
  const all = await Promise.all(Array.from({ length: 16 }, (_, i) => (i % 2 ? one : other).attempt(attempt)));
  expect(all.filter(({ outcome }) => outcome === 'wrong')).toHaveLength(10);
  expect(all.filter(({ outcome }) => outcome === 'too many')).toHaveLength(6);
  const right = { name: 'bob', password: passwords.bob };
  for (let i = 0; i < 20; i++) {
    const { outcome } = await one.attempt({ ...right, address: `2001:db8::${i + 2}` });
    expect(outcome).toBe('right');
  }
  for (let i = 0; i < 20; i++) await one.attempt({ ...attempt, name: `nobody ${i}` });
  expect(await one.attempt({ ...right, address: '2001:db8::99' })).toMatchObject({ outcome: 'too many' });
  expect(await one.attempt({ ...right, address: '2001:db8:1::' })).toMatchObject({ outcome: 'right' });
});
