import { structureOf } from './json-structure.ts';

/** The decoder is made only once, as making it takes longer than decoding a body. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const quote = 0x22;
const longNumber = /\d{16}/;
const noLimits = { levels: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };

/**
 * Parses a body as JSON; `undefined` if it can't be parsed (no JSON, no UTF-8, empty). Integers beyond 2^53 become texts with all their
 * digits: ids are that long, and a rounded number would be another id. Never throws, never quotes the body.
 */
export function jsonBody(body: Uint8Array | string): unknown {
  if (typeof body === 'string' && !longNumber.test(body)) return parsed(body);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return parsed(inQuotes(bytes, structureOf(bytes, noLimits).longIntegers));
}

/** Parses a body as `jsonBody` does, but rounds integers beyond 2^53. */
export function parsed(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** Adds a quote at each of these ascending places, so that long integers become texts. */
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
