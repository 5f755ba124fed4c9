import { createHmac, createPublicKey, verify as verifyBytes } from 'node:crypto';
import type { Verdict } from './contract.ts';
import { isEqual } from './signature.ts';

/*
 * Signs and verifies Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
 * The signed bytes are `id.timestamp.body`; a secret is `whsec_` and the base64 of 24 to 64 random bytes.
 */

/** The tolerance of the reference libraries, in both directions. */
const toleranceMs = 300_000;
/** A sender that rotates its secret signs twice; more signatures than this are ignored. */
const mostSignatures = 10;
/** Each signature by a public key takes a pass over the whole body; all signatures by shared secrets take one pass per secret. */
const mostPublicSignatures = 4;
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether this is a secret, with or without `whsec_`, or the public key (`whpk_…`) of a sender that signs with `v1a`. */
export function isStandardSecret(text: string): boolean {
  return text.startsWith('whpk_') ? publicKey(text).length === 32 : isKey(secretKey(text));
}

const secretKey = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
const publicKey = (text: string): Buffer => Buffer.from(text.replace('whpk_', ''), 'base64');
const isKey = (key: Buffer): boolean => key.length >= 24 && key.length <= 64;

/**
 * The headers of one attempt. `id` stays the same over attempts and holds no full stop.
 * @param secrets the secret, or during a rotation the new and the old secret
 */
export function signStandardWebhook(
  message: { id: string; at: Date; body: string | Uint8Array },
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(message.at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', secretKey(secret)).update(`${message.id}.${timestamp}.`).update(message.body);
    return `v1,${digest.digest('base64')}`;
  });
  return { 'webhook-id': message.id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/**
 * Checks whether one of the secrets or one of the public keys signed the delivery. `svix-…` headers are the same scheme under another name;
 * the two families are never mixed.
 * @param headers by names in lower case
 */
export function verifyStandardWebhook(
  delivery: { headers: Readonly<Record<string, string | undefined>>; raw: Uint8Array; receivedAt: Date },
  secrets: readonly string[],
): Verdict {
  const { headers, raw, receivedAt } = delivery;
  const family = familyOf(headers);
  const id = headers[`${family}-id`];
  const timestamp = headers[`${family}-timestamp`];
  const list = headers[`${family}-signature`];
  if (!id || !timestamp || !list) return { ok: false, why: 'unsigned' };
  // A full stop in the id would let a forger shift the boundary between id and timestamp.
  if (id.includes('.') || !/^\d{1,12}$/.test(timestamp)) return { ok: false, why: 'mismatch' };
  const head = Buffer.from(`${id}.${timestamp}.`);
  const given = list.split(' ').slice(0, mostSignatures);
  const matches = secrets.map((secret) =>
    secret.startsWith('whpk_')
      ? isSignedBy(publicKey(secret), given, head, raw)
      : isSignedWith(secret, given, head, raw),
  );
  if (!matches.includes(true)) return { ok: false, why: 'mismatch' };
  const ageMs = Math.abs(receivedAt.getTime() - Number(timestamp) * 1000);
  return Math.floor(ageMs / 1000) * 1000 <= toleranceMs ? { ok: true } : { ok: false, why: 'stale' };
}

/**
 * The message id of a verified delivery, from the headers of the family that signed it. No signature covers a `webhook-id` beside a svix
 * signature, nor any id of a delivery that is signed in another way.
 */
export function signedMessageId(headers: Readonly<Record<string, string | undefined>>): string | undefined {
  return headers[`${familyOf(headers)}-id`];
}

function familyOf(headers: Readonly<Record<string, string | undefined>>): 'svix' | 'webhook' {
  return headers['webhook-signature'] === undefined ? 'svix' : 'webhook';
}

/** The signatures of one version, without the version's prefix. */
function ofVersion(version: string, given: readonly string[]): string[] {
  return given.filter((one) => one.startsWith(`${version},`)).map((one) => one.split(',', 2)[1] ?? '');
}

/** Compares all signatures, each in constant time. */
function isSignedWith(secret: string, given: readonly string[], head: Buffer, raw: Uint8Array): boolean {
  const key = secretKey(secret);
  const texts = ofVersion('v1', given).filter((text) => /^[A-Za-z0-9+/]{43}=$/.test(text));
  if (!isKey(key) || texts.length === 0) return false;
  const digest = createHmac('sha256', key).update(head).update(raw).digest();
  return texts.map((text) => isEqual(digest, Buffer.from(text, 'base64'))).includes(true);
}

function isSignedBy(key: Buffer, given: readonly string[], head: Buffer, raw: Uint8Array): boolean {
  const texts = ofVersion('v1a', given).slice(0, mostPublicSignatures);
  if (key.length !== 32 || texts.length === 0) return false;
  const spki = createPublicKey({ key: Buffer.concat([ed25519Prefix, key]), format: 'der', type: 'spki' });
  const signed = Buffer.concat([head, raw]);
  return texts.some((text) => verifyBytes(null, signed, spki, Buffer.from(text, 'base64')));
}
