/** Made once: that takes longer than a body. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A body as JSON; `undefined` when it isn't (no JSON, no UTF-8, empty). Never throws, never quotes. */
export function jsonBody(body: Uint8Array | string): unknown {
  return parsed(body);
}

/** The same, but integers beyond 2^53 become strings with all their digits: ids are that long. */
export function exactJsonBody(body: Uint8Array | string): unknown {
  // TypeScript's types lack the third argument, which holds a number's digits as written, and a text with its quotes.
  return parsed(body, (_key, value: unknown, { source = '' }: { source?: string } = {}) =>
    /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? source : value,
  );
}

/** 2^53 has so many digits. */
const longNumber = /\d{16}/;

/** @param ofLong is called for each value of a body with a long number: that takes six times as long as parsing */
function parsed(body: Uint8Array | string, ofLong?: Parameters<typeof JSON.parse>[1]): unknown {
  try {
    const text = typeof body === 'string' ? body : utf8.decode(body);
    return JSON.parse(text, ofLong && longNumber.test(text) ? ofLong : undefined);
  } catch {
    return undefined;
  }
}
