import { faultOf, neverSentBy } from '../connector/network.ts';
import type { Outcome } from '../errors.ts';
import { FeedbackError } from './failure.ts';
import type { Place } from './response.ts';

/** The error for a call for which `fetch`, or reading the body, failed. The message never quotes the cause. */
export function networkFailure(error: unknown, call: Place): FeedbackError {
  const { code } = faultOf(error);
  const never = (what: string, remedy: string): FeedbackError => failure(call, what, remedy, 'never-sent', error);
  switch (neverSentBy(error)) {
    case 'blocked-port': {
      const what = `Feedback service: ${call.place}: the port in its address is one that fetch never calls (as of mail, IRC, X11)`;
      return new FeedbackError(
        `${what}; name another port in feedback.baseUrl.`,
        { kind: 'config' },
        { outcome: 'never-sent', cause: error },
      );
    }
    case 'no-name':
      return never(`the host name was not found (${code})`, 'check feedback.baseUrl and the name service');
    case 'too-late':
      return never('this process stood still before it was sent', 'nothing was sent, it is tried anew');
    case 'no-connection':
      return never(`no connection (${code})`, 'check that feedback.baseUrl can be reached from this machine');
    case 'no-tls':
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

/** The error for a call that its caller aborted. `sent`: whether the request may have left before that. */
export function abortFailure(call: Place, sent: boolean): FeedbackError {
  const remedy = sent ? 'the service may have done the work' : 'nothing was sent';
  return failure(call, 'stopped on request', remedy, sent ? 'unknown' : 'never-sent');
}

function failure(call: Place, what: string, remedy: string, outcome: Outcome, cause?: unknown): FeedbackError {
  const message = `Feedback service: ${call.place}: ${what}; ${remedy}.`;
  return new FeedbackError(message, { kind: 'transient' }, { outcome, ...(cause === undefined ? {} : { cause }) });
}
