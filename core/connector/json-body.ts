/** A body as JSON; `undefined` when it isn't (no JSON, no UTF-8, empty). Never throws, never quotes. */
export function jsonBody(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
