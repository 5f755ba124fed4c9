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

const html = (status: number) => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html>hanna@example.com</html>',
});
const said = (status: number, code: string) => ({ status, body: { code, message: 'hanna@example.com', data: null } });
const later = (status: number, time: string) => ({ status, headers: { 'retry-after': time } });
const config = { kind: 'config' };
const permanent = { kind: 'permanent' };
const transient = { kind: 'transient' };

describe('what the shop says, and what to do', () => {
  const rows: [name: string, fault: Fault, advice: object, message: RegExp, pausesMs?: number][] = [
    ['a wrong key', said(401, 'woocommerce_rest_authentication_error'), config, /REST key is wrong, or lacks a right/],
    ['a user without rights', said(401, 'woocommerce_rest_cannot_view'), config, /Shop manager.*auth: query/],
    ['a password of the web server', html(401), config, /web server itself asks for a password/],
    ['a missing right as 403', said(403, 'woocommerce_rest_cannot_view'), config, /Shop manager/],
    ['a firewall', html(403), transient, /firewall/, 10_000],
    [
      'a limit of the host',
      html(429),
      { ...transient, throttled: true, retryAfterMs: 10_000 },
      /asks us to wait/,
      10_000,
    ],
    [
      'a limit with its own figure',
      later(429, '120'),
      { ...transient, throttled: true, retryAfterMs: 120_000 },
      /wait/,
      120_000,
    ],
    [
      'a limit until a date',
      later(429, 'Fri, 20 Nov 2026 12:01:00 GMT'),
      { ...transient, retryAfterMs: 60_000 },
      /wait/,
      60_000,
    ],
    [
      'maintenance',
      { status: 503, headers: { 'retry-after': '600', 'content-type': 'text/html' }, body: 'x' },
      { ...transient, retryAfterMs: 600_000 },
      /fails/,
      600_000,
    ],
    ['a fatal error of PHP', said(500, 'internal_server_error'), transient, /500, internal_server_error/],
    ['no WooCommerce', said(404, 'rest_no_route'), config, /activate WooCommerce/],
    ['no REST API', html(404), config, /restRoute: true/],
    [
      'a redirect',
      { status: 301, headers: { location: 'https://www.example.com/wp-json/?u=hanna@example.com' } },
      config,
      /to https:\/\/www\.example\.com \(301.*set `site`/,
    ],
    ['a call it dislikes', said(400, 'rest_invalid_param'), permanent, /400, rest_invalid_param/],
    ['another shape', { status: 200, body: { orders: 'Hanna' } }, permanent, /another shape than documented, at/],
    ['a page with 200', html(200), transient, /page instead of an answer/],
    [
      'JSON that says it is a page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '[]' },
      transient,
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
