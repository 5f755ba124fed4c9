import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { CloseloopError } from '../../core/errors.ts';

/**
 * The forms in which Redis may hold personal data: keyed digests for look-ups, sealed (encrypted) text for everything else. Without
 * the installation's key sealed text can't be read, and phone numbers can't be tried against the digests.
 */
export interface Seal {
  /** Gives the same 43 characters (base64url) for the same text, in every process of the installation and after any restart. */
  digest(text: string): string;
  /** @param about authenticated with the text (the key in Redis …), so that a person with write access to Redis can't exchange two texts */
  seal(text: string, about?: string): string;
  /** @throws SealError for a text that this installation did not seal, or sealed with another `about` */
  open(sealed: string, about?: string): string;
  /** Seals bytes: the sealed bytes take a quarter less space than a sealed text. */
  sealBytes(bytes: Uint8Array, about: string): Buffer;
  /** Opens sealed bytes. @throws SealError as `open` does */
  openBytes(sealed: Uint8Array, about: string): Buffer;
}

/** A stored text can't be opened: it was changed or exchanged, or another installation sealed it. */
export class SealError extends CloseloopError {
  constructor(cause: unknown) {
    const message = 'a sealed text in Redis does not open: it was changed, or sealed by another installation';
    super(message, { kind: 'permanent' }, { cause });
  }
}

const cipher = 'aes-256-gcm';
/** The version of a sealed text. Version 1 is `1.` and then, in base64url, the sealed bytes: 12 bytes of nonce, 16 of tag, and the encrypted text. */
const version = '1.';
const nonceBytes = 12;
const tagBytes = 16;

/** The most digests that are cached in memory. */
const mostDigests = 5_000;

/** Random bytes are fetched for many nonces at once: fetching them for each nonce takes longer than the sealing. */
const nonces = Buffer.alloc(nonceBytes * 256);
let nonceAt = nonces.length;

/** Twelve random bytes that were never returned before, as a view that is valid until the next call. */
function nextNonce(): Uint8Array {
  if (nonceAt === nonces.length) {
    randomFillSync(nonces);
    nonceAt = 0;
  }
  nonceAt += nonceBytes;
  return nonces.subarray(nonceAt - nonceBytes, nonceAt);
}

/** A key of 32 bytes for one purpose, which reveals nothing about `key` or the key of another purpose. */
export function deriveKey(key: Uint8Array | string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, '', `closeloop ${purpose}`, 32));
}

/**
 * HMAC-SHA-256 and AES-256-GCM, each with a key of its own that is derived from `key` (32 bytes).
 * @param others further keys: texts that were sealed with one of these can be opened, too
 */
export function createSeal(key: Uint8Array, others: () => readonly Uint8Array[] = () => []): Seal {
  // The key objects are created once: with bytes Node would create a key object for every call, which takes longer than the call itself.
  const digestKey = createSecretKey(deriveKey(key, 'digest'));
  const sealKey = sealKeyOf(key);
  // The steps of a journey need the same digests: of its event, its closing and its contact.
  const digests = new Map<string, string>();
  const openBytes = (sealed: Uint8Array, about: string): Buffer => {
    try {
      return opened(sealKey, sealed, about);
    } catch (error) {
      for (const other of others()) {
        try {
          return opened(sealKeyOf(other), sealed, about);
        } catch {
          // The error of this installation's own key is thrown below.
        }
      }
      throw error;
    }
  };
  const sealBytes = (bytes: Uint8Array, about: string): Buffer => {
    const nonce = nextNonce();
    const sealing = createCipheriv(cipher, sealKey, nonce).setAAD(Buffer.from(about));
    const sealed = sealing.update(bytes);
    // `final` computes the tag. With this cipher it returns no further bytes.
    sealing.final();
    return Buffer.concat([nonce, sealing.getAuthTag(), sealed]);
  };
  return {
    digest: (text) => {
      const known = digests.get(text);
      if (known !== undefined) return known;
      const digest = createHmac('sha256', digestKey).update(text).digest('base64url');
      if (digests.size >= mostDigests) digests.clear();
      digests.set(text, digest);
      return digest;
    },
    seal: (text, about = '') => version + sealBytes(Buffer.from(text), about).toString('base64url'),
    open: (sealed, about = '') => openBytes(bytesOf(sealed), about).toString(),
    sealBytes,
    openBytes,
  };
}

function bytesOf(sealed: string): Uint8Array {
  if (!sealed.startsWith(version)) throw new SealError(new Error('another form'));
  return Buffer.from(sealed.slice(version.length), 'base64url');
}

function sealKeyOf(key: Uint8Array): KeyObject {
  return createSecretKey(deriveKey(key, 'seal'));
}

function opened(sealKey: KeyObject, sealed: Uint8Array, about: string): Buffer {
  try {
    const [nonce, rest] = [sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes)];
    const tag = rest.subarray(0, tagBytes);
    if (tag.length !== tagBytes) throw new Error('too short');
    const opening = createDecipheriv(cipher, sealKey, nonce).setAAD(Buffer.from(about)).setAuthTag(tag);
    return Buffer.concat([opening.update(rest.subarray(tagBytes)), opening.final()]);
  } catch (cause) {
    throw new SealError(cause);
  }
}
