import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { signatureScheme } from '../../../../connectors/zendesk/events.ts';
import type { Delivery, Verdict } from '../../../../core/connector/contract.ts';
import { signHmac, verifyHmac } from '../../../../core/connector/signature.ts';
import { signZendesk } from '../../../../standins/zendesk/webhooks.ts';

const sign = (secret: string, timestamp: string, raw: Uint8Array) =>
  signHmac(secret, { method: 'POST', url: '', raw }, signatureScheme(0), timestamp);
const verify = (delivery: Delivery, secrets: readonly string[], toleranceSeconds: number) =>
  verifyHmac(delivery, secrets, signatureScheme(toleranceSeconds));

const file = new URL('../../../support/connectors/zendesk/vectors/webhook-signatures.json', import.meta.url);
const { vectors } = z
  .object({
    vectors: z.array(
      z.object({
        name: z.string(),
        expect: z.enum(['valid', 'invalid']),
        secret: z.string(),
        timestamp: z.string(),
        body_base64: z.string(),
        signature: z.string(),
        now: z.string().optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(file, 'utf8')));

function delivery(
  timestamp: string | undefined,
  signature: string | undefined,
  raw: Uint8Array,
  receivedAt: Date,
): Delivery {
  const headers = {
    'x-zendesk-webhook-signature': signature,
    'x-zendesk-webhook-signature-timestamp': timestamp,
  };
  return { method: 'POST', url: 'https://hooks.example.com/hooks/support', headers, raw, receivedAt };
}

describe('verify, and what the stand-in signs, agree with vector', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const raw = Buffer.from(vector.body_base64, 'base64');
    const verdict = verify(
      delivery(vector.timestamp, vector.signature, raw, new Date(vector.now ?? vector.timestamp)),
      [vector.secret],
      Number.POSITIVE_INFINITY,
    );
    expect(verdict.ok).toBe(vector.expect === 'valid');
    expect(signZendesk(vector.secret, vector.timestamp, raw) === vector.signature).toBe(verdict.ok);
  });
});

test('has all 19 vectors', () => {
  expect(vectors).toHaveLength(19);
});

const raw = Buffer.from('{"ticket_id":"1"}');
const at = '2026-11-21T10:15:30Z';
const good = sign('new', at, raw);
const later = (seconds: number): Date => new Date(Date.parse(at) + seconds * 1000);
const rows: [name: string, Delivery, string[], Verdict][] = [
  ['takes one of just the tolerated age', delivery(at, good, raw, later(900)), ['new'], { ok: true }],
  ['calls one from the future stale', delivery(at, good, raw, later(-901)), ['new'], { ok: false, why: 'stale' }],
  [
    'calls a signed timestamp that is no time stale',
    delivery('soon', sign('new', 'soon', raw), raw, later(0)),
    ['new'],
    { ok: false, why: 'stale' },
  ],
  [
    'calls an old forgery a mismatch, not stale',
    delivery(at, sign('x', at, raw), raw, later(9999)),
    ['new'],
    { ok: false, why: 'mismatch' },
  ],
  [
    'refuses the same bytes in the URL alphabet',
    delivery(at, good.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''), raw, later(0)),
    ['new'],
    { ok: false, why: 'mismatch' },
  ],
];
test.each(rows)('verify %s', (_name, one, secrets, expected) => {
  expect(verify(one, secrets, 900)).toEqual(expected);
});
