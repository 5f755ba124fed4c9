import type { Outcome } from '../errors.ts';
import type { Place } from './failure.ts';
import { FeedbackError } from './failure.ts';

/* What a call means that ended without an answer. Codes are those of Node 24's fetch (undici 7), seen by provoking them. */

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
/** See leave-by.ts. */
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

/** Did the call never leave: no name, no connection, no agreement on TLS? */
export function isNeverSent(error: unknown): boolean {
  const { code, connecting } = faultOf(error);
  return (
    isBlockedPort(error) ||
    code === tooLate ||
    lookups.has(code) ||
    unreachable.has(code) ||
    connecting ||
    handshake.test(code)
  );
}

/** The error for a call that `fetch`, or the reading of its body, gave up. The message never quotes the cause's. */
export function networkFailure(error: unknown, call: Place): FeedbackError {
  const { code, connecting } = faultOf(error);
  const never = (what: string, remedy: string): FeedbackError => failure(call, what, remedy, 'never-sent', error);
  if (isBlockedPort(error)) {
    const what = `Feedback service: ${call.place}: the port in its address is one that fetch never calls (as of mail, IRC, X11)`;
    return new FeedbackError(
      `${what}; name another port in feedback.baseUrl.`,
      { kind: 'config' },
      { outcome: 'never-sent', cause: error },
    );
  }
  if (lookups.has(code)) {
    return never(`the host name was not found (${code})`, 'check feedback.baseUrl and the name service');
  }
  if (code === tooLate)
    return never('this process stood still before it was sent', 'nothing was sent, it is tried anew');
  if (unreachable.has(code) || connecting) {
    return never(`no connection (${code})`, 'check that feedback.baseUrl can be reached from this machine');
  }
  if (handshake.test(code)) {
    return never(
      `no secure connection (${code})`,
      "check that feedback.baseUrl is right and the service's certificate valid",
    );
  }
  const what = code === '' ? 'the exchange broke off' : `the exchange broke off (${code})`;
  return failure(call, what, 'the service may have done the work', 'unknown', error);
}

export function timeoutFailure(call: Place, timeoutMs: number): FeedbackError {
  return failure(call, `no complete answer within ${timeoutMs} ms`, 'the service may have done the work', 'unknown');
}

/** The caller gave up. `sent`: whether anything may have left before. */
export function abortFailure(call: Place, sent: boolean): FeedbackError {
  const remedy = sent ? 'the service may have done the work' : 'nothing was sent';
  return failure(call, 'stopped on request', remedy, sent ? 'unknown' : 'never-sent');
}

function failure(call: Place, what: string, remedy: string, outcome: Outcome, cause?: unknown): FeedbackError {
  const message = `Feedback service: ${call.place}: ${what}; ${remedy}.`;
  return new FeedbackError(message, { kind: 'transient' }, { outcome, ...(cause === undefined ? {} : { cause }) });
}
