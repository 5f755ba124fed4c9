import { structureOf } from './json-structure.ts';

/** Made once: that takes longer than a body. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const quote = 0x22;
const longNumber = /\d{16}/;
const noLimits = { levels: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };

/**
 * A body as JSON; `undefined` when it isn't (no JSON, no UTF-8, empty). Integers beyond 2^53 become texts with all their digits: ids
 * are that long, and a number would hold another id. Never throws, never quotes.
 */
export function jsonBody(body: Uint8Array | string): unknown {
  if (typeof body === 'string' && !longNumber.test(body)) return parsed(body);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return parsed(inQuotes(bytes, structureOf(bytes, noLimits).longIntegers));
}

/** The same, but integers beyond 2^53 are rounded. */
export function parsed(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** The body with a quote at each of these places, which ascend: its long integers become texts. */
export function inQuotes(body: Uint8Array, places: readonly number[]): Uint8Array {
  if (places.length === 0) return body;
  const quoted = new Uint8Array(body.length + places.length);
  let from = 0;
  for (const [before, place] of places.entries()) {
    quoted.set(body.subarray(from, place), from + before);
    quoted[place + before] = quote;
    from = place;
  }
  quoted.set(body.subarray(from), from + places.length);
  return quoted;
}
