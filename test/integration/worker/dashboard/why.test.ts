import { expect, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();
let sources = 0;

async function startShown(rule: string) {
  const source = `why-${++sources}`;
  const loop = await startLoop(redis, { source, rule, general: 'dashboard: { port: 0 }' });
  return { loop, source, ...visitorOf(loop.app) };
}

const rule = `{ name: riga, when: 'ticket.store = "Riga"', campaign: 12, contact: [customer.phone, customer.email], fields: { Store: ticket.store } }`;

test('the page tells why by an address that was not chosen, with every condition and what would be sent, all as text', async () => {
  const { loop, source, get, post } = await startShown(rule);
  const customer = { email: 'kati@example.com', phone: '+37255512345' };
  await loop.post(loop.vendor.close('w1', { customer, store: '<script>alert(1)</script>' }).delivery);
  await loop.journey('w1.1', 'skipped');
  const empty = await get('/why');
  expect(empty.status).toBe(200);
  expect(empty.text).toContain('aria-current="page">Why<');
  expect(empty.text).not.toContain('<h2>');

  const { status, text } = await post('/why', { q: ' KATI@example.com ' });
  expect(status).toBe(200);
  expect(text).toMatch(/<p class="notice">not asked: no rule&#39;s condition is true/);
  expect(text).toContain(`<a href="/journeys/${source}/w1.1">${source}/w1.1</a>`);
  expect(text).toMatch(
    /<th scope="row">rule riga<\/th><td[^>]*><span><code>ticket\.store = &quot;Riga&quot;<\/code><\/span><\/td>\s*<td[^>]*><span>false/,
  );
  expect(text).toContain('<code>ticket.store</code> is &lt;script&gt;');
  expect(text).not.toContain('<script>alert');
  expect(text).toContain('Nobody would be asked: no rule&#39;s');

  loop.vendor.close('w1', { customer, store: 'Riga' });
  const now = (await post('/why', { q: 'w1' })).text;
  expect(now).toMatch(
    /<strong>decides<\/strong>[\s\S]*The customer would be asked\.[\s\S]*\+37255512345 \(phone\)[\s\S]*<dt>Store<\/dt><dd>Riga</,
  );
  expect(now).toContain('<dt>Sent</dt>');
  expect(loop.feedback.standin.requests()).toEqual([]);
  await loop.asked('w9', { customer, store: 'Riga' });
  loop.feedback.standin.blacklist({ account: 'acme', contact: customer.phone });
  const listed = (await post('/why', { q: 'w1' })).text;
  expect(listed).toMatch(/Nobody would be asked: [\s\S]*blacklist[\s\S]*<dt>Store<\/dt>/);
  expect(listed).not.toMatch(/<dt>Sent<\/dt>|to be asked at/);
  expect(JSON.stringify(loop.told)).not.toMatch(/kati|5551/i);
});

test('a journey leads there, by its name; an address in the address is not looked up', async () => {
  const { loop, source, get, post } = await startShown(rule);
  await loop.post(loop.vendor.close('w2', { store: 'Riga' }).delivery);
  await loop.journey('w2.1', 'asked');
  const [, to = ''] = /href="(\/why\?journey=[^"]+)"/.exec((await get(`/journeys/${source}/w2.1`)).text) ?? [];
  expect((await get(to)).text).toMatch(/<p class="notice">asked at [\s\S]*Record w2 of/);
  expect((await get('/why?journey=w2%40example.com')).text).not.toContain('<p class="notice">');
  expect((await post('/why', { q: 'stranger@example.com' })).text).toContain('has never heard of');
});

test('a vendor that does not answer leaves the rest of the answer', async () => {
  const { loop, post } = await startShown(rule);
  await loop.post(loop.vendor.close('w3').delivery);
  await loop.journey('w3.1', 'skipped');
  loop.vendor.failures.read.push(new Error('away <for> now'));
  const { text } = await post('/why', { q: 'w3' });
  expect(text).toContain('It could not be read: away &lt;for&gt; now');
  expect(text).toMatch(/<p class="notice">not asked: /);
});
