import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { proofOf } from '../../../../connectors/hubspot/events.ts';
import type { Delivery } from '../../../../core/connector/contract.ts';
import { signHmac, verifyHmac } from '../../../../core/connector/signature.ts';
import { signedUri, signV1, signV2, signV3 } from '../../../../standins/hubspot/webhooks.ts';

const Headers = z.record(z.string(), z.string());
const vectors = z
  .object({
    clientSecret: z.string(),
    vectors: z.array(
      z.object({
        id: z.string(),
        method: z.string(),
        uri: z.string(),
        now: z.number(),
        body: z.string(),
        headers: Headers,
        timestamp: z.string(),
        signedUri: z.string(),
        signatures: z.object({ v1: z.string(), v2: z.string(), v3: z.string() }),
      }),
    ),
    negatives: z.array(
      z.object({
        id: z.string(),
        why: z.string(),
        base: z.string(),
        method: z.string(),
        uri: z.string(),
        timestamp: z.string().nullish(),
        now: z.number(),
        signatureV3: z.string().nullish(),
        body: z.string().optional(),
        expect: z.enum(['accept', 'reject']),
      }),
    ),
    published: z.array(
      z.object({
        version: z.string(),
        secret: z.string(),
        method: z.string(),
        uri: z.string(),
        body: z.string(),
        timestamp: z.string().optional(),
        signature: z.string(),
      }),
    ),
  })
  .parse(
    JSON.parse(
      readFileSync(new URL('../../../support/connectors/hubspot/vectors/webhooks.json', import.meta.url), 'utf8'),
    ),
  );

const secret = vectors.clientSecret;
const first = vectors.vectors[0];
if (first === undefined) throw new Error('no vectors');

function delivery(of: {
  method: string;
  uri: string;
  body: string;
  headers: Delivery['headers'];
  now: number;
}): Delivery {
  return {
    method: of.method,
    url: of.uri,
    headers: of.headers,
    raw: Buffer.from(of.body),
    receivedAt: new Date(of.now),
  };
}

/** What the stand-in signs, in all three versions. */
const signed = (of: { method: string; uri: string; body: string; timestamp?: string | undefined }, key = secret) => ({
  v1: signV1(key, of.body),
  v2: signV2(key, of.method, of.uri, of.body),
  v3: signV3(key, of.method, of.uri, of.body, of.timestamp ?? ''),
});
test.each(vectors.vectors)('the stand-in signs $id as the vector says', (vector) => {
  expect([signedUri(vector.uri), signed(vector)]).toEqual([vector.signedUri, vector.signatures]);
});
test.each(vectors.published)('the stand-in signs as HubSpot published, $version of $timestamp', (published) => {
  expect(Object.entries(signed(published, published.secret))).toContainEqual([published.version, published.signature]);
});

describe('the signature v3', () => {
  for (const vector of vectors.vectors) {
    test(`of ${vector.id} is accepted`, () => {
      expect(verifyHmac(delivery(vector), [secret], proofOf())).toEqual({ ok: true });
    });
  }

  const whys: Record<string, string> = {
    stale: 'stale',
    future: 'stale',
    'missing-signature': 'unsigned',
    'missing-timestamp': 'unsigned',
  };
  for (const negative of vectors.negatives) {
    test(`${negative.expect}s ${negative.id}: ${negative.why}`, () => {
      const base = vectors.vectors.find(({ id }) => id === negative.base);
      const headers = {
        'x-hubspot-signature-v3': negative.signatureV3 ?? undefined,
        'x-hubspot-request-timestamp': negative.timestamp ?? undefined,
      };
      const sent = delivery({ ...negative, body: negative.body ?? base?.body ?? '', headers });
      const verdict = verifyHmac(sent, [secret], proofOf());
      expect(verdict).toMatchObject(
        negative.expect === 'accept' ? { ok: true } : { ok: false, why: whys[negative.id] ?? 'mismatch' },
      );
    });
  }

  for (const published of vectors.published.filter(({ version }) => version === 'v3')) {
    test(`equals the published one of ${published.timestamp}`, () => {
      const { method, uri: url, timestamp = '' } = published;
      const request = { method, url, raw: Buffer.from(published.body) };
      expect(signHmac(published.secret, request, proofOf(), timestamp)).toBe(published.signature);
    });
  }

  test('is over the configured public URL where there is one', () => {
    const proxied = { ...delivery(first), url: 'http://10.0.0.7:8080/hooks/support' };
    expect(verifyHmac(proxied, [secret], proofOf())).toEqual({ ok: false, why: 'mismatch' });
    expect(verifyHmac(proxied, [secret], proofOf(first.uri))).toEqual({ ok: true });
  });

  test('of version 1 alone, which could be replayed, is not enough', () => {
    const { 'x-hubspot-signature-v3': _, ...headers } = first.headers;
    expect(verifyHmac({ ...delivery(first), headers }, [secret], proofOf())).toEqual({ ok: false, why: 'unsigned' });
  });
});
