import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isStandardSecret, signStandardWebhook, verifyStandardWebhook } from '../../core/standard-webhook.ts';

const Vector = z.object({
  name: z.string(),
  now: z.number(),
  secrets: z.array(z.string()).optional(),
  public_keys: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.string()),
  expect: z.object({ valid: z.boolean(), reason: z.string().optional() }),
  body_base64: z.string(),
});
const file = resolve(import.meta.dirname, 'vectors/standard-webhooks.json');
const vectors = z.array(Vector).parse(JSON.parse(readFileSync(file, 'utf8')));
const small = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const at = new Date('2026-11-21T10:00:00Z');
const message = { id: 'msg_1', at, body: '{"ä":1}' };
const raw = Buffer.from(message.body);

describe('the signature of a Standard Webhook', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))(
    'it holds for the vector "%s" or not',
    (_, vector) => {
      const delivery = {
        headers: small(vector.headers),
        raw: Buffer.from(vector.body_base64, 'base64'),
        receivedAt: new Date(vector.now * 1000),
      };
      const verdict = verifyStandardWebhook(delivery, [...(vector.secrets ?? []), ...(vector.public_keys ?? [])]);
      const why = { timestamp: 'stale', 'missing header': 'unsigned' }[vector.expect.reason ?? ''] ?? 'mismatch';
      const isLong = vector.headers['webhook-timestamp']?.length === 13;
      expect(verdict).toEqual(vector.expect.valid ? { ok: true } : { ok: false, why: isLong ? 'mismatch' : why });
    },
  );

  test('it is made so that it can be verified, by the old secret and the new one', () => {
    const other = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
    const headers = signStandardWebhook(message, [other, secret]);
    for (const one of [other, secret]) {
      expect(verifyStandardWebhook({ headers, raw, receivedAt: at }, [one])).toEqual({ ok: true });
    }
    expect(verifyStandardWebhook({ headers, raw, receivedAt: at }, [])).toEqual({ ok: false, why: 'mismatch' });
  });

  test('it is found under the names of svix, and never half under one and half under the other', () => {
    const headers = signStandardWebhook(message, [secret]);
    const svix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
    );
    expect(verifyStandardWebhook({ headers: svix, raw, receivedAt: at }, [secret])).toEqual({ ok: true });
    const mixed = { ...svix, 'webhook-signature': headers['webhook-signature'] };
    expect(verifyStandardWebhook({ headers: mixed, raw, receivedAt: at }, [secret])).toEqual({
      ok: false,
      why: 'unsigned',
    });
  });

  test.each([
    ['whsec_', false],
    ['whsec_c2hvcnQ=', false],
    ['', false],
    [secret, true],
    [secret.slice(6), true],
    ['whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=', true],
    ['whpk_c2hvcnQ=', false],
  ])('%s can be a key of one: %s', (text, can) => expect(isStandardSecret(text)).toBe(can));
});
