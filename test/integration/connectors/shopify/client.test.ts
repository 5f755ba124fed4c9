import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Envelope, responseRules, untilAffordable } from '../../../../connectors/shopify/responses.ts';
import { classifyResponse } from '../../../../core/connector/classify.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { answer, openShop } from '../../../support/connectors/shopify/fixture.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ trigger: 'fulfilled' });
});
afterEach(() => shop.close());

function classified(status: number, retryAfter: string | null, body: object | undefined, random = 0) {
  const headers = new Headers(retryAfter === null ? {} : { 'retry-after': retryAfter });
  const text = body === undefined ? '<html>' : JSON.stringify(body);
  const response = { status, ok: status < 300, headers, text, json: body };
  const found = classifyResponse(
    response,
    new Date(),
    responseRules(() => random),
  );
  return found ?? expect.fail('it was taken for a good answer');
}

async function thrownBy(work: Promise<unknown>): Promise<CloseloopError> {
  const thrown: unknown = await work.catch((error: unknown) => error);
  return thrown instanceof CloseloopError ? thrown : expect.fail(`no CloseloopError: ${String(thrown)}`);
}

const status = (requestedQueryCost: number, currentlyAvailable: number) => ({
  requestedQueryCost,
  throttleStatus: { maximumAvailable: 2_000, currentlyAvailable, restoreRate: 100 },
});

describe('points', () => {
  test.each<[requested: number, available: number, ms: number]>([
    [500, 500, 0],
    [500, 499, 10],
    [900, 0, 9_000],
    [500, 2_000, 0],
    [9_000, 1_900, 1_000],
  ])('%i of %i are there in %i ms', (requested, available, ms) =>
    expect(untilAffordable(status(requested, available))).toBe(ms),
  );

  test('it takes what a call may cost beforehand, and tells the budget what the bucket holds after it', async () => {
    const { source, seen } = shop.open();
    await source.read([shop.order(), shop.order()]);
    expect(seen.wanted).toEqual([{ base: 0, each: 34, most: 2, least: 1, assumed: { limit: 1_000, perSecond: 50 } }]);
    expect(seen.settled).toEqual([{ limit: 2_000, perSecond: 100, available: expect.any(Number) }]);
    expect(seen.settled[0]).toHaveProperty('available', 2_000 - shop.standin.points().spent);
  });

  test('it corrects the price of an operation by what its calls were charged (audit 38)', async () => {
    const { source, seen } = shop.open();
    const id = shop.order();
    await source.read([id]);
    shop.standin.faults.add({
      path: 'graphql',
      status: 200,
      body: {
        data: { nodes: [] },
        extensions: {
          cost: {
            requestedQueryCost: 18,
            throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 900, restoreRate: 100 },
          },
        },
      },
    });
    await source.read([id]);
    await source.read([id]);
    // The first call's own charge comes first: the whole order was reckoned dearer than it was.
    expect(seen.wanted.map(({ each }) => each)).toEqual([34, 33, 18]);
  });

  test('it asks for fewer orders when Shopify finds a call too dear (audit 38)', async () => {
    const { source, seen } = shop.open();
    const ids = Array.from({ length: 80 }, () => shop.order());
    const errors = [{ extensions: { code: 'MAX_COST_EXCEEDED', cost: 1_440, maxCost: 1_000 } }];
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { errors } });
    expect(await thrownBy(source.read(ids))).toMatchObject({ advice: { kind: 'transient' } });
    expect(await source.read(ids)).toHaveLength(80);
    expect(seen.wanted.map(({ most }) => most)).toEqual([27, 17, 28, 28, 7]);
  });

  test('it waits for exactly what is missing when the shop says THROTTLED in a 200', async () => {
    shop.standin.changeSettings({ maximumAvailable: 100, restoreRate: 10 });
    const { source, seen } = shop.open();
    const ids = [shop.order(), shop.order()];
    shop.standin.drainPoints();
    const error = await thrownBy(source.read(ids));
    expect(error).toMatchObject({
      advice: { kind: 'transient', throttled: true, retryAfterMs: 6_600 },
      outcome: 'refused',
    });
    expect(seen.pauses).toEqual([]);
    expect(seen.settled).toEqual([{ limit: 100, perSecond: 10, available: 0 }]);
  });

  test('it pauses the shop where THROTTLED comes without what is left', async () => {
    const { source, seen } = shop.open();
    const errors = [{ extensions: { code: 'THROTTLED' } }];
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { errors } });
    await thrownBy(source.read([shop.order()]));
    expect([seen.pauses, seen.settled]).toEqual([[1_000], ['unspent']]);
  });

  test('it spreads those who wait together', () => {
    const body = { errors: [{ extensions: { code: 'THROTTLED' } }], extensions: { cost: status(900, 0) } };
    const retryAfter = (random: number) => classified(200, null, body, random).advice;
    expect(retryAfter(0)).toHaveProperty('retryAfterMs', 9_000);
    expect(retryAfter(0.8)).toHaveProperty('retryAfterMs', 10_800);
  });
});

describe('refusals', () => {
  const code = (code: string, path?: string[]) => ({
    data: null,
    errors: [{ extensions: { code }, ...(path && { path }) }],
  });
  const config = { kind: 'config' };
  const transient = { kind: 'transient' };
  const wait = (retryAfterMs: number) => ({ kind: 'transient', throttled: true, retryAfterMs });
  test.each<[status: number, retryAfter: string | null, body: object | undefined, advice: object, words: RegExp]>([
    [401, null, {}, config, /install the app again/],
    [402, null, {}, config, /frozen/],
    [403, null, {}, config, /read_fulfillments/],
    [404, null, {}, config, /permanent address/],
    [408, null, {}, transient, /408/],
    [423, null, {}, config, /locked/],
    [301, null, undefined, { ...config, doubtful: true }, /another address/],
    [429, '7', {}, wait(7_000), /429/],
    [429, '2.0', {}, wait(2_000), /429/],
    [429, null, {}, wait(2_000), /429/],
    [430, null, {}, wait(60_000), /430/],
    [500, null, {}, transient, /500/],
    [503, '30', {}, { kind: 'transient', retryAfterMs: 30_000 }, /503/],
    [200, null, undefined, transient, /no JSON/],
    [200, null, code('THROTTLED'), wait(1_000), /points/],
    [
      200,
      null,
      code('ACCESS_DENIED', ['nodes', 'customer']),
      config,
      /access to nodes.customer is denied.*protected customer data/,
    ],
    [200, null, code('SHOP_INACTIVE'), config, /inactive/],
    [200, null, code('INTERNAL_SERVER_ERROR'), transient, /INTERNAL/],
    [200, null, code('MAX_COST_EXCEEDED'), transient, /fewer orders/],
    [200, null, code('UNDEFINED_FIELD'), config, /UNDEFINED_FIELD\); the API no longer takes/],
    [200, null, { errors: [{}] }, transient, /neither data nor the reason/],
    [200, null, { data: null }, transient, /neither data nor the reason/],
    [400, null, { errors: [] }, config, /refuses the call \(400\)/],
  ])('it takes %i (Retry-After %s) %j for %j', (status, retryAfter, body, advice, words) => {
    const found = classified(status, retryAfter, body);
    expect(found.advice).toEqual(advice);
    expect(`${found.problem}; ${found.remedy}`).toMatch(words);
  });

  test.each([
    ['frozen', /402/],
    ['locked', /423/],
    ['closed', /404/],
  ] as const)('it stops at a %s shop', async (state, words) => {
    shop.standin.changeSettings({ shop: state });
    const { advice, message } = await thrownBy(shop.source.read([shop.order()]));
    expect(advice).toEqual({ kind: 'config' });
    expect(message).toMatch(words);
  });

  test('it names the right that is missing', async () => {
    const customerId = shop.standin.addCustomer().id;
    shop.standin.changeSettings({ scopes: ['read_orders'] });
    const id = shop.order({ customerId });
    expect(await thrownBy(shop.source.read([id]))).toMatchObject({ advice: { kind: 'config' } });
    const writing = shop.open({ writeBack: { tags: true } }).source.writeBack([answer(id)]);
    expect((await thrownBy(writing)).message).toMatch(/access to o0 is denied.*write_orders/);
  });
});

test('it warns once that another version answers', async () => {
  const { source, seen } = shop.open();
  shop.standin.changeSettings({ answersIn: '2027-01' });
  await source.read([shop.order()]);
  await source.read([shop.order()]);
  expect(seen.warnings).toEqual([expect.stringContaining('another version')]);
});

describe('client credentials', () => {
  const app = { accessToken: undefined, clientId: 'shopify-client', clientSecret: 'shopify-client-secret' };
  test('it tries again where a page answers for a token, and waits where it is told to', async () => {
    const { source, seen } = shop.open(app);
    const id = shop.order();
    shop.standin.faults.add({ path: 'access_token', status: 200, body: '<html>' });
    expect(await thrownBy(source.read([id]))).toMatchObject({
      advice: { kind: 'transient' },
      outcome: 'unknown',
    });
    shop.standin.faults.add({ path: 'access_token', status: 429, headers: { 'retry-after': '3' }, body: {} });
    await thrownBy(source.read([id]));
    expect(seen.pauses).toEqual([3_000]);
  });

  test('it says who must do what when the app was taken away', async () => {
    await shop.standin.uninstall();
    const error = await thrownBy(shop.open(app).source.read([shop.order()]));
    expect(error.advice).toEqual({ kind: 'config' });
    expect(error.message).toMatch(/an owner of the shop must check that the app is installed/);
  });
});

test('figures that no plan has are no word on the points (audit loop)', () => {
  const cost = status(900, 0);
  for (const odd of [
    { ...cost, requestedQueryCost: 1e300 },
    { ...cost, throttleStatus: { ...cost.throttleStatus, restoreRate: 1e-300 } },
    { ...cost, throttleStatus: { ...cost.throttleStatus, currentlyAvailable: -1e300 } },
    { ...cost, throttleStatus: { ...cost.throttleStatus, maximumAvailable: 1e300 } },
  ]) {
    expect(Envelope.parse({ extensions: { cost: odd } }).extensions?.cost).toBeUndefined();
  }
  expect(Envelope.parse({ extensions: { cost } }).extensions?.cost).toEqual(cost);
});
