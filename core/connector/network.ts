/*
 * Which failures of a request were never sent: the one place that says so, for the service and for vendors. Codes are those
 * of Node 24's fetch (undici 7), seen by provoking them.
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
 * Raised while the two sides introduce themselves. Other ERR_SSL_* come from a running connection (a broken record, an
 * alert after TLS 1.3's early finish) and so after the request may have been read.
 */
const handshake =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID$|ERR_SSL_WRONG_VERSION_NUMBER$|ERR_SSL_UNSUPPORTED_PROTOCOL$|ERR_SSL_\w*HANDSHAKE_FAILURE$|ERR_SSL_\w*PROTOCOL_VERSION$)/;
/** See core/feedback/send-deadline.ts. */
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

/** Browsers' rule, which `fetch` keeps everywhere: ports of mail, IRC, X11 and the like are not called. It has no code. */
function isBlockedPort(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.message === 'bad port') return true;
  }
  return false;
}

/** Did the connection die, as opposed to never coming about or being given up by us? */
export function isCut(error: unknown): boolean {
  const { code, connecting } = faultOf(error);
  return cut.has(code) && !connecting;
}

/** Why a call never left; undefined where it may have. */
export type NeverSent = 'blocked-port' | 'no-name' | 'too-late' | 'no-connection' | 'no-tls';

export function neverSentBy(error: unknown): NeverSent | undefined {
  const { code, connecting } = faultOf(error);
  if (isBlockedPort(error)) return 'blocked-port';
  if (lookups.has(code)) return 'no-name';
  if (code === tooLate) return 'too-late';
  if (unreachable.has(code) || connecting) return 'no-connection';
  return handshake.test(code) ? 'no-tls' : undefined;
}
