import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { isPublicAddress, literalIn, PrivateAddress, publicLookup } from '../../../../core/connector/public-address.ts';

/** 169.254.169.254: the metadata of most clouds. */
const notPublic = `
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.8.8.8 169.254.169.254
  169.254.0.1 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255
  198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1
  ::ffff:10.1.2.3 ::ffff:a9fe:a9fe ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1
  2002:7f00:1:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1 127.1
`
  .trim()
  .split(/\s+/)
  .concat('', 'not an address');

const open = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255
  169.255.0.1 172.15.255.255 172.32.0.1 191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255
  198.20.0.1 203.0.112.1 223.255.255.255 2001:4860:4860::8888 2600::1 2a00:1450::1
`
  .trim()
  .split(/\s+/);

describe('an address', () => {
  test.each(notPublic)('it is not public: %s', (address) => expect(isPublicAddress(address)).toBe(false));
  test.each(open)('it is public: %s', (address) => expect(isPublicAddress(address)).toBe(true));

  const literals: [url: string, literal: string | undefined][] = [
    ['https://hooks.example.com/x', undefined],
    ['https://127.0.0.1/x', '127.0.0.1'],
    ['https://0x7f.1/x', '127.0.0.1'],
    ['https://2130706433/x', '127.0.0.1'],
    ['https://0177.0.0.1/x', '127.0.0.1'],
    ['https://１２７.0.0.1/x', '127.0.0.1'],
    ['https://[::1]:8443/x', '::1'],
    ['https://[::ffff:127.0.0.1]/x', '::ffff:7f00:1'],
    ['https://127.0.0.1.nip.io/x', undefined],
  ];
  test.each(literals)('it is found in %s', (url, literal) => {
    expect(literalIn(url)).toBe(literal);
    if (literal !== undefined) expect(isPublicAddress(literal)).toBe(false);
  });
});

describe('a look-up', () => {
  const look = (found: LookupAddress[], options: { all?: boolean }) =>
    new Promise((done) => {
      const lookup = publicLookup((_host, _options, answer) => answer(null, found));
      lookup('hooks.example.com', options, (error, address, family) => done(error ?? [address, family]));
    });
  const one = { address: '1.1.1.1', family: 4 };
  const two = { address: '2600::1', family: 6 };

  test('it hands on what it found', async () => {
    expect(await look([one, two], { all: true })).toEqual([[one, two], undefined]);
    expect(await look([one, two], {})).toEqual(['1.1.1.1', 4]);
  });

  test('it fails when any of the addresses is private, or there is none', async () => {
    for (const found of [[{ address: '10.0.0.1', family: 4 }], [one, { address: '::1', family: 6 }], []]) {
      for (const all of [true, false]) expect(await look(found, { all })).toBeInstanceOf(PrivateAddress);
    }
  });

  test('it hands on why a name is not known', async () => {
    const unknown = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    const lookup = publicLookup((_host, _options, answer) => answer(unknown, []));
    expect(await new Promise((done) => lookup('x.example', {}, (error) => done(error)))).toBe(unknown);
  });
});
