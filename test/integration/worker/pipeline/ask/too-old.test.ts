import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openLoop, startLoop } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';

const redis = useRedis();
const fresh = () => `old-${randomUUID().slice(0, 8)}`;
const dayMs = 86_400_000;
const closedDaysAgo = (days: number) => {
  const closedAt = new Date(Date.now() - days * dayMs);
  return { state: { is: 'closed', closing: closedAt.toISOString(), closedAt } } as const;
};
const rule = (more: string) => `{ name: all, campaign: 12, contact: customer.email, delay: 24h, ${more} }`;

test('a closing that is found days later is asked about, and one of last month is not', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.post(loop.vendor.close('a', closedDaysAgo(2)).delivery);
  await loop.journey('a.1', 'asked');
  await loop.post(loop.vendor.close('b', closedDaysAgo(30)).delivery);
  expect(await loop.journey('b.1', 'skipped')).toMatchObject({
    reason: 'too-old',
    why: expect.stringMatching(/^too old to ask: closed 30d ago \(maxAge 3d/),
  });
});

test('a rule, a source and the policy say how old, the rule first', async () => {
  const general = 'policy: { maxAge: 2d }';
  const loop = await startLoop(redis, { source: fresh(), general, rule: rule('maxAge: false') });
  await loop.post(loop.vendor.close('a', closedDaysAgo(30)).delivery);
  await loop.journey('a.1', 'asked');
  const other = await startLoop(redis, { source: fresh(), general, rule: rule('again: never') });
  await other.post(other.vendor.close('b', closedDaysAgo(2.5)).delivery);
  expect((await other.journey('b.1', 'skipped')).why).toMatch(/closed 2d12h ago \(maxAge 2d\)/);
});

test('a throttle that defers asks later, and not about what is too old by then', async () => {
  const general = (period: string) => `policy: { throttle: { period: ${period}, otherwise: defer } }`;
  const who = { customer: { email: `${fresh()}@example.com` } };
  const loop = await startLoop(redis, { source: fresh(), general: general('30d') });
  await loop.post(loop.vendor.close('a', who).delivery);
  await loop.journey('a.1', 'asked');
  await loop.post(loop.vendor.close('b', who).delivery);
  expect(await loop.journey('b.1', 'skipped')).toMatchObject({
    reason: 'too-old',
    why: expect.stringMatching(/asked .*, and would be too old to ask: closed .* ago \(maxAge 3d\) then/),
  });
});

test.each([
  ['an evening', 24 + 10, 'asked'],
  ['a month', 24 + 30 * 24, 'skipped'],
] as const)('after a standstill of %s whoever was to be asked meanwhile is %s', async (_, hours, state) => {
  const options = { source: fresh(), rule: rule('again: never') };
  const loop = await openLoop(redis, options);
  await loop.post(loop.vendor.close('a').delivery);
  await loop.journey('a.1', 'waiting');
  await loop.hoursPass(hours);
  const journey = await loop.journey('a.1', state);
  if (state === 'skipped') {
    expect([journey.reason, journey.why]).toEqual([
      'too-old',
      expect.stringMatching(/later than planned \(maxAge 4d\)/),
    ]);
    expect(loop.feedback.standin.requests()).toEqual([]);
  }
  await loop.close();
});
