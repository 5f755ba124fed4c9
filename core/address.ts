const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether an address leads to this machine; false for an address that can't be parsed. */
export function isLoopback(url: string): boolean {
  return loopback.test(URL.parse(url)?.hostname ?? '');
}

/** Whether a server that listens on this host can be reached only from this machine. */
export function isLoopbackHost(host: string): boolean {
  return isLoopback(`http://${host.includes(':') ? `[${host}]` : host}`);
}

/**
 * Whether secrets may be sent to this address: https, or http to this machine (tests and stand-ins), without a user name and password.
 * @param part the parts that the address may have: `origin`: host and port only · `path`: also a path, no query · `any`
 */
export function isSafeAddress(text: string, part: 'origin' | 'path' | 'any' = 'any'): boolean {
  const url = URL.parse(text);
  if (url === null || url.username + url.password !== '') return false;
  if (part !== 'any' && (/[?#]/.test(text) || (part === 'origin' && url.pathname !== '/'))) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(text));
}

/** An IANA zone, like Europe/Tallinn; not an offset. */
export function isTimeZone(name: string): boolean {
  if (!/[a-z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
