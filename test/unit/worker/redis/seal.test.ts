import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeal, deriveKey, SealError } from '../../../../worker/redis/seal.ts';

const key = new Uint8Array(32).fill(1);
const other = new Uint8Array(32).fill(2);
const who = '+37255512345';

describe('the seal', () => {
  test('it opens what it sealed, in any process with the key, and shows nothing of it (audit 8)', () => {
    for (const text of ['', who, 'Ünïcode 🙂'.repeat(1_000)]) {
      const sealed = createSeal(key).seal(text, 'here');
      expect(createSeal(key).open(sealed, 'here')).toBe(text);
      expect(sealed).toMatch(/^1\.[\w-]+$/);
      expect(createSeal(key).seal(text, 'here')).not.toBe(sealed);
    }
  });

  test('it opens nothing that was changed, that stood elsewhere, or that another key sealed (audit 8)', () => {
    const sealed = createSeal(key).seal('secret', 'here');
    const changed = [...sealed].map(
      (_, i) => sealed.slice(0, i) + (sealed[i] === 'A' ? 'Q' : 'A') + sealed.slice(i + 1),
    );
    for (const text of [...changed, '', '1.', '1.AAAA', 'secret', '{"state":"asked"}', sealed.slice(2)]) {
      if (text !== sealed) expect(() => createSeal(key).open(text, 'here')).toThrow(SealError);
    }
    expect(() => createSeal(key).open(sealed, 'elsewhere')).toThrow(SealError);
    expect(() => createSeal(other).open(sealed, 'here')).toThrow(SealError);
  });

  test('it digests the same text to the same word, which nobody finds without the key (audit 8)', () => {
    const digest = createSeal(key).digest(who);
    expect(digest).toMatch(/^[\w-]{43}$/);
    expect(createSeal(key).digest(who)).toBe(digest);
    expect(createSeal(key).digest(`${who} `)).not.toBe(digest);
    expect(createSeal(other).digest(who)).not.toBe(digest);
    expect(createHash('sha256').update(who).digest('base64url')).not.toBe(digest);
  });

  test('its digest is the HMAC-SHA-256 of a key of its own', () => {
    const seal = createSeal(key);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const hmac = createHmac('sha256', deriveKey(key, 'digest')).update(text).digest('base64url');
        expect(seal.digest(text)).toBe(hmac);
      }),
    );
  });

  test('it derives a key for each purpose', () => {
    const keys = ['digest', 'seal', 'data key'].map((purpose) => Buffer.from(deriveKey(key, purpose)).toString('hex'));
    expect(new Set(keys).size).toBe(3);
    expect(keys.every((one) => one.length === 64)).toBe(true);
  });
});
