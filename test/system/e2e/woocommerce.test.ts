import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWooCommerceStandin } from '../../../standins/woocommerce/standin.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { startShopLoop } from '../../support/shop-loop.ts';

const redis = useRedis();
const secret = 'wcE2eSecretOfFortyLettersAndDigits012345';
const minute = 60_000;

/** The shop's clock is ours, and this. */
let offsetMs = 0;
let shop: Awaited<ReturnType<typeof startWooCommerceStandin>>;
let loop: Awaited<ReturnType<typeof startShopLoop>>;

beforeAll(async () => {
  shop = await startWooCommerceStandin({ now: () => new Date(Date.now() + offsetMs) });
  const source = `
connector: woocommerce
site: ${shop.url}
consumerKey: ck_standin
consumerSecret: cs_standin
webhookSecrets: [${secret}]
rules:
  - { name: furniture, when: order.meta.kind = "furniture", campaign: 40, contact: customer.email, fields: &fields { Store: shipping.city, Agent: order.createdVia }, delay: 2h }
  - { name: all, campaign: 40, contact: [customer.phone, customer.email], fields: *fields }
writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status, note: true }
`;
  loop = await startShopLoop(redis, shop, source, 60 * minute);
});
afterAll(() => (loop ?? shop)?.close());

function order(name: string, meta: Record<string, string> = {}): number {
  const address = { email: `${name}@example.com`, first_name: name, city: 'Tartu', country: 'EE' };
  return shop.standin.addOrder({ billing: address, shipping: { city: 'Tartu', country: 'EE' }, meta }).id;
}

test('setup makes the webhooks, and check then finds nothing', async () => {
  await loop.setUp('the webhook of the topic order.updated to', 'create the webhook of the topic order.updated');
  expect(shop.standin.webhooks()).toMatchObject([
    { topic: 'order.updated', deliveryUrl: loop.hookUrl, secret },
    { topic: 'order.deleted', deliveryUrl: loop.hookUrl, secret },
  ]);
});

test('the ping of a saved webhook is answered 200, a bad signature 401', async () => {
  const ping = await fetch(loop.hookUrl, { method: 'POST', body: new URLSearchParams({ webhook_id: '7' }) });
  expect(ping.status).toBe(200);
  const headers = { 'content-type': 'application/json', 'x-wc-webhook-signature': 'AAAA' };
  expect((await fetch(loop.hookUrl, { method: 'POST', body: '{}', headers })).status).toBe(401);
});

test('a refund cancels the request that waits', async () => {
  const id = order('anna', { kind: 'furniture' });
  const [delivery] = await shop.standin.complete(id);
  expect(delivery).toMatchObject({ delivered: true, status: 200 });
  await loop.journeyIn(id, 'waiting');
  await shop.standin.refund({ id });
  expect(await loop.journeyIn(id, 'cancelled')).toMatchObject({ why: 'the order was refunded' });
});

test('a second order is asked about, its grade written, and a changed grade again, without an echo', async () => {
  const id = order('bert');
  await shop.standin.complete(id);
  await loop.answerTo(id, 5, 'Fast <b>and</b> good');
  await until(() => shop.standin.order(id).values.feedback_grade === '5');
  await loop.answerTo(id, 2, 'It broke');
  await until(() => shop.standin.order(id).values.feedback_grade === '2' && shop.standin.order(id).notes.length === 2);
  await loop.journeyIn(id, 'written');
  expect(shop.standin.order(id)).toMatchObject({
    values: { feedback_comment: 'It broke', feedback_status: 'answered' },
    mails: 0,
    recalculations: 0,
  });
  await shop.standin.idle();
  expect(await loop.journey(id, 2)).toBeUndefined();
  expect(loop.feedback.requests({ contact: 'bert@example.com' })).toHaveLength(1);
  expect(shop.standin.webhooks().map(({ failures }) => failures)).toEqual([0, 0]);
});

test('a customer who is to be forgotten is masked at the service, gone here and from the order, with proof', async () => {
  const id = order('dora');
  await shop.standin.complete(id);
  await loop.answerTo(id, 1, 'My neighbour took it');
  const { requestId } = await loop.journeyIn(id, 'written');
  // WooCommerce tells nobody of it: a person does.
  const masked = await loop.command('contact', 'mask', 'dora@example.com', '--yes', '--json');
  expect(masked.code, masked.err).toBe(0);
  const proof = await until(async () =>
    (await loop.context().erasures.all()).find(({ writtenAnswers }) => writtenAnswers === 'none left'),
  );
  expect(proof).toMatchObject({ journeys: 1, contacts: 1 });
  await loop.expectForgotten(id, requestId, proof, /dora@example|neighbour/);
  const { values, notes } = shop.standin.order(id);
  expect([Object.keys(values).filter((key) => key.startsWith('feedback_')), notes]).toEqual([[], []]);
});

test('an order that no webhook reported is found by the poll, which switches the webhook on again', async () => {
  const [webhook] = shop.standin.webhooks();
  shop.standin.changeWebhook({ id: webhook?.id ?? 0, status: 'disabled' });
  // Completed a while ago: a webhook would have reported it by now.
  offsetMs = -5 * minute;
  const id = order('carl');
  await shop.standin.complete(id);
  await loop.journeyIn(id, 'asked');
  expect((await loop.journey(id))?.state).toBe('asked');
  expect(shop.standin.webhooks()[0]?.status).toBe('disabled');
  offsetMs = 25 * 60 * minute;
  await until(() => shop.standin.webhooks()[0]?.status === 'active');
  // Told when the shop has answered, a moment later.
  const onAgain = await until(() => loop.told.find(({ message }) => /it is on again/.test(message)));
  expect(onAgain).toMatchObject({
    level: 'warn',
    fields: { site: shop.url, webhook: String(webhook?.id), topic: 'order.updated' },
  });
  expect(loop.told.filter(({ level }) => level === 'error')).toEqual([]);
});
