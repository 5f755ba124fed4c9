import { describe, expect, test } from 'vitest';
import { addressGroup } from '../../../../core/address-group.ts';
import { Waiting } from '../../../../worker/intake/waiting.ts';

describe('who gives way', () => {
  test('it is the longest of the address with the most, and of an address that is named (audit 27)', () => {
    const waiting = new Waiting<{ name: string }>();
    const [old, big, bigger] = [{ name: 'old' }, { name: 'big' }, { name: 'bigger' }];
    expect(waiting.longest()).toBeUndefined();
    waiting.add(old, 'a', 10);
    waiting.add(big, 'b', 5);
    waiting.add(bigger, 'b', 6);
    expect([waiting.longest()?.name, waiting.longest('a')?.name, waiting.sizeOf('b')]).toEqual(['big', 'old', 11]);
    waiting.add(old, 'a', 2);
    expect([waiting.longest()?.name, waiting.sizeOf('a')]).toEqual(['old', 12]);
    waiting.remove(old);
    waiting.remove(old);
    expect([waiting.longest()?.name, waiting.sizeOf('a')]).toEqual(['big', 0]);
    waiting.remove(big);
    waiting.remove(bigger);
    expect(waiting.longest()).toBeUndefined();
  });
});

const addresses: [address: string, group: string][] = [
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['what somebody wrote into a header, longer than any address', 'what somebody wrote into a header, longer tha'],
];
test.each(addresses)('limits count %s as %s (audit 27)', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
