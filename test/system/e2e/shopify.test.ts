import { afterAll, beforeAll, expect, test } from 'vitest';
import { startShopifyStandin } from '../../../standins/shopify/standin.ts';
import { topics } from '../../support/connectors/shopify/fixture.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { startShopLoop } from '../../support/shop-loop.ts';

const redis = useRedis();
const minute = 60_000;
const hour = 60 * minute;

/** The shop's clock is ours, and this. */
let offsetMs = 0;
let shop: Awaited<ReturnType<typeof startShopifyStandin>>;
let loop: Awaited<ReturnType<typeof startShopLoop>>;

beforeAll(async () => {
  shop = await startShopifyStandin({ now: () => new Date(Date.now() + offsetMs) });
  const source = `
connector: shopify
shop: acme.myshopify.com
baseUrl: ${shop.url}
clientId: shopify-client
clientSecret: shopify-client-secret
webhookSecrets: [the secret before, shopify-client-secret]
trigger: delivered
deliveredWithin: 1h
watchEvery: 500ms
rules:
  - { name: slow, when: '"furniture" in order.tags', campaign: 40, contact: contact.email, fields: &fields { Store: order.city, Agent: order.source }, delay: 2h }
  - { name: all, campaign: 40, contact: [contact.phones, contact.email], fields: *fields }
writeBack: { grade: feedback_grade, comment: feedback_comment, answeredAt: feedback_at, status: feedback_status, tags: true }
`;
  loop = await startShopLoop(redis, shop, source, 24 * hour);
});
afterAll(() => (loop ?? shop)?.close());

/** An order of a customer with this name. Several lines make several parcels possible. */
function order(name: string, more: Parameters<typeof shop.standin.addOrder>[0] = {}): string {
  const customerId = shop.standin.addCustomer({ email: `account-${name}@example.com` }).id;
  const shipping = { city: 'Tartu', country: 'EE' };
  return shop.standin.addOrder({ customerId, email: `${name}@example.com`, shipping, ...more }).id;
}

/** The proof of an erasure, when all of it has been done. */
const proofOf = (topic: string) =>
  until(async () => {
    const all = await loop.context().erasures.all();
    return all.find(({ what, writtenAnswers }) => what.includes(topic) && writtenAnswers !== 'being taken off');
  });

test('setup makes metafields and webhooks, and check then finds nothing', async () => {
  await loop.setUp('webhook ORDERS_FULFILLED', 'create the webhook ORDERS_FULFILLED');
  expect(shop.standin.subscriptions().map(({ topic, uri }) => [topic, uri])).toEqual(
    topics.map((topic) => [topic, loop.hookUrl]),
  );
});

test('a refund cancels the request that waits', async () => {
  const id = order('anna', { tags: ['furniture'] });
  await shop.standin.fulfil({ id });
  const deliveries = await shop.standin.deliver(id);
  expect(deliveries).toMatchObject([{ delivered: true, status: 200 }]);
  await loop.journeyIn(id, 'waiting');
  await shop.standin.refund({ id });
  expect(await loop.journeyIn(id, 'cancelled')).toMatchObject({ why: 'the order was refunded' });
});

test('two parcels are asked about once, when the second arrived; the grade is written, and a changed one again', async () => {
  const id = order('bert', { lines: [{}, {}], tags: ['vip'] });
  await shop.standin.fulfil({ id, lines: [0] });
  await shop.standin.deliver(id, 0);
  await shop.standin.fulfil({ id });
  await shop.standin.idle();
  expect(await loop.journey(id)).toBeUndefined();
  await shop.standin.deliver(id, 1);
  await loop.answerTo(id, 5, 'Fast <b>and</b> good');
  await until(() => shop.standin.order(id).metafields['$app.feedback_grade'] === '5');
  await loop.answerTo(id, 2, 'It broke');
  await until(() => shop.standin.order(id).metafields['$app.feedback_grade'] === '2');
  await loop.journeyIn(id, 'written');
  expect(shop.standin.order(id)).toMatchObject({
    tags: ['vip', 'fb_answered', 'fb_grade_2'],
    metafields: { '$app.feedback_comment': 'It broke', '$app.feedback_status': 'answered' },
  });
  expect(await loop.journey(id, 2)).toBeUndefined();
  expect(loop.feedback.requests({ contact: 'bert@example.com' })).toHaveLength(1);
});

test('a parcel of which no carrier tells is asked about when the time is over', async () => {
  // An hour is over in three seconds.
  offsetMs = -hour + 3_000;
  const id = order('carl');
  await shop.standin.fulfil({ id });
  offsetMs = 0;
  const { closedAt } = await loop.journeyIn(id, 'asked');
  expect(Math.abs(closedAt.getTime() - Date.now())).toBeLessThan(minute);
  expect(await loop.journey(id, 2)).toBeUndefined();
});

test('an order that no webhook reported is found by the poll, which brings back the webhooks that Shopify removed', async () => {
  shop.standin.removeSubscriptions();
  // Delivered a while ago: a webhook would have reported it by now.
  offsetMs = -5 * minute;
  const id = order('dora');
  await shop.standin.fulfil({ id });
  expect(await shop.standin.deliver(id)).toEqual([]);
  offsetMs = 0;
  await loop.journeyIn(id, 'asked');
  await until(() => shop.standin.subscriptions().length === topics.length);
  expect(shop.standin.subscriptions().map(({ topic, uri }) => [topic, uri])).toEqual(
    topics.map((topic) => [topic, loop.hookUrl]),
  );
  // Told once the last of them is made.
  await until(() => loop.told.some(({ message }) => /removed webhooks of ours; they were made again/.test(message)));
});

test('a customer who is to be forgotten is masked at the service, gone here and from the order, with proof', async () => {
  shop.standin.setCompliance({ uri: loop.hookUrl });
  const customerId = shop.standin.addCustomer({ email: 'account-emil@example.com' }).id;
  const id = order('emil', { customerId, tags: ['vip'] });
  await shop.standin.fulfil({ id });
  await shop.standin.deliver(id);
  await loop.answerTo(id, 1, 'My neighbour took it');
  const { requestId } = await loop.journeyIn(id, 'written');
  expect(await shop.standin.requestData({ customerId })).toMatchObject([{ status: 200 }]);
  const todo = loop.told.find(({ message }) => message === 'somebody has to act');
  expect(todo).toMatchObject({ level: 'warn', fields: { event: 'customers/data_request' } });
  expect(await shop.standin.redactCustomer({ customerId })).toMatchObject([{ status: 200 }]);
  const proof = await proofOf('customers/redact');
  expect(proof).toMatchObject({ journeys: 1, contacts: 2, writtenAnswers: 'none left' });
  await loop.expectForgotten(id, requestId, proof, /emil@example|neighbour/);
  expect(shop.standin.order(id)).toMatchObject({ tags: ['vip'], metafields: {} });
});

test('the source stops when the app is uninstalled, and says who must do what', async () => {
  await shop.standin.uninstall();
  await until(() =>
    loop.told.some(({ fields }) => /the app was uninstalled: the shop's owner must/.test(String(fields.why))),
  );
});

test('everybody of a shop that left is forgotten, though its source has stopped; what nobody can reach is told', async () => {
  // Two days after uninstalling, says Shopify.
  expect(await shop.standin.redactShop()).toMatchObject([{ status: 200 }]);
  const { writtenAnswers } = await proofOf('shop/redact');
  expect(writtenAnswers).toMatch(/^left at shop: .*an owner of the shop must/i);
  expect(loop.feedback.requests().filter(({ masked, campaign }) => campaign === 40 && !masked)).toEqual([]);
  for await (const journey of loop.context().store.queries.all())
    expect(journey).toMatchObject({ erasedAt: expect.any(Date) });
});

test('every delivery was stored the first time', () => {
  expect(loop.told.filter(({ message }) => message.startsWith('delivery not stored'))).toEqual([]);
});
