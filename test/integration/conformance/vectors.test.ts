import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { intercom } from '../../../connectors/intercom/intercom.ts';
import { shopify } from '../../../connectors/shopify/shopify.ts';
import { webhook } from '../../../connectors/webhook/webhook.ts';
import { woocommerce } from '../../../connectors/woocommerce/woocommerce.ts';
import type { Connector, SourceEvent } from '../../../core/connector/contract.ts';
import { signShopify } from '../../../standins/shopify/signature.ts';
import { signWooCommerce } from '../../../standins/woocommerce/signature.ts';
import { createIntake } from '../../../worker/intake/intake.ts';
import type { SourcePipeline } from '../../../worker/pipeline/source-pipeline.ts';
import { given as intercomGiven } from '../../support/connectors/intercom/workspace.ts';
import { given as shopifyGiven, testPorts, vectorSecret } from '../../support/connectors/shopify/fixture.ts';
import { given as woocommerceGiven } from '../../support/connectors/woocommerce/fixture.ts';

/*
 * Every vector, sequence and fixture of the facts on shops and on Intercom, through the door of the worker. Here, so that one place shows that
 * none is missing; what each means to its connector is told in that connector's tests.
 */

const file = (path: string): string => readFileSync(new URL(`../../support/${path}`, import.meta.url), 'utf8');
const json = (path: string): unknown => JSON.parse(file(path));

const Vector = z.object({
  name: z.string(),
  secret: z.string().optional(),
  secrets: z.array(z.string()).default([]),
  public_keys: z.array(z.string()).default([]),
  now: z.number().optional(),
  headers: z.record(z.string(), z.string()),
  expect: z.object({
    valid: z.boolean(),
    optional: z.boolean().optional(),
    http_status: z.number().optional(),
    then: z.string().optional(),
  }),
  body_base64: z.string(),
});
type Vector = z.output<typeof Vector>;

const Sequence = z.object({
  name: z.string(),
  deliveries: z.array(z.record(z.string(), z.union([z.string(), z.number()]))),
  expect: z.array(z.string()),
});

const read = <S extends z.ZodType>(path: string, key: string | undefined, schema: S): z.output<S>[] => {
  const content = json(path);
  return z.array(schema).parse(key === undefined ? content : z.looseObject({}).parse(content)[key]);
};
const of = {
  shopify: 'connectors/shopify/vectors/webhooks.json',
  woocommerce: 'connectors/woocommerce/vectors/webhooks.json',
  intercom: 'connectors/intercom/vectors/fixtures.json',
  standard: 'core/vectors/standard-webhooks.json',
};

describe('the copies', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  test.each([
    [of.shopify, 'shopify', 21, '2591bf89781563f77b4fe11646c7fa3b70db87f8f342376607af7dca411373d9'],
    [of.shopify, 'shopify_sequences', 3, '5d0a7f1e25930dcf0f8b6ffa36f14dd8cf2a201583ce87be8c83bd611bd98c08'],
    [of.woocommerce, 'woocommerce', 14, 'afab11df4c506f8e02def578cff778807d0734e95ac7c6e541902247a9847d29'],
    [of.woocommerce, 'woocommerce_sequences', 1, 'd49ff96a79ac4f50b223cf5973cebc798ecfa5117aefbe63ffc54702c1604b64'],
    [of.intercom, 'vectors', 19, '01f46bf8b08536fa7e2227933ff97ed21307f20c5f6a4593e0fab066afd9756a'],
    [of.intercom, 'webhooks', 29, '972509ca2f1318f424516dd37488897665a459a0c5f0d46ba66cbcb740cf3c76'],
    [of.intercom, 'reads', 21, '98564505b0276b3d18f5860953241a9c39b77aa76ac27f460c296e3306a2a2f6'],
    [of.intercom, 'writes', 13, '1e806e1f6be2bf641a837a589a2b7de71c140e2260663a5e84ff291ca9ee1a7c'],
    [of.intercom, 'errors', 23, '0742e3a9fb6d31fbc07b0406878617a85201c5aefdbc8f3fbc77c3a18457c112'],
    [of.standard, undefined, 29, '467952ffb611ae70e60e306aa725e3275dad098e2d3a39007b69a48dc1ff60d8'],
  ])('it finds in %s all %s of the facts, unchanged', (path, key, count, digest) => {
    const whole = read(path, key, z.unknown());
    expect([whole.length, sha256(JSON.stringify(whole))]).toEqual([count, digest]);
  });

  test.each([
    [
      'shopify/vectors/shopify-order-fulfilled.json',
      'a1fb60d96bd728d0d7024faa280c5b4cc301161f9d4c9da4fc2b680a9c30cff2',
    ],
    [
      'shopify/vectors/shopify-fulfillment-delivered.json',
      'b5dd42e7cbb20e7e27471538877b1a2ed94fa5d22a300340ee6f586dcb0cbfd5',
    ],
    ['woocommerce/vectors/order-completed.json', 'e5abf7bc9f44140797fcd3a855dfbab120c33d52b28be8fe090fd23c0b5f11fa'],
  ])('it finds %s as it is in the facts, and delivers it in a vector', (path, digest) => {
    const text = file(`connectors/${path}`);
    expect(sha256(text)).toBe(digest);
    const vectors = [...read(of.shopify, 'shopify', Vector), ...read(of.woocommerce, 'woocommerce', Vector)];
    const bodies = vectors.map(({ body_base64 }) => attempt(() => JSON.parse(bytes(body_base64).toString('utf8'))));
    expect(bodies).toContainEqual(JSON.parse(text));
  });

  test('it finds no other, so that each new one is added here', () => {
    const all = ['shopify', 'woocommerce', 'intercom'].map((name) =>
      readdirSync(new URL(`../../support/connectors/${name}/vectors`, import.meta.url)),
    );
    expect(all.map((names) => names.length)).toEqual([3, 2, 1]);
  });
});

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');
function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** What a source answers over HTTP, and what it would have the worker do. */
function door(connector: Connector, settings: object, now: Date) {
  const stored: SourceEvent[] = [];
  const source = connector.open(settings, testPorts({ now: () => now }).ports);
  // All that the intake asks of a pipeline.
  const pipeline = z.custom<SourcePipeline>().parse({ context: { source, alert: async () => undefined } });
  const quiet = () => undefined;
  const app = createIntake({
    pipelines: new Map([['it', pipeline]]),
    store: async (_source, events) => void stored.push(...events),
    publicUrl: 'https://closeloop.example',
    tryToStore: () => [],
    paused: async () => ({}),
    now: () => now,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  return {
    stored,
    async post(headers: Record<string, string>, payload: Buffer): Promise<number> {
      const { statusCode } = await app.inject({ method: 'POST', url: '/hooks/it', headers, payload });
      return statusCode;
    },
    head: async (): Promise<number> => (await app.inject({ method: 'HEAD', url: '/hooks/it' })).statusCode,
  };
}

const soonAfter = new Date('2026-11-18T14:43:00Z');
const ofShopify = (secrets: readonly string[]) =>
  door(shopify, { ...shopifyGiven, webhookSecrets: secrets, trigger: 'fulfilled', parcels: 'first' }, soonAfter);
const ofWooCommerce = (secret: string) =>
  door(woocommerce, { ...woocommerceGiven, webhookSecrets: [secret] }, soonAfter);
/** Of the events that it takes, none does anything. */
const ofStandard = ({ secrets, public_keys, now = 0 }: Vector) => {
  const signature = { kind: 'standard', secrets: [...secrets, ...public_keys] };
  return door(webhook, { signature, event: { erase: { when: 'false' } } }, new Date(now * 1000));
};

/** 401 for what isn't signed as it must be, unless the facts say otherwise. */
function statusOf({ expect: { valid, http_status, then } }: Vector, accepted: number): number {
  const stated = http_status ?? (then === undefined ? undefined : Number.parseInt(then, 10));
  return stated ?? (valid ? accepted : 401);
}

describe('a delivery of Shopify', () => {
  const byName: Readonly<Record<string, number>> = {
    // The fact itself: to be refused where the endpoint is bound to another shop.
    'shop domain header is not covered by the signature': 401,
    // Optional: of a preview, whose headers aren't taken.
    'Events-style headers (developer preview)': 401,
  };
  test.each(read(of.shopify, 'shopify', Vector))('it answers "$name"', async (vector) => {
    const { post, stored } = ofShopify(vector.secrets);
    const status = byName[vector.name] ?? statusOf(vector, 200);
    expect(await post(vector.headers, bytes(vector.body_base64))).toBe(status);
    if (status !== 200) expect(stored).toEqual([]);
  });

  test.each(read(of.shopify, 'shopify_sequences', Sequence))('it keeps apart "$name"', async (sequence) => {
    const order = JSON.parse(file('connectors/shopify/vectors/shopify-order-fulfilled.json'));
    const { post, stored } = ofShopify([vectorSecret]);
    for (const { webhook_id, event_id, topic } of sequence.deliveries) {
      const body = topic === 'orders/fulfilled' ? order : { order_id: order.id, status: 'success' };
      const raw = Buffer.from(JSON.stringify(body));
      const headers = {
        'content-type': 'application/json',
        'x-shopify-shop-domain': shopifyGiven.shop,
        'x-shopify-topic': String(topic),
        'x-shopify-webhook-id': String(webhook_id),
        'x-shopify-event-id': String(event_id),
        'x-shopify-hmac-sha256': signShopify(vectorSecret, raw),
      };
      expect(await post(headers, raw)).toBe(200);
    }
    const [first, second] = stored;
    expect(stored).toHaveLength(2);
    expect(first?.key === second?.key).toBe(sequence.expect[1] === 'duplicate');
    // What comes twice by different ways is one order's: the journey's own id is what stops it there.
    expect(stored.map((event) => 'recordId' in event && event.recordId)).toEqual(Array(2).fill('5791244910855'));
  });
});

describe('a delivery of WooCommerce', () => {
  test.each(read(of.woocommerce, 'woocommerce', Vector))('it answers "$name"', async (vector) => {
    const { secret = '' } = vector;
    // No door is opened with an empty secret.
    if (secret === '') return expect(() => ofWooCommerce(secret)).toThrow('empty');
    const { post, stored } = ofWooCommerce(secret);
    const status = statusOf(vector, 200);
    expect(await post(vector.headers, bytes(vector.body_base64))).toBe(status);
    if (!vector.expect.valid) expect(stored).toEqual([]);
  });

  test.each(read(of.woocommerce, 'woocommerce_sequences', Sequence))('it keeps apart "$name"', async (sequence) => {
    const order = z.looseObject({}).parse(json('connectors/woocommerce/vectors/order-completed.json'));
    const { post, stored } = ofWooCommerce('a secret');
    for (const { delivery_id, order_id } of sequence.deliveries) {
      const raw = Buffer.from(JSON.stringify({ ...order, id: order_id }));
      const headers = {
        'content-type': 'application/json',
        'x-wc-webhook-topic': 'order.updated',
        'x-wc-webhook-delivery-id': String(delivery_id),
        'x-wc-webhook-signature': signWooCommerce('a secret', raw),
      };
      expect(await post(headers, raw)).toBe(200);
    }
    expect(sequence.expect).toEqual(['process', 'process']);
    expect(new Set(stored.map(({ key }) => key)).size).toBe(2);
    expect(stored.map((event) => 'recordId' in event && event.recordId)).toEqual(['1042', '1043']);
  });
});

const IntercomVector = z.object({
  name: z.string(),
  secrets: z.array(z.string()),
  header: z.string().nullable(),
  expect: z.enum(['valid', 'unsigned', 'mismatch']),
  body_base64: z.string(),
});

describe('a delivery of Intercom', () => {
  const signed = (header: string | null) => ({
    'content-type': 'application/json',
    ...(header !== null && { 'x-hub-signature': header }),
  });
  const doorOf = (webhookSecrets: readonly string[]) => door(intercom, { ...intercomGiven, webhookSecrets }, soonAfter);

  test.each(read(of.intercom, 'vectors', IntercomVector))('it answers "$name"', async (vector) => {
    const { post, stored } = doorOf(vector.secrets);
    // The unreadable is taken, and told: who refuses too often is switched off.
    const status = vector.expect === 'valid' ? 200 : 401;
    expect(await post(signed(vector.header), bytes(vector.body_base64))).toBe(status);
    if (status !== 200) expect(stored).toEqual([]);
  });

  test('it answers the HEAD that tries the address', async () => {
    expect(await doorOf(intercomGiven.webhookSecrets).head()).toBe(200);
  });
});

describe('a Standard Webhook', () => {
  test.each(read(of.standard, undefined, Vector))('it answers "$name"', async (vector) => {
    expect(await ofStandard(vector).post(vector.headers, bytes(vector.body_base64))).toBe(statusOf(vector, 202));
  });
});
