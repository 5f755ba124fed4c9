import { expect, test } from 'vitest';
import { ping, signature } from '../../../../connectors/woocommerce/events.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { verifyHmac } from '../../../../core/connector/signature.ts';
import { signWooCommerce } from '../../../../standins/woocommerce/webhooks.ts';
import { delivery, vectors } from '../../../support/connectors/woocommerce/fixture.ts';

const verify = (one: Delivery, secrets: string[]) => verifyHmac(one, secrets, signature);

test.each(vectors.woocommerce)('it judges the vector "$name"', ({ secret, headers, expect: wanted, body_base64 }) => {
  const one = delivery(headers, Buffer.from(body_base64, 'base64'));
  const verdict = verify(one, [secret]);
  expect(ping(one)).toEqual(wanted.kind === 'ping' ? { status: 200 } : undefined);
  if (wanted.kind === 'ping') expect(verdict.ok).toBe(false);
  else if (wanted.valid) {
    expect(verdict).toEqual({ ok: true });
    expect(signWooCommerce(secret, one.raw)).toBe(headers['X-WC-Webhook-Signature']);
  } else expect(verdict).toEqual({ ok: false, why: wanted.reason === 'missing header' ? 'unsigned' : 'mismatch' });
});

test('it has seen every vector of the shop', () => expect(vectors.woocommerce).toHaveLength(14));

const form = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
const pings: [name: string, headers: Record<string, string>, body: string, isPing: boolean][] = [
  ['a ping', form, 'webhook_id=7', true],
  ['a ping with an id of many digits', form, 'webhook_id=18446744073709551615', true],
  ['a form with more in it', form, 'webhook_id=7&id=1042', false],
  ['a form of something else', form, 'order_id=7', false],
  ['a ping that says JSON', { 'content-type': 'application/json' }, 'webhook_id=7', false],
  ['a ping with a wrong signature', { ...form, 'x-wc-webhook-signature': 'AAAA' }, 'webhook_id=7', false],
  ['an endless ping', form, `webhook_id=${'7'.repeat(60)}`, false],
];
test.each(pings)('it knows %s', (_name, headers, body, isPing) => {
  const one = delivery(headers, Buffer.from(body));
  expect([ping(one), verify(one, ['secret']).ok]).toEqual([isPing ? { status: 200 } : undefined, false]);
});
