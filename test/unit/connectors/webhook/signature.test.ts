import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { settings, type WebhookSettings } from '../../../../connectors/webhook/settings.ts';
import { verify } from '../../../../connectors/webhook/webhook.ts';
import type { Verdict } from '../../../../core/connector/contract.ts';

/* Standard Webhooks has its vectors at test/unit/core/connector/standard-webhook.test.ts. */

const raw = Buffer.from('{"id":1,"x":"\\u00e9"}');
const receivedAt = new Date('2026-11-21T10:00:00Z');
const seconds = receivedAt.getTime() / 1000;

function signature(given: object): WebhookSettings['signature'] {
  const event = { id: 'id', record: 'id', closed: 'true' };
  return settings.parse({ signature: given, event }).signature;
}
const verdict = (headers: Record<string, string>, given: object): Verdict =>
  verify({ method: 'POST', url: '', headers, raw, receivedAt }, signature(given));

const ok: Verdict = { ok: true };
const no = (why: 'unsigned' | 'mismatch' | 'stale', detail?: string): Verdict => {
  return { ok: false, why, ...(detail !== undefined && { detail }) };
};
const hmac = (algorithm: string, key: string, encoding: 'hex' | 'base64', ...parts: (string | Buffer)[]): string => {
  const made = createHmac(algorithm, key);
  for (const part of parts) made.update(part);
  return made.digest(encoding);
};
const hex = hmac('sha256', 'new', 'hex', raw);

describe('an HMAC in a header', () => {
  const plain = { kind: 'hmac', header: 'X-Signature', secrets: ['new', 'old'] };
  const timed = { ...plain, timestampHeader: 'X-Time' };
  const at = (second: number) => ({
    'x-time': String(second),
    'x-signature': hmac('sha256', 'new', 'hex', `${second}.`, raw),
  });
  const rows: [what: string, headers: Record<string, string>, given: object, expected: Verdict][] = [
    ['hex', { 'x-signature': hex }, plain, ok],
    ['hex in capitals', { 'x-signature': hex.toUpperCase() }, plain, ok],
    ['with the older secret', { 'x-signature': hmac('sha256', 'old', 'hex', raw) }, plain, ok],
    ['with another secret', { 'x-signature': hmac('sha256', 'other', 'hex', raw) }, plain, no('mismatch')],
    ['of another body', { 'x-signature': hmac('sha256', 'new', 'hex', 'x') }, plain, no('mismatch')],
    ['without it', {}, plain, no('unsigned')],
    ['empty', { 'x-signature': '' }, plain, no('unsigned')],
    ['with a prefix', { 'x-signature': `sha256=${hex}` }, { ...plain, prefix: 'sha256=' }, ok],
    ['without its prefix', { 'x-signature': hex }, { ...plain, prefix: 'sha256=' }, no('mismatch')],
    ['nothing but its prefix', { 'x-signature': 'sha256=' }, { ...plain, prefix: 'sha256=' }, no('mismatch')],
    ['base64', { 'x-signature': hmac('sha256', 'new', 'base64', raw) }, { ...plain, encoding: 'base64' }, ok],
    [
      'base64 in other letters',
      { 'x-signature': hmac('sha256', 'new', 'base64', raw).toLowerCase() },
      { ...plain, encoding: 'base64' },
      no('mismatch'),
    ],
    ['SHA-512', { 'x-signature': hmac('sha512', 'new', 'hex', raw) }, { ...plain, algorithm: 'sha512' }, ok],
    ['SHA-1 where SHA-256 is wanted', { 'x-signature': hmac('sha1', 'new', 'hex', raw) }, plain, no('mismatch')],
    ['with its time', at(seconds), timed, ok],
    ['just in time', at(seconds - 300), timed, ok],
    ['too late', at(seconds - 301), timed, no('stale')],
    ['from the future', at(seconds + 301), timed, no('stale')],
    ['with another time', { ...at(seconds), 'x-time': String(seconds - 1) }, timed, no('mismatch')],
    ['without its time', { 'x-signature': hex }, timed, no('unsigned', 'The header x-time is missing.')],
    [
      'with a time that is none',
      { ...at(seconds), 'x-time': 'now' },
      timed,
      no('mismatch', 'The header x-time must be whole seconds since 1970.'),
    ],
  ];
  test.each(rows)('it is judged: %s', (_what, headers, given, expected) => {
    expect(verdict(headers, given)).toEqual(expected);
  });
});

describe('a token', () => {
  const token = { kind: 'token', header: 'Authorization', secrets: ['Bearer one', 'Bearer two'] };
  const notTheSecret = no('mismatch', 'The header authorization does not hold the secret of this source.');
  test.each([
    ['Bearer one', ok],
    ['Bearer two', ok],
    ['bearer one', notTheSecret],
    ['Bearer on', notTheSecret],
    ['', no('unsigned', 'The header authorization is missing.')],
  ])('it is judged: %j', (authorization, expected) => {
    expect(verdict({ authorization }, token)).toEqual(expected);
  });
});
