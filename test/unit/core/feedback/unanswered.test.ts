import { describe, expect, test } from 'vitest';
import { abortFailure, networkFailure, timeoutFailure } from '../../../../core/feedback/failure.ts';

const place = { place: 'POST /x' };

/** As fetch throws it: what the system said is the cause, or the cause's cause. */
function thrown(code: string, syscall?: string, depth = 1): Error {
  let error: Error = Object.assign(new Error('secret 10.0.0.7'), { code }, syscall === undefined ? {} : { syscall });
  for (let left = depth; left > 0; left -= 1) error = new TypeError('fetch failed', { cause: error });
  return error;
}

const noName = (code: string) => `the host name was not found (${code}); check feedback.baseUrl and the name service`;
const noWay = (code: string) => `no connection (${code}); check that feedback.baseUrl can be reached from this machine`;
const noTls = (code: string) =>
  `no secure connection (${code}); check that feedback.baseUrl is right and the service's certificate valid`;
const noTime = () => 'this process stood still before it was sent; nothing was sent, it is tried anew';
const broken = (code: string) => `the exchange broke off (${code}); the service may have done the work`;

// Which code is of which kind: network.test.ts.
const rows: [code: string, syscall: string | undefined, says: (code: string) => string][] = [
  ['ENOTFOUND', 'getaddrinfo', noName],
  ['ECONNREFUSED', undefined, noWay],
  ['ETIMEDOUT', 'connect', noWay],
  ['CLOSELOOP_LEFT_TOO_LATE', undefined, noTime],
  ['CERT_HAS_EXPIRED', undefined, noTls],
  ['ECONNRESET', 'read', broken],
  ['UND_ERR_HEADERS_TIMEOUT', undefined, broken],
];

describe('a call that ended without an answer', () => {
  test.each(rows)('it knows what %s of %s means', (code, syscall, says) => {
    const cause = thrown(code, syscall);
    const never = says !== broken;
    const error = networkFailure(cause, place);
    expect(error).toMatchObject({ advice: { kind: 'transient' }, outcome: never ? 'never-sent' : 'unknown', cause });
    expect(error.message).toBe(`Feedback service: POST /x: ${says(code)}.`);
  });

  test('it knows nothing where there is no code', () => {
    for (const cause of ['EPIPE', new Error('x'), Object.assign(new Error('x'), { code: 7, syscall: 7 })]) {
      expect(networkFailure(cause, place).message).toBe(
        'Feedback service: POST /x: the exchange broke off; the service may have done the work.',
      );
    }
  });
});

test('a call that only reads has done nothing, however it ended', () => {
  const read = { place: 'GET /x' };
  for (const error of [timeoutFailure(read, 150), abortFailure(read, true), networkFailure(new Error('x'), read)])
    expect(error.message).toMatch(/; nothing was to be changed\.$/);
});

test('a call given up at its deadline may have been done', () => {
  const error = timeoutFailure(place, 150);
  expect(error).toMatchObject({ advice: { kind: 'transient' }, outcome: 'unknown' });
  expect(Object.hasOwn(error, 'cause')).toBe(false);
  expect(error.message).toBe(
    'Feedback service: POST /x: no complete answer within 150 ms; the service may have done the work.',
  );
});

test.each([
  [true, 'unknown', 'the service may have done the work'],
  [false, 'never-sent', 'nothing was sent'],
])('a call stopped on request (sent: %s) is %s', (sent, outcome, remedy) => {
  const error = abortFailure(place, sent);
  expect(error).toMatchObject({ advice: { kind: 'transient' }, outcome });
  expect(error.message).toBe(`Feedback service: POST /x: stopped on request; ${remedy}.`);
});
