import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenWebhook, events } from '../../../../connectors/woocommerce/events.ts';
import { woocommerce } from '../../../../connectors/woocommerce/woocommerce.ts';
import type { Delivery, SourceEvent } from '../../../../core/connector/contract.ts';
import { jsonBody } from '../../../../core/connector/json-body.ts';
import {
  delivery,
  fixture,
  given,
  receivedAt,
  settingsOf,
  testPorts,
  vectors,
} from '../../../support/connectors/woocommerce/fixture.ts';

const settings = settingsOf();
const eventsIn = (one: Delivery, of = settings) => events(jsonBody(one.raw), one, of);
const closing = '2026-11-18T14:42:10Z';
const byTopic = (body: object, topic: string, at = receivedAt, deliveryId = '0a6c') =>
  eventsIn(
    delivery(
      { 'x-wc-webhook-topic': topic, 'x-wc-webhook-delivery-id': deliveryId },
      Buffer.from(JSON.stringify(body)),
      at,
    ),
  );
const of = (found: ReturnType<typeof events>): SourceEvent[] => (found.ok ? found.events : expect.fail(found.why));

describe('the vectors', () => {
  const closed = { kind: 'closed', recordId: '1042' };
  const wanted: Readonly<Record<string, object[]>> = {
    'order.updated, whole fixture, PHP-style escaping': [
      { ...closed, certain: true, closing, key: `webhook.closed.1042.${closing}` },
    ],
    'same order again after our own meta write': [
      { ...closed, certain: true, closing, key: `webhook.closed.1042.${closing}` },
    ],
    'order.updated while processing': [{ kind: 'changed', recordId: '1042' }],
    'custom action topic carries only the id': [closed],
    'order.deleted': [{ kind: 'changed', recordId: '1042' }],
    'signed error object instead of an order': [],
    'small order, exact bytes': [{ ...closed, closing: 'once' }],
    'secret with HTML-special characters: key is the decoded text': [{ ...closed, closing: 'once' }],
  };
  const valid = vectors.woocommerce.filter(({ expect: { valid } }) => valid);
  test('all of them are here', () => expect(valid.map(({ name }) => name).sort()).toEqual(Object.keys(wanted).sort()));
  test.each(valid)('it finds in "$name" what it says', ({ name, headers, body_base64 }) => {
    const found = of(eventsIn(delivery(headers, Buffer.from(body_base64, 'base64'))));
    expect(found).toMatchObject(wanted[name] ?? []);
    expect(found).toHaveLength(wanted[name]?.length ?? 0);
    expect(JSON.stringify(found)).not.toMatch(/matteo|Brückner|0172/i);
  });

  test.each(vectors.woocommerce_sequences)('it keeps "$name" apart', ({ deliveries, expect: wantedToo }) => {
    const keys = deliveries.flatMap(({ order_id, delivery_id }) => [
      ...of(byTopic({ ...fixture, id: order_id }, 'order.updated', receivedAt, delivery_id)),
      ...of(
        byTopic({ action: 'woocommerce_order_status_completed', arg: order_id }, 'action.x', receivedAt, delivery_id),
      ),
    ]);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(2 * wantedToo.length);
  });
});

describe('what an order means', () => {
  const rows: [name: string, change: object, topic: string, kinds: string[]][] = [
    ['made as completed', {}, 'order.created', ['closed']],
    ['restored from the trash as completed', {}, 'order.restored', ['closed']],
    ['refunded', { status: 'refunded' }, 'order.updated', ['changed']],
    ['cancelled', { status: 'cancelled' }, 'order.updated', ['changed']],
    ['reopened', { status: 'processing' }, 'order.updated', ['changed']],
    ['a draft of the checkout', { status: 'checkout-draft' }, 'order.created', []],
    ['not paid yet', { status: 'pending' }, 'order.updated', []],
    ['a refund record', { parent_id: 1041 }, 'order.updated', []],
    ['a product with a status', {}, 'product.updated', []],
    ['a subscription', {}, 'subscription.updated', []],
    [
      'completed a month ago and saved again',
      { date_completed_gmt: '2026-10-18T14:42:10' },
      'order.updated',
      ['changed'],
    ],
    ['completed six days ago, told late', { date_completed_gmt: '2026-11-12T15:00:00' }, 'order.updated', ['closed']],
    ['in a status that is a text of somebody', { status: 'Hello <b>you</b>' }, 'order.updated', []],
    ['with an id beyond what numbers hold', { id: '18446744073709551615' }, 'order.updated', ['closed']],
  ];
  test.each(rows)('it takes one %s for that', (_name, change, topic, kinds) => {
    expect(of(byTopic({ ...fixture, ...change }, topic)).map(({ kind }) => kind)).toEqual(kinds);
  });

  test("it asks about an order in a plugin's status while it is young", () => {
    const body = (date_created_gmt: string) =>
      Buffer.from(JSON.stringify({ ...fixture, status: 'delivered', date_completed_gmt: null, date_created_gmt }));
    const kind = (date: string) =>
      of(eventsIn(delivery({}, body(date)), settingsOf({ statuses: ['delivered'] })))[0]?.kind;
    expect([kind('2026-10-01T00:00:00'), kind('2026-01-01T00:00:00')]).toEqual(['closed', 'changed']);
  });

  test('it gives every change of one order a key of its own, and the same one to its repetition', () => {
    const key = (date_modified_gmt: string, status: string) =>
      of(byTopic({ ...fixture, status, date_modified_gmt }, 'order.updated'))[0]?.key;
    const keys = [
      key('2026-11-19T00:00:00', 'processing'),
      key('2026-11-19T00:00:01', 'processing'),
      key('2026-11-19T00:00:01', 'cancelled'),
      key('2026-11-19T00:00:01', 'cancelled'),
    ];
    expect(new Set(keys).size).toBe(3);
  });

  test('it keeps the digits of an id that a number would round', () => {
    const raw = Buffer.from('{"id":18446744073709551615,"status":"completed"}');
    expect(of(eventsIn(delivery({}, raw)))).toMatchObject([{ recordId: '18446744073709551615' }]);
  });
});

test.each(['', '{"id":10', '\xff'])('it refuses nothing, and tells the operator of what is no JSON: %j', (text) => {
  const source = woocommerce.open(given, testPorts().ports);
  const found = source.events(delivery({ 'x-wc-webhook-topic': 'order.updated' }, Buffer.from(text, 'latin1')));
  expect(found).toMatchObject({ ok: true, events: [], ignored: [{ what: 'an unreadable delivery', act: true }] });
});

test('it refuses nothing: a refused delivery counts against the webhook', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.constantFrom('order.updated', 'order.deleted', 'action.x', 'coupon.created', ''),
      (text, topic) => {
        expect(eventsIn(delivery({ 'x-wc-webhook-topic': topic }, Buffer.from(text))).ok).toBe(true);
      },
    ),
  );
});

test('it tells the operator of a webhook that delivers errors, without quoting them', () => {
  const source = woocommerce.open(given, testPorts().ports);
  const vector = vectors.woocommerce.find(({ name }) => name.startsWith('signed error'));
  if (vector === undefined) return expect.fail('the vector is gone');
  expect(source.events(delivery(vector.headers, Buffer.from(vector.body_base64, 'base64')))).toEqual({
    ok: true,
    events: [],
    ignored: [{ what: 'an error instead of an order', why: brokenWebhook, act: true }],
  });
});

test('it is a source that answers 200, also to a form', () => {
  const { taken, alsoTakes } = woocommerce.open(given, testPorts().ports);
  expect([taken, alsoTakes]).toEqual([{ status: 200 }, ['form']]);
});
