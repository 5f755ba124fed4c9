/*
 * Which failed requests were never sent: the one place that decides it, for the service and for vendors. The codes are those of
 * undici 7, which core/connector/exchange.ts and Node 24's own fetch send with, found by provoking each failure.
 */

const lookups = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const unreachable = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/**
 * Raised during the TLS handshake. Other ERR_SSL_* come from an established connection (a broken record, an alert after TLS
 * 1.3's early finish), when the server may have read the request.
 */
const handshake =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$|ERR_SSL_WRONG_VERSION_NUMBER$|ERR_SSL_UNSUPPORTED_PROTOCOL$|ERR_SSL_\w*HANDSHAKE_FAILURE$|ERR_SSL_\w*PROTOCOL_VERSION$)/;
/** See `LeftTooLate` in core/feedback/http.ts. */
const tooLate = 'CLOSELOOP_LEFT_TOO_LATE';
const cut = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export interface Fault {
  code: string;
  /** Did it happen while connecting? */
  connecting: boolean;
}

/** The innermost cause that has a code. */
export function faultOf(error: unknown): Fault {
  let found: Fault = { code: '', connecting: false };
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    if (code !== '') found = { code, connecting: 'syscall' in at && at.syscall === 'connect' };
  }
  return found;
}

/**
 * Node's own `fetch`, where a user of the library hands that in, keeps the rule of browsers: it does not call ports of mail, IRC, X11 and
 * the like. Its error has no code.
 */
function isBlockedPort(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.message === 'bad port') return true;
  }
  return false;
}

/** Did an established connection end? Not: it was never established, or closeloop gave it up. */
export function isCut(error: unknown): boolean {
  const { code, connecting } = faultOf(error);
  return cut.has(code) && !connecting;
}

/** Why a request was never sent; undefined where it may have been. `blocked-port`: only by Node's own `fetch`. */
export type NeverSent = 'blocked-port' | 'no-name' | 'too-late' | 'no-connection' | 'no-tls';

export function neverSentBy(error: unknown): NeverSent | undefined {
  const { code, connecting } = faultOf(error);
  if (isBlockedPort(error)) return 'blocked-port';
  if (lookups.has(code)) return 'no-name';
  if (code === tooLate) return 'too-late';
  if (unreachable.has(code) || connecting) return 'no-connection';
  return handshake.test(code) ? 'no-tls' : undefined;
}
