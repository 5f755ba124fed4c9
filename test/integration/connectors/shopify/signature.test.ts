import { expect, test } from 'vitest';
import { verify } from '../../../../connectors/shopify/events.ts';
import type { Verdict } from '../../../../core/connector/contract.ts';
import { signShopify } from '../../../../standins/shopify/webhooks.ts';
import { delivery, vectorShop, vectors } from '../../../support/connectors/shopify/fixture.ts';

function expected({ headers, expect }: (typeof vectors.shopify)[number]): Verdict {
  // The preview of Shopify's next webhooks has other headers, and isn't taken.
  if (expect.optional === true || expect.reason === 'missing header') return { ok: false, why: 'unsigned' };
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const isOurs = lower.get('x-shopify-shop-domain') === vectorShop;
  return expect.valid && isOurs ? { ok: true } : { ok: false, why: 'mismatch' };
}

test.each(vectors.shopify.map((vector) => [vector.name, vector] as const))(
  'it judges the vector "%s"',
  (_name, vector) => {
    const raw = Buffer.from(vector.body_base64, 'base64');
    expect(verify(delivery(vector.headers, raw), vector.secrets, vectorShop)).toEqual(expected(vector));
  },
);

test('it has seen every vector, those of foreign shops and of other headers among them', () => {
  expect(vectors.shopify).toHaveLength(21);
  expect(new Set(vectors.shopify.map((vector) => JSON.stringify(expected(vector)))).size).toBe(3);
});

test('it refuses a delivery that names no shop', () => {
  const raw = Buffer.from('{}');
  const headers = { 'x-shopify-hmac-sha256': signShopify('s', raw) };
  expect(verify(delivery(headers, raw), ['s'], vectorShop)).toEqual({ ok: false, why: 'mismatch' });
});
