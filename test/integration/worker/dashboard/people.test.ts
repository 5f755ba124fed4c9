import { randomBytes, scryptSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { passwordHashText } from '../../../../worker/config/dashboard.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
let sources = 0;

async function startShown(dashboard: object = { port: 0 }) {
  const source = `people-${++sources}`;
  const rule =
    '{ name: all, campaign: 12, contact: [customer.email, customer.phone], fields: { Store: ticket.store }, throttle: 30d }';
  const loop = await startLoop(redis, { source, rule, general: `dashboard: ${JSON.stringify(dashboard)}` });
  const visitor = visitorOf(loop.app);
  const find = (q: string) => visitor.post('/people', { q });
  /** Sends the form with this action that stands on the page. */
  const sendForm = async (text: string, action: string, fields: Record<string, string> = {}) => {
    const form = text.split('<form').find((one) => one.includes(`action="${action}"`)) ?? '';
    const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    return await visitor.post(action, {
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
      ...fields,
    });
  };
  return { loop, source, find, sendForm, ...visitor };
}

async function asked({ loop }: Awaited<ReturnType<typeof startShown>>, id: string, customer: object) {
  await loop.post(loop.vendor.close(id, { customer }).delivery);
  return await loop.journey(`${id}.1`, 'asked');
}

describe('a person', () => {
  test('is shown with what the service and closeloop know of them, and why; in no address and no log', async () => {
    const shown = await startShown();
    const { loop, source, find, get } = shown;
    await asked(shown, 'p1', { email: 'Kati@Example.com', phone: '+37255512345' });
    loop.feedback.standin.answer({ contact: 'kati@example.com', grade: 4, comment: 'fine' });
    await loop.journey('p1.1', 'written');
    const { status, text, to } = await find(' kati@example.COM ');
    expect([status, to]).toEqual([200, '']);
    expect(text).toMatch(/<dt>Requests sent<\/dt><dd>1, the last scheduled <time/);
    expect(text).toContain('<dt>Blacklist</dt><dd>not on it</dd>');
    expect(text).toContain(`href="/journeys/${source}/p1.1"`);
    expect(text).toMatch(/Linked addresses<\/th><td>1</);
    expect(text).toMatch(/Requests that throttles count<\/th><td><time[^>]*>[^<]*<\/time>, campaign 12/);
    expect(text).toContain(`${source}, rule all: the person was asked`);
    expect(text).toContain('Nobody.');
    // By another address of theirs.
    const other = (await find('+372 5551 2345')).text;
    expect(other).toContain(`href="/journeys/${source}/p1.1"`);
    expect(other).toMatch(/Other addresses<\/th><td>Kati@Example.com/i);
    expect(other).toContain('The service has no feedback request of this contact');
    const nobody = (await find('<script>alert(1)</script>')).text;
    expect(nobody).toContain('Nothing is stored of them here.');
    expect(nobody).not.toContain('<script>alert');
    expect((await find('')).to).toBe('/people');
    expect((await find('..')).status).toBe(409);
    expect((await get('/people')).text).toContain('Nobody has asked to be erased');
    expect(JSON.stringify(loop.told)).not.toMatch(/kati|55512345/i);
  });

  test('on the lists of the service, and looked at there, is shown to be', async () => {
    const shown = await startShown();
    const { loop, find } = shown;
    await asked(shown, 'p2', { email: 'listed@example.com' });
    const { standin } = loop.feedback;
    standin.blacklist({ account: 'acme', contact: 'listed@example.com' });
    standin.graylist({ contact: 'listed@example.com', campaign: 12 });
    standin.addAccess({
      account: 'acme',
      contact: 'listed@example.com',
      user: 'mari <mari@acme.example>',
      action: 'app-contact-detail',
    });
    const { text } = await find('listed@example.com');
    expect(text).toMatch(/<dt>Blacklist<\/dt><dd>on it since <time/);
    expect(text).toMatch(/<dt>Graylists<\/dt><dd>After support \(12\), since <time/);
    expect(text).toContain('mari &lt;mari@acme.example&gt;');
    expect(text).toContain('app-contact-detail');
  });

  test('is shown with what is stored where the service is away', async () => {
    const shown = await startShown();
    await asked(shown, 'p3', { email: 'away@example.com' });
    await shown.loop.feedback.close();
    const { status, text } = await shown.find('away@example.com');
    expect(status).toBe(200);
    expect(text).toContain('The service does not tell:');
    expect(text).toContain(`href="/journeys/${shown.source}/p3.1"`);
  });
});

describe('masking a person', () => {
  test('takes a confirmation, is noted without their name, and ends with the proof', async () => {
    const shown = await startShown();
    const { loop, source, find, sendForm, get } = shown;
    await asked(shown, 'm1', { email: 'gone@example.com' });
    const person = await find('gone@example.com');
    const confirm = await sendForm(person.text, '/people/confirm');
    expect(confirm.status).toBe(200);
    expect(confirm.text).toContain('It can not be undone.');
    // Without the tick nothing is done.
    expect(await sendForm(confirm.text, '/people/mask')).toMatchObject({ status: 409 });
    expect(await loop.erasures.open()).toEqual([]);
    expect(await sendForm(confirm.text, '/people/mask', { sure: 'yes', contact: '' })).toMatchObject({ status: 409 });
    expect(await sendForm(confirm.text, '/people/mask', { sure: 'yes', csrf: 'forged' })).toMatchObject({
      status: 403,
    });
    const { status, to } = await sendForm(confirm.text, '/people/mask', { sure: 'yes' });
    expect(status).toBe(303);
    expect(to).toMatch(new RegExp(`^/people/erasures/${source}/[\\w-]{16}$`));
    const proof = await until(async () => {
      const page = await get(to);
      return page.text.includes('<dt>Proof</dt>') && page.text;
    });
    expect(proof).toMatch(/<dt>Journeys erased<\/dt><dd>1<\/dd>/);
    expect(proof).toMatch(/<dt>Requests masked at the service<\/dt><dd>1<\/dd>/);
    expect(proof).not.toContain('gone@');
    expect((await find('gone@example.com')).text).toContain('They were erased');
    expect(await loop.store.get('m1.1')).toMatchObject({ erasedAt: expect.any(Date) });
    const { text: settings } = await get('/settings');
    expect(settings).toContain('mask a person');
    expect(settings).not.toContain('gone@');
    const list = (await get('/people')).text;
    expect(list).toContain(`href="${to}"`);
    expect(list).toContain('asked for on the page');
    expect(JSON.stringify(loop.told)).not.toContain('gone@');
  });

  test('of whom nobody knows is said to be so; an erasure that is not there is not found', async () => {
    const { find, sendForm, get, source } = await startShown();
    const confirm = await sendForm((await find('unheard@example.com')).text, '/people/confirm');
    const { to } = await sendForm(confirm.text, '/people/mask', { sure: 'yes' });
    await until(async () => (await get(to)).text.includes('Nobody was known by this contact'));
    expect((await get(`/people/erasures/${source}/nothing`)).status).toBe(404);
    expect((await get('/people/erasures/nowhere/nothing')).status).toBe(404);
  });

  test('is for those who may act: who may look is shown no button, and refused', async () => {
    const [salt, password] = [randomBytes(16), 'bob may look at all of it'];
    const hash = passwordHashText({
      ln: 14,
      p: 1,
      salt,
      key: scryptSync(password, salt, 32, { N: 2 ** 14, r: 8, p: 1 }),
    });
    const users = [{ name: 'bob', role: 'read', password: hash }];
    const publicUrl = 'https://closeloop.example.com';
    const shown = await startShown({ port: 0, publicUrl, trustProxy: ['127.0.0.1'], users });
    expect((await shown.find('x@example.com')).status).toBe(401);
    await shown.submit('/login', { name: 'bob', password });
    const { status, text } = await shown.find('x@example.com');
    expect(status).toBe(200);
    expect(text).not.toContain('/people/confirm');
    for (const path of ['/people/confirm', '/people/mask'])
      expect(await shown.post(path, { contact: 'x@example.com', sure: 'yes' })).toMatchObject({ status: 403 });
    expect(await shown.loop.erasures.open()).toEqual([]);
  });
});
