import { expect, test } from 'vitest';
import { why } from '../../../../worker/cli/why.ts';
import { startLoop } from '../../../support/loop.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('a customer is found by any address, a record and a journey by name, each with the reason of every closing', async () => {
  const rule = `{ name: some, when: ticket.store != "Riga", campaign: 12, contact: [customer.email, customer.phone], throttle: 30d }`;
  const loop = await startLoop(redis, { source: fresh(), rule });
  const { source } = loop.store;
  const customer = { email: 'both@example.com', phone: '+372 5551 2345' };
  await loop.post(loop.vendor.close('a', { customer }).delivery);
  await loop.journey('a.1', 'asked');
  await loop.post(loop.vendor.close('b', { customer, store: 'Riga' }).delivery);
  await loop.journey('b.1', 'skipped');
  await loop.post(loop.vendor.close('c', { customer }).delivery);
  await loop.journey('c.1', 'skipped');
  await loop.post(loop.vendor.close('d', { customer: {} }).delivery);
  await loop.journey('d.1', 'skipped');
  const about = async (text: string) => (await printed(() => why({ ...beside(loop), about: text }))).rows;

  const asked = { journey: `${source}/a.1`, state: 'asked', isAsked: true, rule: 'some', campaign: 12 };
  const noRule = { journey: `${source}/b.1`, state: 'skipped', isAsked: false, reason: 'no-rule' };
  const throttled = {
    journey: `${source}/c.1`,
    isAsked: false,
    reason: 'throttled',
    what: expect.stringMatching(/asked 0 days ago/),
  };
  for (const text of [customer.email, customer.phone, '0037255512345']) {
    expect([text, await about(text)]).toMatchObject([text, [throttled, noRule, asked]]);
  }
  expect(await about('b')).toMatchObject([noRule]);
  expect(await about(`${source}/c.1`)).toMatchObject([throttled]);
  expect(await about('d')).toMatchObject([{ reason: 'no-contact', isAsked: false }]);

  const { out } = await printed(() => why({ ...beside(loop), json: false, about: customer.email }));
  expect(out).toContain('not asked: ');
  expect(out).not.toMatch(/both@|5551/);
  expect(await printed(() => why({ ...beside(loop), about: 'stranger@example.com' }))).toMatchObject({
    code: 1,
    out: '',
  });
  const { said } = await sayings(() => why({ ...beside(loop), about: 'stranger@example.com' }));
  expect(said.join('')).toContain('has never heard of');
});
