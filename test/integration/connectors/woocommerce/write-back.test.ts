import { afterEach, beforeEach, expect, test } from 'vitest';
import { allOn, answer, openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

let shop: Shop;
let id: string;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
  id = shop.order();
});
afterEach(() => shop.close());

const order = (of = id) => shop.standin.order(Number(of));
const ok = [{ ok: true, findings: [] }];
const notes = () => order().notes.map(({ note }) => note);

test('it writes meta data and a private note, recalculates nothing and mails nobody', async () => {
  const answers = { q1: ['fast', 'very'], q2: true };
  expect(await shop.source.writeBack([answer(id, { answers })])).toEqual(ok);
  expect(order()).toMatchObject({
    values: {
      feedback_grade: '4',
      feedback_comment: 'Quick & <b>good</b>',
      feedback_at: '2026-11-20T10:00:00.000Z',
      feedback_status: 'answered',
      feedback_speed: 'fast, very',
    },
    mails: 0,
    recalculations: 0,
    status: 'completed',
  });
  expect(notes()).toEqual([
    [
      'Customer feedback: 4 of 5 (After delivery)',
      '',
      'Quick &amp; &lt;b&gt;good&lt;/b&gt;',
      '',
      'Answered 2026-11-20 10:00 UTC',
      'closeloop ref shop/1.1.v1',
    ].join('\n'),
  ]);
});

test('it says that no answer came, but not over an answer', async () => {
  const none = answer(id, { status: 'no-answer', grade: null, comment: null });
  expect(await shop.source.writeBack([none])).toEqual(ok);
  expect(order().values).toEqual({ feedback_status: 'no-answer' });
  expect(notes()).toEqual([]);
  await shop.source.writeBack([answer(id)]);
  await shop.source.writeBack([none]);
  expect(order().values).toMatchObject({ feedback_status: 'answered', feedback_grade: '4' });
});

test("it mends rows that stand there twice, and leaves other plugins' alone", async () => {
  await shop.standin.setMeta({ id: Number(id), key: 'gift_wrap', value: { paper: 'red' } });
  order().meta.push({ id: 1, key: 'feedback_grade', value: '4' }, { id: 2, key: 'feedback_grade', value: '4' });
  expect(await shop.source.writeBack([answer(id)])).toEqual(ok);
  const rows = order().meta.map(({ key }) => key);
  expect(rows.filter((key) => key === 'feedback_grade')).toHaveLength(1);
  expect(order().values.gift_wrap).toEqual({ paper: 'red' });
});

test('it tells the failure of each row to its own order', async () => {
  const gone = shop.order();
  const [lost, odd] = [shop.order(), shop.order()];
  await shop.standin.remove(Number(gone));
  shop.standin.faults.add({
    method: 'POST',
    path: 'orders/batch',
    status: 200,
    body: {
      update: [
        {
          id: Number(lost),
          error: { code: 'woocommerce_rest_shop_order_invalid_id', message: 'x', data: { status: 400 } },
        },
        { id: Number(odd), error: { code: 'woocommerce_rest_cannot_edit', message: 'hanna', data: { status: 401 } } },
      ],
    },
  });
  const results = await shop.source.writeBack([gone, lost, odd, id, 'nonsense'].map((one) => answer(one)));
  expect(results).toMatchObject([
    { ok: false, why: 'not-found' },
    { ok: false, why: 'not-found' },
    { ok: false, why: 'error', error: { advice: { kind: 'permanent' } } },
    { ok: false, why: 'error', error: { advice: { kind: 'transient' }, outcome: 'unknown' } },
    { ok: false, why: 'not-found' },
  ]);
  expect(JSON.stringify(results)).not.toContain('nonsense');
});

test('it stops writing notes when the shop asks to wait, and finishes the next time', async () => {
  const ids = [id, shop.order(), shop.order()];
  const items = ids.map((one) => answer(one, { marker: `shop/${one}.1.v1` }));
  shop.standin.faults.add({ method: 'POST', path: `${ids[1]}/notes$`, status: 429 });
  const results = await shop.source.writeBack(items);
  expect(results.map(({ ok }) => ok)).toEqual([true, false, false]);
  expect(await shop.source.writeBack(items)).toEqual([...ok, ...ok, ...ok]);
  expect(ids.map((one) => order(one).notes.length)).toEqual([1, 1, 1]);
});
