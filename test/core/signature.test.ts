import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../core/connector/contract.ts';
import { type HmacForm, isEqual, signHmac, verifyHmac } from '../../core/connector/signature.ts';

const hex: HmacForm = { algorithm: 'sha256', encoding: 'hex' };

describe('signHmac', () => {
  // RFC 4231, test case 2; RFC 2202, test case 2.
  const [key, data] = ['Jefe', 'what do ya want for nothing?'];
  const sha256 = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  const rows: [form: HmacForm, parts: (string | Uint8Array)[], expected: string][] = [
    [hex, [data], sha256],
    [hex, ['what do ya ', Buffer.from('want for nothing?')], sha256],
    [{ algorithm: 'sha256', encoding: 'base64' }, [data], Buffer.from(sha256, 'hex').toString('base64')],
    [{ algorithm: 'sha1', encoding: 'hex' }, [data], 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
  ];
  test.each(rows)('it signs as the standard says (%j)', (form, parts, expected) => {
    expect(signHmac(key, parts, form)).toBe(expected);
  });
});

describe('verifyHmac', () => {
  const raw = Buffer.from('{"ticket":1}');
  const good = signHmac('new', [raw], hex);
  const rows: [what: string, given: string | undefined, secrets: string[], expected: Verdict][] = [
    ['takes the first secret', good, ['new', 'old'], { ok: true }],
    ['takes the second secret', signHmac('old', [raw], hex), ['new', 'old'], { ok: true }],
    ['refuses a secret that is not configured', good, ['old'], { ok: false, why: 'mismatch' }],
    ['refuses everything without a secret', good, [], { ok: false, why: 'mismatch' }],
    ['refuses a missing signature', undefined, ['new'], { ok: false, why: 'unsigned' }],
    ['refuses an empty signature', '', ['new'], { ok: false, why: 'unsigned' }],
    ['refuses a shorter one', good.slice(0, -1), ['new'], { ok: false, why: 'mismatch' }],
    ['refuses a longer one', `${good}0`, ['new'], { ok: false, why: 'mismatch' }],
    ['refuses the other spelling', good.toUpperCase(), ['new'], { ok: false, why: 'mismatch' }],
  ];
  test.each(rows)('it %s', (_what, given, secrets, expected) => {
    expect(verifyHmac(given, secrets, [raw], hex)).toEqual(expected);
  });

  const receivedAt = new Date('2026-11-21T12:00:00Z');
  const ages: [what: string, signedAt: Date, expected: Verdict][] = [
    ['a fresh one', new Date('2026-11-21T11:55:00Z'), { ok: true }],
    ['one from a clock that is ahead', new Date('2026-11-21T12:05:00Z'), { ok: true }],
    ['an old one', new Date('2026-11-21T11:54:59.999Z'), { ok: false, why: 'stale' }],
    ['one from the future', new Date('2026-11-21T12:05:00.001Z'), { ok: false, why: 'stale' }],
    ['one whose time is no date', new Date('soon'), { ok: false, why: 'stale' }],
  ];
  test.each(ages)('it judges %s by its time', (_what, signedAt, expected) => {
    const fresh = { signedAt, receivedAt, toleranceMs: 300_000 };
    expect(verifyHmac(good, ['new'], [raw], hex, fresh)).toEqual(expected);
    // The age of what isn't genuine says nothing.
    expect(verifyHmac(good, ['old'], [raw], hex, fresh)).toEqual({ ok: false, why: 'mismatch' });
  });
});

test.each([
  ['abc', 'abc', true],
  ['abc', 'abd', false],
  ['abc', 'abcd', false],
  ['õ', 'õ', true],
])('isEqual(%s, %s) is %s', (a, b, expected) => expect(isEqual(a, b)).toBe(expected));
