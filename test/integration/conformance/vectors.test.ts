import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/* Every vector, sequence and fixture of the facts on shops and on Intercom is here, unchanged; the connectors' own tests judge them. */

const file = (path: string): string => readFileSync(new URL(`../../support/${path}`, import.meta.url), 'utf8');
const json = (path: string): unknown => JSON.parse(file(path));

const Vector = z.object({ body_base64: z.string() });

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
