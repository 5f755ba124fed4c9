import { expect, test } from 'vitest';
import { isLoopback, isSafeAddress, isTimeZone } from '../../../core/address.ts';

const addresses: [text: string, origin: boolean, path: boolean, any: boolean][] = [
  ['https://acme.example.com', true, true, true],
  ['https://acme.example.com/', true, true, true],
  ['https://acme.example.com/shop', false, true, true],
  ['https://acme.example.com/shop?x=1', false, false, true],
  ['https://acme.example.com/?', false, false, true],
  ['https://acme.example.com/#top', false, false, true],
  ['http://acme.example.com', false, false, false],
  ['http://127.0.0.1:9000', true, true, true],
  ['http://127.9.9.9', true, true, true],
  ['http://127.10.200.30', true, true, true],
  ['http://notlocalhost', false, false, false],
  ['http://[::1]:9000', true, true, true],
  ['http://localhost:9000/a', false, true, true],
  ['http://localhost.example.com', false, false, false],
  ['http://127.0.0.1.example.com', false, false, false],
  ['https://user:pass@acme.example.com', false, false, false],
  ['https://:pass@acme.example.com', false, false, false],
  ['ftp://127.0.0.1', false, false, false],
  ['acme.example.com', false, false, false],
  ['', false, false, false],
];
test.each(addresses)('%s may be an origin: %s, with a path: %s, with anything: %s', (text, origin, path, any) => {
  expect([isSafeAddress(text, 'origin'), isSafeAddress(text, 'path'), isSafeAddress(text)]).toEqual([
    origin,
    path,
    any,
  ]);
});

test('what is no address leads nowhere', () => expect(isLoopback('nowhere')).toBe(false));

test.each([
  ['Europe/Tallinn', true],
  ['UTC', true],
  ['+02:00', false],
  ['Europe/Nowhere', false],
  ['', false],
])('%s is a time zone: %s', (name, is) => expect(isTimeZone(name)).toBe(is));
