import { adviceOf, CloseloopError, isConnectorBug, messageOf } from '../../core/errors.ts';
import { isRedisUnavailable } from '../redis/unavailable.ts';
import type { CallEnd } from './observer.ts';
import type { Outage } from './outage.ts';

type Watch = Pick<Outage, 'answered' | 'failed' | 'usedUp'>;

/** How long callers wait where an endpoint asks all callers to wait and does not say how long. Real time. */
const askedToWaitMs = 5_000;

interface WatchOptions {
  /** Whether a wait that the endpoint asks for holds for every call of the account; else the connector observes it, endpoint by endpoint. */
  isShared: boolean;
  /** Methods that make no call. */
  local?: readonly string[];
  /** Called with the result of each call, under the method's name. */
  onCall?: (operation: string, end: CallEnd) => void;
}

/** Returns the client so that its calls report whether the endpoint answers. */
export function watchCalls<Client extends object>(
  client: Client,
  watch: Watch,
  { isShared, local = [], onCall = () => undefined }: WatchOptions,
): Client {
  function watchedMethod(method: Method, name: PropertyKey): Method {
    const call = { watch, isShared, end: (end: CallEnd) => onCall(String(name), end) };
    return (...args: unknown[]) => {
      const result: unknown = Reflect.apply(method, client, args);
      if (result instanceof Promise) return watched(result, call);
      return isIterable(result) ? watchedPages(result, call) : result;
    };
  }
  const methods = new Map<PropertyKey, Method>();
  return new Proxy(client, {
    get: (target, name) => {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, name);
      if (!isMethod(member) || local.includes(String(name))) return member;
      const method = watchedMethod(member, name);
      methods.set(name, method);
      return method;
    },
  });
}

type Method = (...args: unknown[]) => unknown;

const isMethod = (member: unknown): member is Method => typeof member === 'function';

function isIterable(result: unknown): result is AsyncIterable<unknown> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

interface Call {
  watch: Watch;
  isShared: boolean;
  end: (end: CallEnd) => void;
}

async function* watchedPages(pages: AsyncIterable<unknown>, call: Call): AsyncGenerator<unknown> {
  try {
    for await (const page of pages) {
      await answered(call);
      yield page;
    }
  } catch (error) {
    await failed(error, call);
    throw error;
  }
}

async function watched(result: Promise<unknown>, call: Call): Promise<unknown> {
  try {
    const value = await result;
    const failure = failureOfAll(value);
    await (failure === undefined ? answered(call) : failed(failure, call));
    return value;
  } catch (error) {
    await failed(error, call);
    throw error;
  }
}

function answered({ watch, end }: Call): Promise<void> {
  end('ok');
  return stored(watch.answered());
}

function failed(error: unknown, { watch, isShared, end }: Call): Promise<void> {
  end(endOf(error));
  return stored(report(error, watch, isShared));
}

/** The error, where it tells of the endpoint: a programming error, of closeloop or of a connector, says nothing about that. */
function ofEndpoint(error: unknown): CloseloopError | undefined {
  return error instanceof CloseloopError && !isConnectorBug(error) ? error : undefined;
}

function endOf(error: unknown): CallEnd {
  const failure = ofEndpoint(error);
  if (failure === undefined) return 'fault';
  const { advice, outcome } = failure;
  if (advice.kind === 'transient' && advice.throttled === true) return 'throttled';
  return outcome === 'unknown' ? 'no-answer' : advice.kind;
}

/** The error of a call that returns one result per item: the first item's, where every item failed. */
function failureOfAll(value: unknown): Error | undefined {
  if (!Array.isArray(value)) return undefined;
  const errors = value.map((one: unknown) => {
    const error = typeof one === 'object' && one !== null && 'error' in one ? one.error : undefined;
    return error instanceof Error && adviceOf(error).kind === 'transient' ? error : undefined;
  });
  return errors.every((error) => error !== undefined) ? errors[0] : undefined;
}

async function report(error: unknown, watch: Watch, isShared: boolean): Promise<void> {
  const failure = ofEndpoint(error);
  if (failure === undefined) return;
  const advice = adviceOf(error);
  if (advice.kind !== 'transient') return failure.outcome === 'never-sent' ? undefined : await watch.answered();
  if (advice.throttled !== true)
    return await watch.failed(messageOf(error), isShared ? advice.retryAfterMs : undefined);
  if (isShared) await watch.failed(messageOf(error), advice.retryAfterMs ?? askedToWaitMs);
  else await watch.usedUp(advice.retryAfterMs ?? 0);
}

/** Reports the result after the call: a failure of Redis is met, and waited for, by the job. */
function stored(report: Promise<void>): Promise<void> {
  return report.catch((error: unknown) => {
    if (!isRedisUnavailable(error)) throw error;
  });
}
