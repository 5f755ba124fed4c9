import { describe, expect, test } from 'vitest';
import { faultOf, isCut, type NeverSent, neverSentBy } from '../../../../core/connector/network.ts';

/** As fetch throws it: what the system said is the cause, or the cause's cause. */
function thrown(code: string, syscall?: string, depth = 1): Error {
  let error: Error = Object.assign(new Error('secret 10.0.0.7'), { code }, syscall === undefined ? {} : { syscall });
  for (let left = depth; left > 0; left -= 1) error = new TypeError('fetch failed', { cause: error });
  return error;
}

const rows: [code: string, syscall: string | undefined, never: NeverSent | undefined, cut: boolean][] = [
  ['ENOTFOUND', 'getaddrinfo', 'no-name', false],
  ['EAI_AGAIN', 'getaddrinfo', 'no-name', false],
  ['EAI_FAIL', undefined, 'no-name', false],
  ['EAI_NODATA', undefined, 'no-name', false],
  ['EAI_NONAME', undefined, 'no-name', false],
  ['ECONNREFUSED', 'connect', 'no-connection', false],
  ['ECONNREFUSED', undefined, 'no-connection', false],
  ['EHOSTUNREACH', undefined, 'no-connection', false],
  ['ENETUNREACH', undefined, 'no-connection', false],
  ['EHOSTDOWN', undefined, 'no-connection', false],
  ['ENETDOWN', undefined, 'no-connection', false],
  ['EADDRNOTAVAIL', undefined, 'no-connection', false],
  ['UND_ERR_CONNECT_TIMEOUT', undefined, 'no-connection', false],
  // Whatever happens while connecting, nothing was sent.
  ['ETIMEDOUT', 'connect', 'no-connection', false],
  ['ECONNRESET', 'connect', 'no-connection', false],
  ['CLOSELOOP_LEFT_TOO_LATE', undefined, 'too-late', false],
  ['CERT_HAS_EXPIRED', undefined, 'no-tls', false],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined, 'no-tls', false],
  ['SELF_SIGNED_CERT_IN_CHAIN', undefined, 'no-tls', false],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', undefined, 'no-tls', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', undefined, 'no-tls', false],
  ['ERR_SSL_WRONG_VERSION_NUMBER', undefined, 'no-tls', false],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', undefined, 'no-tls', false],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', undefined, 'no-tls', false],
  ['ERR_SSL_HANDSHAKE_FAILURE', undefined, 'no-tls', false],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', undefined, 'no-tls', false],
  ['ERR_SSL_PROTOCOL_VERSION', undefined, 'no-tls', false],
  ['ECONNRESET', 'read', undefined, true],
  ['ECONNRESET', undefined, undefined, true],
  ['EPIPE', 'write', undefined, true],
  ['UND_ERR_SOCKET', undefined, undefined, true],
  ['ETIMEDOUT', 'read', undefined, false],
  ['UND_ERR_HEADERS_TIMEOUT', undefined, undefined, false],
  // From a running connection, so the request may have been read.
  ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', undefined, undefined, false],
  ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', undefined, undefined, false],
  ['ERR_SSL_WRONG_VERSION_NUMBER_LATER', undefined, undefined, false],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL_LATER', undefined, undefined, false],
  ['ERR_SSL_HANDSHAKE_FAILURE_LATER', undefined, undefined, false],
  ['ERR_SSL_PROTOCOL_VERSION_LATER', undefined, undefined, false],
  ['ERR_TLS_CERT_ALTNAME_INVALID_FORMAT', undefined, undefined, false],
  ['ERR_CERT_X', undefined, undefined, false],
];

describe('a call that ended without an answer', () => {
  test.each(rows)('it knows whether it was sent: %s of %s', (code, syscall, never, cut) => {
    const cause = thrown(code, syscall);
    expect([neverSentBy(cause), isCut(cause)]).toEqual([never, cut]);
  });

  test('a port that fetch never calls has no code', () => {
    for (const depth of [0, 4, 5]) {
      let error = new Error('bad port');
      for (let left = depth; left > 0; left -= 1) error = new TypeError('fetch failed', { cause: error });
      expect(neverSentBy(error)).toBe(depth < 5 ? 'blocked-port' : undefined);
    }
  });

  test('it goes by the innermost cause that has a code, and looks five deep', () => {
    expect(isCut(Object.assign(new Error('x', { cause: thrown('EPIPE') }), { code: 'ECONNREFUSED' }))).toBe(true);
    expect(isCut(Object.assign(new Error('x', { cause: new Error('y') }), { code: 'EPIPE' }))).toBe(true);
    expect([4, 5].map((depth) => isCut(thrown('EPIPE', 'write', depth)))).toEqual([true, false]);
  });

  test('it knows nothing where there is no code, and takes no number for one', () => {
    for (const cause of ['EPIPE', new Error('x'), Object.assign(new Error('x'), { code: 7, syscall: 7 })]) {
      expect([faultOf(cause), neverSentBy(cause), isCut(cause)]).toEqual([
        { code: '', connecting: false },
        undefined,
        false,
      ]);
    }
    expect(isCut(Object.assign(new Error('x'), { code: 'EPIPE', syscall: 7 }))).toBe(true);
  });
});
