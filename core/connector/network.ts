/*
 * Decides which failed requests were never sent, for the service and for all vendors. The codes are those of undici 7, which exchange.ts and
 * Node 24's own fetch use; they were found by provoking each failure.
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
 * Errors of the TLS handshake. Other ERR_SSL_* errors come from an established connection (a broken record, an alert after TLS 1.3's early
 * finish), when the server may have read the request.
 */
const handshake =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$|ERR_SSL_WRONG_VERSION_NUMBER$|ERR_SSL_UNSUPPORTED_PROTOCOL$|ERR_SSL_\w*HANDSHAKE_FAILURE$|ERR_SSL_\w*PROTOCOL_VERSION$)/;
/** See `dispatcherUntil` in core/feedback/http.ts. */
const tooLate = 'CLOSELOOP_LEFT_TOO_LATE';
const cut = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export interface Fault {
  code: string;
  /** Whether the failure happened while connecting. */
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
 * Node's own `fetch`, which a user of the library may pass in, refuses the ports that browsers refuse: mail, IRC, X11 and the like. Its error
 * has no code.
 */
function isBlockedPort(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.message === 'bad port') return true;
  }
  return false;
}

/** Whether an established connection ended early. False if the connection was never established, or if closeloop gave it up. */
export function isCut(error: unknown): boolean {
  const { code, connecting } = faultOf(error);
  return cut.has(code) && !connecting;
}

/** Why a request was never sent; undefined if it may have been sent. `blocked-port`: only from Node's own `fetch`. */
export type NeverSent = 'blocked-port' | 'no-name' | 'too-late' | 'no-connection' | 'no-tls';

export function neverSentBy(error: unknown): NeverSent | undefined {
  const { code, connecting } = faultOf(error);
  if (isBlockedPort(error)) return 'blocked-port';
  if (lookups.has(code)) return 'no-name';
  if (code === tooLate) return 'too-late';
  if (unreachable.has(code) || connecting) return 'no-connection';
  return handshake.test(code) ? 'no-tls' : undefined;
}
