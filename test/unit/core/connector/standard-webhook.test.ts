import crypto, { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import {
  isStandardSecret,
  signedMessageId,
  signStandardWebhook,
  verifyStandardWebhook,
} from '../../../../core/connector/standard-webhook.ts';

const Vector = z.object({
  name: z.string(),
  now: z.number(),
  secrets: z.array(z.string()).optional(),
  public_keys: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.string()),
  expect: z.object({ valid: z.boolean(), reason: z.string().optional() }),
  body_base64: z.string(),
});
const file = resolve(import.meta.dirname, '../../../support/core/vectors/standard-webhooks.json');
const vectors = z.array(Vector).parse(JSON.parse(readFileSync(file, 'utf8')));
const small = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const at = new Date('2026-11-21T10:00:00Z');
const message = { id: 'msg_1', at, body: '{"ä":1}' };
const raw = Buffer.from(message.body);

describe('the signature of a Standard Webhook', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))('it holds for "%s" or not', (_, vector) => {
    const delivery = {
      headers: small(vector.headers),
      raw: Buffer.from(vector.body_base64, 'base64'),
      receivedAt: new Date(vector.now * 1000),
    };
    const verdict = verifyStandardWebhook(delivery, [...(vector.secrets ?? []), ...(vector.public_keys ?? [])]);
    const why = { timestamp: 'stale', 'missing header': 'unsigned' }[vector.expect.reason ?? ''] ?? 'mismatch';
    const isLong = vector.headers['webhook-timestamp']?.length === 13;
    expect(verdict).toEqual(vector.expect.valid ? { ok: true } : { ok: false, why: isLong ? 'mismatch' : why });
  });

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

  const { 'webhook-signature': good, ...named } = signStandardWebhook(message, [secret]);
  const filler = (count: number) => Array(count).fill('v1,AAAA').join(' ');
  test.each([
    ['as it was made', good, true],
    ['the tenth', `${filler(9)} ${good}`, true],
    ['the eleventh: nobody signs so often', `${filler(10)} ${good}`, false],
    ['with something before the digest', good.replace(',', ',AAAA'), false],
    ['with something after the digest', `${good}A`, false],
    ['of another version', good.replace('v1', 'v2'), false],
  ])('it counts %s or not', (_, signature, counts) => {
    const headers = { ...named, 'webhook-signature': signature };
    const verdict = verifyStandardWebhook({ headers, raw, receivedAt: at }, [secret]);
    expect(verdict).toEqual(counts ? { ok: true } : { ok: false, why: 'mismatch' });
  });

  test('however many signatures are given, a body is read once for each shared secret and four times for a public key (audit loop)', () => {
    const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    const passes = [vi.spyOn(crypto, 'createHmac'), vi.spyOn(crypto, 'verify')];
    syncBuiltinESMExports();
    onTestFinished(() => {
      for (const pass of passes) pass.mockRestore();
      syncBuiltinESMExports();
    });
    const cost = (signature: string, secrets: string[]) => {
      const list = Array(10).fill(signature).join(' ');
      for (const pass of passes) pass.mockClear();
      const headers = { ...named, 'webhook-signature': list };
      expect(verifyStandardWebhook({ headers, raw, receivedAt: at }, secrets).ok).toBe(false);
      return passes.reduce((sum, pass) => sum + pass.mock.calls.length, 0);
    };
    const forged = Buffer.alloc(32).toString('base64');
    expect(cost(`v1,${forged}`, [secret, secret])).toBe(2);
    expect(cost('v1,AAAA', [secret])).toBe(0);
    expect(cost(`v1a,${Buffer.alloc(64, 1).toString('base64')}`, [`whpk_${key.toString('base64')}`])).toBe(4);
  });

  const pair = generateKeyPairSync('ed25519');
  const publicKey = `whpk_${pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`;
  const signed = Buffer.concat([Buffer.from(`msg_1.${named['webhook-timestamp']}.`), raw]);
  const asymmetric = sign(null, signed, pair.privateKey).toString('base64');
  test.each([
    ['as it was made', `v1a,${asymmetric}`, publicKey, true],
    ['under the version of a shared secret', `v1,${asymmetric}`, publicKey, false],
    ['cut short', `v1a,${asymmetric.slice(0, 40)}`, publicKey, false],
    ['with something after it', `v1a,${asymmetric.slice(0, 86)}AAAA`, publicKey, false],
    ['and left out', 'v1a,', publicKey, false],
    ['with a key that is none', `v1a,${asymmetric}`, 'whpk_c2hvcnQ=', false],
  ])('it counts, made with a private key, %s or not', (_, signature, key, counts) => {
    const headers = { ...named, 'webhook-signature': signature };
    const verdict = verifyStandardWebhook({ headers, raw, receivedAt: at }, [key]);
    expect(verdict).toEqual(counts ? { ok: true } : { ok: false, why: 'mismatch' });
  });

  const keyOf = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');
  test.each([
    [`whsec_${keyOf(23)}`, false],
    [`whsec_${keyOf(24)}`, true],
    [`whsec_${keyOf(64)}`, true],
    [`whsec_${keyOf(65)}`, false],
    [`whpk_${keyOf(24)}`, false],
    ['whsec_', false],
    ['whsec_c2hvcnQ=', false],
    ['', false],
    [secret, true],
    [secret.slice(6), true],
    ['whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=', true],
    ['whpk_c2hvcnQ=', false],
  ])('%s can be a key of one: %s', (text, can) => expect(isStandardSecret(text)).toBe(can));
});

test.each([
  ['webhook-', { 'webhook-signature': 'v1,x', 'webhook-id': 'msg_1', 'svix-id': 'other' }, 'msg_1'],
  ['svix-', { 'svix-signature': 'v1,x', 'svix-id': 'msg_2', 'webhook-id': 'other' }, 'msg_2'],
  ['no family', { 'webhook-id': 'msg_3' }, undefined],
])('the id of a message is that of its signature: %s', (_family, headers: Record<string, string>, id) => {
  expect(signedMessageId(headers)).toBe(id);
});
