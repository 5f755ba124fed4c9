const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Does an address lead to this machine? For an address that can't be read: no. */
export function isLoopback(url: string): boolean {
  return loopback.test(URL.parse(url)?.hostname ?? '');
}

/**
 * May secrets go to this address? https, or http to this machine (tests and stand-ins); no name and password in it.
 * @param part `origin`: nothing but a host and a port · `path`: perhaps a path, nothing behind it · `any`
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
