import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { responseRules } from '../../../../connectors/woocommerce/api.ts';
import { classifyResponse } from '../../../../core/connector/classify.ts';
import type { Fault } from '../../../../standins/kit/faults.ts';
import { openShop, type Shop } from '../../../support/connectors/woocommerce/shop.ts';

let shop: Shop;
let id: string;
beforeEach(async () => {
  shop = await openShop();
  id = shop.order();
});
afterEach(() => shop.close());

const html = { headers: { 'content-type': 'text/html' }, body: '<html>hanna@example.com</html>' };
const said = (code: string) => ({ body: { code, message: 'hanna@example.com', data: null } });

describe('what the shop says, and what to do', () => {
  const rows: [name: string, fault: Fault, advice: object, message: RegExp, pausesMs?: number][] = [
    [
      'a wrong key',
      { status: 401, ...said('woocommerce_rest_authentication_error') },
      { kind: 'config' },
      /REST key is wrong, or lacks a right/,
    ],
    [
      'a user without rights',
      { status: 401, ...said('woocommerce_rest_cannot_view') },
      { kind: 'config' },
      /Shop manager.*auth: query/,
    ],
    [
      'a password of the web server',
      { status: 401, ...html },
      { kind: 'config' },
      /web server itself asks for a password/,
    ],
    [
      'a missing right as 403',
      { status: 403, ...said('woocommerce_rest_cannot_view') },
      { kind: 'config' },
      /Shop manager/,
    ],
    ['a firewall', { status: 403, ...html }, { kind: 'transient' }, /firewall/, 10_000],
    [
      'a limit of the host',
      { status: 429, ...html },
      { kind: 'transient', throttled: true, retryAfterMs: 10_000 },
      /asks us to wait/,
      10_000,
    ],
    [
      'a limit with its own figure',
      { status: 429, headers: { 'retry-after': '120' } },
      { kind: 'transient', throttled: true, retryAfterMs: 120_000 },
      /wait/,
      120_000,
    ],
    [
      'a limit until a date',
      { status: 429, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:01:00 GMT' } },
      { kind: 'transient', retryAfterMs: 60_000 },
      /wait/,
      60_000,
    ],
    [
      'maintenance',
      { status: 503, headers: { 'retry-after': '600', 'content-type': 'text/html' }, body: 'x' },
      { kind: 'transient', retryAfterMs: 600_000 },
      /fails/,
      600_000,
    ],
    [
      'a fatal error of PHP',
      { status: 500, ...said('internal_server_error') },
      { kind: 'transient' },
      /500, internal_server_error/,
    ],
    ['no WooCommerce', { status: 404, ...said('rest_no_route') }, { kind: 'config' }, /activate WooCommerce/],
    ['no REST API', { status: 404, ...html }, { kind: 'config' }, /restRoute: true/],
    [
      'a redirect',
      { status: 301, headers: { location: 'https://www.example.com/wp-json/?u=hanna@example.com' } },
      { kind: 'config' },
      /to https:\/\/www\.example\.com \(301.*set `site`/,
    ],
    [
      'a call it dislikes',
      { status: 400, ...said('rest_invalid_param') },
      { kind: 'permanent' },
      /400, rest_invalid_param/,
    ],
    [
      'another shape',
      { status: 200, body: { orders: 'Hanna' } },
      { kind: 'permanent' },
      /another shape than documented, at/,
    ],
    ['a page with 200', { status: 200, ...html }, { kind: 'transient' }, /page instead of an answer/],
    [
      'JSON that says it is a page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '[]' },
      { kind: 'transient' },
      /page/,
    ],
  ];
  test.each(rows)('it understands %s', async (_name, fault, advice, message, pausesMs) => {
    shop.standin.faults.add(fault);
    const error = await shop.source.read([id]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ advice, message: expect.stringMatching(message) });
    expect(String(error)).not.toMatch(/hanna/i);
    expect(shop.seen.pauses).toEqual(pausesMs === undefined ? [] : [pausesMs]);
  });
});

test('it waits by lot when nobody says for how long', () => {
  const response = { status: 429, ok: false, headers: new Headers(), text: '', json: undefined };
  const pauses = [0, 0.999].map(
    (random) =>
      classifyResponse(
        response,
        new Date(),
        responseRules(() => random),
      )?.pause?.ms,
  );
  expect(pauses).toEqual([5_000, 14_990]);
});

test('it puts the key into the address only when told to', async () => {
  shop.standin.changeSettings({ dropsAuthorization: true });
  await expect(shop.source.read([id])).rejects.toThrow(/auth: query/);
  expect(await shop.open({ auth: 'query' }).source.read([id])).toMatchObject([{ ok: true }]);
});

test('it reaches a shop with plain permalinks by rest_route', async () => {
  shop.standin.changeSettings({ permalinks: false });
  await expect(shop.source.read([id])).rejects.toThrow(/restRoute: true/);
  expect(await shop.open({ restRoute: true }).source.read([id])).toMatchObject([{ ok: true }]);
});

test('it asks for no more than it presents, and a hundred orders a call', async () => {
  const ids = Array.from({ length: 150 }, () => shop.order());
  const urls: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    urls.push(String(input));
    return globalThis.fetch(input, init);
  };
  const { source } = shop.open({}, { fetch });
  expect((await source.read(ids)).every(({ ok }) => ok)).toBe(true);
  expect(urls).toHaveLength(2);
  for (const url of urls) expect(url).toMatch(/_fields=id,status,/);
  expect(urls.join()).not.toMatch(/customer_ip|user_agent|customer_note/);
});

test('it says who the person is, unless they are a guest', async () => {
  const read = async (customerId: number, meta = {}) => {
    const [result] = await shop.source.read([shop.order({ customerId, meta })]);
    return result?.ok ? [result.record.personId, result.record.locale] : undefined;
  };
  expect([await read(57, { wpml_language: 'de' }), await read(0)]).toEqual([
    ['57', 'de'],
    [undefined, undefined],
  ]);
});
