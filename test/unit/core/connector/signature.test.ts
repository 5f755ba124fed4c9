import { describe, expect, test } from 'vitest';
import type { Delivery, Verdict } from '../../../../core/connector/contract.ts';
import {
  type HmacScheme,
  isEqual,
  signHmac,
  verifyHmac,
  verifySecretHeader,
} from '../../../../core/connector/signature.ts';

const hex: HmacScheme = { header: 'x-signature', algorithm: 'sha256', encoding: 'hex' };
const receivedAt = new Date('2026-11-21T12:00:00Z');
const delivery = (headers: Record<string, string>, raw = '{"ticket":1}'): Delivery => ({
  method: 'POST',
  url: 'https://closeloop.example/hooks/toy',
  headers,
  raw: Buffer.from(raw),
  receivedAt,
});

describe('signHmac', () => {
  // RFC 4231, test case 2; RFC 2202, test case 2.
  const [key, data] = ['Jefe', 'what do ya want for nothing?'];
  const sha256 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  const rows: [scheme: HmacScheme, raw: string, timestamp: string, expected: string][] = [
    [hex, data, '', sha256],
    [{ ...hex, signed: ({ raw }, at) => [at, raw] }, data.slice(11), data.slice(0, 11), sha256],
    [{ ...hex, prefix: 'sha256=' }, data, '', `sha256=${sha256}`],
    [{ ...hex, encoding: 'base64' }, data, '', Buffer.from(sha256, 'hex').toString('base64')],
    [{ ...hex, algorithm: 'sha1' }, data, '', 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
  ];
  test.each(rows)('it signs as the standard says (%j)', (scheme, raw, timestamp, expected) => {
    expect(signHmac(key, delivery({}, raw), scheme, timestamp)).toBe(expected);
  });
});

describe('verifyHmac', () => {
  const good = signHmac('new', delivery({}), hex);
  const rows: [what: string, given: string | undefined, secrets: string[], expected: Verdict][] = [
    ['takes the first secret', good, ['new', 'old'], { ok: true }],
    ['takes the second secret', signHmac('old', delivery({}), hex), ['new', 'old'], { ok: true }],
    ['takes hex in capitals', good.toUpperCase(), ['new'], { ok: true }],
    ['refuses a secret that is not configured', good, ['old'], { ok: false, why: 'mismatch' }],
    ['refuses everything without a secret', good, [], { ok: false, why: 'mismatch' }],
    ['refuses an empty secret', signHmac('', delivery({}), hex), [''], { ok: false, why: 'mismatch' }],
    ['refuses a missing signature', undefined, ['new'], { ok: false, why: 'unsigned' }],
    ['refuses an empty signature', '', ['new'], { ok: false, why: 'unsigned' }],
    ['refuses a shorter one', good.slice(0, -1), ['new'], { ok: false, why: 'mismatch' }],
    ['refuses a longer one', `${good}0`, ['new'], { ok: false, why: 'mismatch' }],
  ];
  test.each(rows)('it %s', (_what, given, secrets, expected) => {
    const headers = given === undefined ? {} : { 'x-signature': given };
    expect(verifyHmac(delivery(headers), secrets, hex)).toEqual(expected);
  });

  test('it refuses capitals where the vendor writes small letters only', () => {
    const scheme: HmacScheme = { ...hex, smallOnly: true };
    const verdictOn = (text: string) => verifyHmac(delivery({ 'x-signature': text }), ['new'], scheme);
    expect([verdictOn(good), verdictOn(good.toUpperCase())]).toEqual([{ ok: true }, { ok: false, why: 'mismatch' }]);
  });

  test('it takes hex in capitals behind a prefix, and the prefix only as it is', () => {
    const scheme: HmacScheme = { ...hex, prefix: 'sha256=' };
    const verdictOn = (text: string) => verifyHmac(delivery({ 'x-signature': text }), ['new'], scheme);
    expect(verdictOn(`sha256=${good.toUpperCase()}`)).toEqual({ ok: true });
    for (const other of [good, `SHA256=${good}`]) expect(verdictOn(other)).toEqual({ ok: false, why: 'mismatch' });
  });

  test('it takes base64 in its own letters only, and a prefix as it is', () => {
    const scheme: HmacScheme = { ...hex, encoding: 'base64', prefix: 'v1=' };
    const given = signHmac('new', delivery({}), scheme);
    const verdictOn = (text: string) => verifyHmac(delivery({ 'x-signature': text }), ['new'], scheme);
    expect(verdictOn(given)).toEqual({ ok: true });
    for (const other of [given.toLowerCase(), given.slice(3), given.replace('v1=', 'v2='), 'v1=', 'V1=']) {
      expect(verdictOn(other)).toEqual({ ok: false, why: 'mismatch' });
    }
  });

  const mismatch: Verdict = { ok: false, why: 'mismatch' };
  const stale: Verdict = { ok: false, why: 'stale' };
  const misread = (form: string): Verdict => ({ ...mismatch, detail: `The header x-time must be ${form}.` });
  const noSeconds = misread('whole seconds since 1970');
  const noMilliseconds = misread('milliseconds since 1970');
  const untimed: Verdict = { ok: false, why: 'unsigned', detail: 'The header x-time is missing.' };
  const times: [as: 'seconds' | 'milliseconds' | 'iso', written: string, expected: Verdict][] = [
    ['iso', '2026-11-21T11:55:00Z', { ok: true }],
    ['iso', '2026-11-21T12:05:00Z', { ok: true }],
    ['iso', '2026-11-21T11:54:59.999Z', stale],
    ['iso', '2026-11-21T12:05:00.001Z', stale],
    ['iso', 'soon', stale],
    ['seconds', '1795262100', { ok: true }],
    ['seconds', '1795262099', stale],
    ['seconds', '1795262100000', noSeconds],
    ['seconds', 'now', noSeconds],
    ['milliseconds', '1795262700000', { ok: true }],
    ['milliseconds', '1795262700001', stale],
    ['milliseconds', '1795262700', noMilliseconds],
    ['milliseconds', '+1795262400000', noMilliseconds],
    ['milliseconds', '1795262400000.5', noMilliseconds],
  ];
  test.each(times)('it judges one by its time in %s: %s', (as, at, expected) => {
    const timestamp = { header: 'x-time', as, toleranceMs: 300_000 };
    const scheme: HmacScheme = { ...hex, timestamp, signed: ({ raw }, time) => [time, '.', raw] };
    const headers = { 'x-time': at, 'x-signature': signHmac('new', delivery({}), scheme, at) };
    expect(verifyHmac(delivery(headers), ['new'], scheme)).toEqual(expected);
    // The age of what isn't genuine says nothing.
    expect(verifyHmac(delivery(headers), ['old'], scheme)).toEqual(
      expected.ok || expected.why === 'stale' ? mismatch : expected,
    );
    expect(verifyHmac(delivery({ ...headers, 'x-time': '' }), ['new'], scheme)).toEqual(untimed);
    expect(verifyHmac(delivery({ ...headers, 'x-time': at.slice(0, -1) }), ['new'], scheme)).toMatchObject(mismatch);
  });
});

const notTheSecret = {
  ok: false,
  why: 'mismatch',
  detail: 'The header x-token does not hold the secret of this source.',
};
const noSecret = { ok: false, why: 'unsigned', detail: 'The header x-token is missing.' };

test.each([
  ['Bearer one', { ok: true }],
  ['Bearer two', { ok: true }],
  ['bearer one', notTheSecret],
  ['Bearer on', notTheSecret],
  ['', noSecret],
])('a secret in a header is judged: %j', (given, expected) => {
  const secrets = ['Bearer one', 'Bearer two', ''];
  expect(verifySecretHeader(delivery({ 'x-token': given }), secrets, 'x-token')).toEqual(expected);
  expect(verifySecretHeader(delivery({}), secrets, 'x-token')).toEqual(noSecret);
});

test.each([
  ['abc', 'abc', true],
  ['abc', 'abd', false],
  ['abc', 'abcd', false],
  ['õ', 'õ', true],
])('isEqual(%s, %s) is %s', (a, b, expected) => expect(isEqual(Buffer.from(a), Buffer.from(b))).toBe(expected));
