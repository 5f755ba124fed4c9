import { createHash, createHmac } from 'node:crypto';

/** The only escapes that are decoded before a v3 signature is made; `%20`, `%26`, `%3D` and all others stay. */
const decoded: Readonly<Record<string, string>> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
};

export function signedUri(uri: string): string {
  return uri.replace(/%[0-9A-F]{2}/gi, (code) => decoded[code.toUpperCase()] ?? code);
}

/** SHA-256 of secret + body, lower-case hex. */
export function signV1(secret: string, body: string): string {
  return createHash('sha256').update(secret).update(body).digest('hex');
}

/** SHA-256 of secret + method + full address + body, lower-case hex. */
export function signV2(secret: string, method: string, uri: string, body: string): string {
  return createHash('sha256').update(secret).update(method).update(uri).update(body).digest('hex');
}

/** HMAC-SHA256 of method + address (12 escapes decoded) + body + timestamp header, base64. */
export function signV3(secret: string, method: string, uri: string, body: string, timestamp: string): string {
  return createHmac('sha256', secret)
    .update(method)
    .update(signedUri(uri))
    .update(body)
    .update(timestamp)
    .digest('base64');
}
