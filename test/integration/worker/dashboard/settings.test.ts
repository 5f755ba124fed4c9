import { expect, test } from 'vitest';
import { saveCheck } from '../../../../worker/preflight/last-check.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';

const redis = useRedis();

test('Settings shows each rule in words with its coming hours, test mode, and what was checked last', async () => {
  const rule =
    '{ name: phones, campaign: 12, contact: customer.phone, window: { from: "09:00", until: "17:30", days: [mon, wed] }, test: { email: me@example.com } }';
  const loop = await startLoop(redis, { source: 'set', rule, general: 'dashboard: { port: 0 }' });
  const { get } = visitorOf(loop.app);
  const { status, text } = await get('/settings');
  expect(status).toBe(200);
  expect(text).toContain('in “After support” (campaign 12). They are asked by customer.phone');
  expect(text).toContain('TEST MODE for rule &quot;phones&quot; of source set');
  expect(text).not.toContain('me@example.com');
  expect((await get('/')).text).toContain('TEST MODE for rule &quot;phones&quot; of source set');
  expect(text.match(/<tr><th scope="row">(Mon|Wed) [^<]*<\/th>\s*<td>09:00–17:30<\/td>/g)).toHaveLength(2);
  expect(text.match(/<td>closed<\/td>/g)).toHaveLength(5);
  expect(text).toContain('<rect class="open" x="540" width="510" height="60">');
  expect(text).toContain('Nobody has run <code>closeloop check</code> yet');

  const finding = {
    source: 'set',
    level: 'error',
    at: 'rules[0]',
    problem: 'it <can> not',
    remedy: 'mend it',
  } as const;
  await saveCheck(redis.handle.client, { at: new Date(), only: 'set', findings: [finding] });
  const checked = (await get('/settings')).text;
  expect(checked).toContain('closeloop check --source set');
  expect(checked).toMatch(/notice bad"><p><strong>error: set: rules\[0\]<\/strong><\/p><p>it &lt;can&gt; not<\/p>/);
  await saveCheck(redis.handle.client, { at: new Date(), findings: [] });
  expect((await get('/settings')).text).toContain('It found nothing.');
});

test('of a campaign that can not be read Settings says so, and shows all the rest', async () => {
  const rule = '{ name: lost, campaign: 999, contact: customer.phone }';
  const loop = await startLoop(redis, { source: 'lost', rule, general: 'dashboard: { port: 0 }' });
  const { status, text } = await visitorOf(loop.app).get('/settings');
  expect(status).toBe(200);
  expect(text).toContain('in campaign 999. They are asked by customer.phone');
  expect(text).toContain("The hours of campaign 999 can't be shown: ");
});
