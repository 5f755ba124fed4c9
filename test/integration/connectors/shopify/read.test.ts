import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { answer, openShop } from '../../../support/connectors/shopify/fixture.ts';
import { recordEvents } from '../../../support/contract/record-events.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ trigger: 'fulfilled' });
});
afterEach(() => shop.close());

const shown = (results: readonly { ok: boolean; why?: string }[]) => results.map(({ ok, why }) => (ok ? 'ok' : why));

describe('what was read is kept', () => {
  test('it keeps the pages before one that is throttled: only the rest is to be read again (audit 38)', async () => {
    const ids = Array.from({ length: 60 }, () => shop.order());
    const { source } = shop.open();
    shop.standin.changeSettings({ maximumAvailable: 900, restoreRate: 1 });
    const first = await source.read(ids);
    const read = ids.filter((_, i) => first[i]?.ok);
    expect(read.length).toBeGreaterThan(20);
    expect(first.slice(read.length)).toEqual(
      ids.slice(read.length).map(() => ({
        ok: false,
        why: 'error',
        error: expect.objectContaining({ advice: expect.objectContaining({ kind: 'transient', throttled: true }) }),
      })),
    );
    shop.standin.changeSettings({ maximumAvailable: 100_000, restoreRate: 100_000 });
    shop.later(60_000);
    const calls = shop.standin.totalCalls();
    expect(shown(await source.read(ids.slice(read.length)))).toEqual(ids.slice(read.length).map(() => 'ok'));
    expect(shop.standin.totalCalls() - calls).toBeLessThanOrEqual(2);
  });

  test('it asks for as many orders as the points afford (audit 38)', async () => {
    const ids = Array.from({ length: 7 }, () => shop.order());
    const { ports } = shop;
    const { source } = shop.open(
      {},
      {
        budget: {
          ...ports.budget,
          takePoints: async () => ({ records: 3, since: 5, settle: async () => undefined }),
        },
      },
    );
    expect(shown(await source.read(ids))).toEqual(ids.map(() => 'ok'));
    const asked = shop.standin.documents.map(({ variables }) => variables);
    expect(asked).toMatchObject([{ ids: { length: 3 } }, { ids: { length: 3 } }, { ids: { length: 1 } }]);
  });

  test('it gives what the rest of a reading costs the place in line of its first call (audit 38)', async () => {
    const ids = Array.from({ length: 60 }, () => shop.order());
    await shop.source.read(ids);
    expect(shop.seen.wanted.map(({ since }) => since)).toEqual([undefined, 7, 7]);
  });
});

describe('one order that fails', () => {
  test('it fails alone when it is read (audit 41)', async () => {
    const ids = [shop.order(), shop.order(), shop.order()];
    shop.standin.changeSettings({ broken: [ids[1] ?? ''] });
    const results = await shop.source.read(ids);
    expect(shown(results)).toEqual(['ok', 'error', 'ok']);
    const [, failed] = results;
    const error = failed?.ok === false && failed.why === 'error' ? failed.error : expect.fail('no error');
    expect(error).toMatchObject({ advice: { kind: 'transient' } });
    expect(error.message).toMatch(/failed with INTERNAL_SERVER_ERROR at nodes.processedAt/);
  });

  test('it fails alone when its answer is written, and what is on the others is written (audit 41)', async () => {
    const { source } = shop.open({ writeBack: { tags: true } });
    const ids = [shop.order(), shop.order(), shop.order()];
    shop.standin.changeSettings({ broken: [ids[1] ?? ''] });
    const results = await source.writeBack(ids.map((id) => answer(id)));
    expect(shown(results)).toEqual(['ok', 'error', 'ok']);
    expect(results[1]).toMatchObject({ error: { advice: { kind: 'transient' } } });
    expect(shop.standin.order(ids[2] ?? '').tags).toContain('fb_answered');
  });

  test('it fails alone among mutations that share a call (audit 41)', async () => {
    const { source } = shop.open({ writeBack: { tags: true } });
    const ids = [shop.order(), shop.order()];
    const errors = [{ message: 'x', extensions: { code: 'INTERNAL_SERVER_ERROR' }, path: ['o0'] }];
    const held = await source.writeBack([]);
    expect(held).toEqual([]);
    const nodes = ids.map((id) => ({ id: `gid://shopify/Order/${id}`, tags: [] }));
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { data: { nodes } } });
    shop.standin.faults.add({
      path: 'graphql',
      status: 200,
      body: { data: { o0: null, o1: { userErrors: [] } }, errors },
    });
    const results = await source.writeBack(ids.map((id) => answer(id)));
    expect(results[0]).toMatchObject({ ok: false, why: 'error', error: { advice: { kind: 'transient' } } });
    expect(results[1]).toMatchObject({ ok: true });
  });

  test.each([{ data: null }, {}])('it takes %j without errors for a passing failure (audit 41)', async (body) => {
    shop.standin.faults.add({ path: 'graphql', status: 200, body });
    const thrown = await shop.source.read([shop.order()]).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(CloseloopError);
    expect(thrown).toMatchObject({ advice: { kind: 'transient' } });
  });

  test('it holds up the source, and ends no journey, when a call as a whole is answered oddly (audit 41)', async () => {
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { data: { nodes: 'x' } } });
    const thrown = await shop.source.read([shop.order()]).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ advice: { kind: 'transient' } });
  });

  test('it is found by the poll beside the others (audit 41)', async () => {
    const since = shop.clock.now;
    const ids = [shop.order(), shop.order()];
    for (const id of ids) await shop.standin.fulfil({ id });
    const nodes = [null, { id: `gid://shopify/Order/${ids[1]}` }];
    const errors = [{ message: 'x', extensions: { code: 'TIMEOUT' }, path: ['orders', 'nodes', 0, 'cancelledAt'] }];
    const orders = { nodes, pageInfo: { hasNextPage: false, endCursor: null } };
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { data: { orders }, errors } });
    const page = await shop.source.poll?.({ since });
    expect(recordEvents(page?.events ?? []).map(({ recordId }) => recordId)).toEqual(ids);
  });
});

describe('what is more than a reading shows', () => {
  const nine = Array.from({ length: 9 }, (_, i) => ({ title: `item ${i}` }));

  const nodeOf = (id: string) => ({
    ...{ id: `gid://shopify/Order/${id}`, name: '#1001', email: 'ann@example.com', test: false },
    ...{ createdAt: shop.clock.now, updatedAt: shop.clock.now, processedAt: shop.clock.now },
    ...{ displayFinancialStatus: 'PAID', displayFulfillmentStatus: 'UNFULFILLED' },
  });

  async function ninthUnderWay(): Promise<string> {
    const id = shop.order({ lines: nine });
    for (let i = 0; i < 9; i++) await shop.standin.fulfil({ id, lines: [i], shipmentStatus: 'in_transit' });
    for (let i = 0; i < 8; i++) await shop.standin.parcelNews({ id, parcel: i, status: 'delivered' });
    return id;
  }

  test('it sees the ninth parcel (audit 42)', async () => {
    const { source } = shop.open({ trigger: 'delivered' });
    const id = await ninthUnderWay();
    expect(await source.read([id])).toMatchObject([{ ok: true, record: { state: { is: 'open' } } }]);
    await shop.standin.parcelNews({ id, parcel: 8, status: 'delivered' });
    expect(await source.read([id])).toMatchObject([{ ok: true, record: { state: { is: 'closed' } } }]);
  });

  test('it tells planning of an order with more parcels than the poll sees (audit 42)', async () => {
    const since = shop.clock.now;
    const { source } = shop.open({ trigger: 'delivered' });
    const id = await ninthUnderWay();
    const page = await source.poll?.({ since });
    expect(page?.events).toMatchObject([{ kind: 'closed', recordId: id, what: expect.stringMatching(/many parcels/) }]);
    expect(page?.events[0]).not.toHaveProperty('closing');
  });

  test('it names the last payment of more than eight (audit 42)', async () => {
    const { source } = shop.open({ trigger: 'paid' });
    const id = shop.order();
    const transactions = Array.from({ length: 9 }, (_, i) => ({
      id: `gid://shopify/OrderTransaction/${i + 1}`,
      kind: 'SALE',
      status: 'SUCCESS',
      processedAt: '2026-11-20T10:00:00Z',
    }));
    const node = nodeOf(id);
    const nodes = [{ ...node, transactions: transactions.slice(0, 8) }];
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { data: { nodes } } });
    shop.standin.faults.add({ path: 'graphql', status: 200, body: { data: { node: { id: node.id, transactions } } } });
    expect(await source.read([id])).toMatchObject([{ record: { state: { is: 'closed', closing: 'p9' } } }]);
  });

  test('it shows rules every item, and asks where the eleventh is no gift card (audit 42)', async () => {
    const cards = Array.from({ length: 10 }, () => ({ title: 'card', giftCard: true, requiresShipping: false }));
    const id = shop.order({ lines: [...cards, ...Array.from({ length: 150 }, (_, i) => ({ title: `item ${i}` }))] });
    await shop.standin.fulfil({ id });
    const [result] = await shop.source.read([id]);
    expect(result).toMatchObject({ ok: true, record: { state: { is: 'closed' } } });
    const shape = result?.ok ? result.record.shape : expect.fail('not read');
    expect(shape).toMatchObject({ order: { items: { length: 160 } } });
  });

  test('it ends nothing where even the longest list may be cut (audit 42)', async () => {
    const id = shop.order();
    const at = shop.clock.now;
    const parcel = (i: number) => ({
      ...{ id: `gid://shopify/Fulfillment/${i}`, status: 'SUCCESS', createdAt: at, updatedAt: at },
      requiresShipping: true,
    });
    const node = nodeOf(id);
    const answers = [
      { nodes: [{ ...node, fulfillments: Array.from({ length: 8 }, (_, i) => parcel(i)) }] },
      { node: { ...node, fulfillments: Array.from({ length: 250 }, (_, i) => parcel(i)) } },
    ];
    for (const data of answers) shop.standin.faults.add({ path: 'graphql', status: 200, body: { data } });
    expect(await shop.source.read([id])).toMatchObject([
      { ok: false, why: 'error', error: { message: expect.stringMatching(/250 parcels or payments or more/) } },
    ]);
  });
});
