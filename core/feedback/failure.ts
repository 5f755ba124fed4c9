import { faultOf, neverSentBy } from '../connector/network.ts';
import { transientAfter } from '../connector/retry-after.ts';
import { type Advice, CloseloopError, type Outcome } from '../errors.ts';
import { shownField } from '../mismatches.ts';
import { type Answer, namesNobody, type Place, type Said, wordsOf } from './response.ts';
import { shownMessage } from './shown-message.ts';

/* Turns a response other than success, or a missing response, into an error with advice. Pure. */

interface ErrorOptions {
  outcome?: Outcome;
  status?: number | undefined;
  detail?: string | undefined;
  fields?: Readonly<Record<string, string[]>> | undefined;
  cause?: unknown;
  addressFlaw?: string | undefined;
}

/**
 * A call to the Feedback service that failed. `detail` and `fields` are the service's own words: they may quote a
 * contact or a comment, so they are getters, which no logger copies, and `message` repeats them without what was sent.
 */
export class FeedbackError extends CloseloopError {
  override readonly name = 'FeedbackError';
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** For a 404: what may be wrong with the service's address, and how to write it. */
  readonly addressFlaw: string | undefined;
  readonly #detail: string | undefined;
  readonly #fields: Readonly<Record<string, string[]>> | undefined;

  constructor(message: string, advice: Advice, options: ErrorOptions = {}) {
    super(message, advice, options);
    this.status = options.status;
    this.addressFlaw = options.addressFlaw;
    this.#detail = options.detail;
    this.#fields = options.fields;
  }

  get detail(): string | undefined {
    return this.#detail;
  }

  /** Refused parameter or custom field → messages. */
  get fields(): Readonly<Record<string, string[]>> | undefined {
    return this.#fields;
  }
}

/**
 * Whether the service has no request of this contact, by the message of specification section 7: any other 404 means a wrong
 * address, or comes from a proxy.
 */
export function isNobody(error: unknown): boolean {
  return error instanceof FeedbackError && error.status === 404 && namesNobody(error);
}

/** Source: specification section 5, point 4. */
const keyRemedies: Readonly<Record<string, string>> = {
  'Authentication credentials were not provided.':
    'the key did not arrive: something between here and the service drops or rewrites the Authorization header (a proxy?)',
  'Invalid token.':
    'no key with this value exists (a typo, a deleted key, or a key of the other environment): copy the key from Settings, API keys into feedback.apiKey',
  'Inactive API key.':
    'the key was deactivated: an admin sets its Active switch under Settings, API keys, or put another key into feedback.apiKey',
  'Expired API token.':
    'the key has expired: an admin changes or clears its expiry under Settings, API keys, or put another key into feedback.apiKey',
};
const unknownKeyRemedy = 'the service does not accept the key: check feedback.apiKey against Settings, API keys';

/** The service's messages that quote no values, so that an error may repeat them. Source: specification section 7. */
const harmless: readonly string[] = [
  ...Object.keys(keyRemedies),
  'Parameter "campaign" is required.',
  'No Campaign matches the given query.',
  'Not found.',
];

/** The error for an answer outside 2xx. `now` turns a Retry-After date into a wait. */
export function answerFailure(answer: Answer, call: Place, now: Date): FeedbackError {
  const { status } = answer;
  const said = wordsOf(answer, call);
  const { advice, outcome, meaning } = classifyResponse(answer, call, said, now);
  const quoted = said.detail !== undefined && harmless.includes(said.detail) ? ` ("${said.detail}")` : '';
  const addressFlaw = status === 404 ? call.addressFlaw : undefined;
  const flaw = addressFlaw === undefined ? '' : `; ${addressFlaw}`;
  const message = `Feedback service: ${call.place} answered ${status}${quoted}: ${meaning}${flaw}.`;
  return new FeedbackError(message, advice, { outcome, status, addressFlaw, ...said });
}

interface Classification {
  advice: Advice;
  outcome: Outcome;
  meaning: string;
}

function classifyResponse(answer: Answer, call: Place, said: Said, now: Date): Classification {
  const { status } = answer;
  // The service answers in JSON. An HTML page comes from a proxy, and may be temporary.
  const doubt = answer.body.json ? {} : { doubtful: true };
  const refused = (kind: 'permanent' | 'config', meaning: string, more: object = doubt): Classification => ({
    advice: { kind, ...more },
    outcome: 'refused',
    meaning,
  });
  const form = assumption(call);
  /** The classification of a wrong form: the call fails for every record until a person mends the form; other operations are not affected. */
  const misformed = (meaning: string, more: object = doubt): Classification =>
    refused(call.operation === undefined ? 'permanent' : 'config', `${meaning}${form}`, { ...more, ...onlyThis(call) });
  if (status >= 500 || status === 408) {
    return {
      advice: transientAfter(answer.headers, now),
      outcome: 'unknown',
      meaning: isRead(call) ? 'the service failed' : 'the service failed; it may have done the work',
    };
  }
  if (status === 429) {
    const advice: Advice = { ...transientAfter(answer.headers, now), throttled: true };
    return { advice, outcome: 'refused', meaning: 'the service asks to wait' };
  }
  if (status < 400) {
    const meaning = `a redirect, which is not followed: the path lost or gained a slash, or feedback.baseUrl is not the service's own address${form}`;
    return refused('config', meaning, { doubtful: true, ...onlyThis(call) });
  }
  switch (status) {
    case 400:
      return refused('permanent', `${badRequest(call, said)}${form}`);
    case 401:
      return refused('config', keyRemedies[said.detail ?? ''] ?? unknownKeyRemedy);
    case 403:
      return refused(
        'config',
        'the campaign is not active, or it or the request belongs to another account than the key',
      );
    case 404:
      return notFound(answer, call, said);
    case 405:
      return misformed('the path exists but not for this method');
    case 415:
      return misformed('the body did not arrive as JSON with Content-Type application/json (a proxy?)', {
        doubtful: true,
      });
    default:
      return refused('permanent', `${saying(call, said) ?? 'the service refuses the call'}${form}`);
  }
}

const assumption = ({ operation }: Place): string =>
  operation === undefined ? '' : `; the form of this call is an assumption, see feedback.operations.${operation}`;

const onlyThis = ({ operation }: Place): { only?: string } =>
  operation === undefined ? {} : { only: `operation ${operation}` };

/** The service's own messages for things that it does not have; any other 404 means that the path does not exist. */
const nothingThere = /^(?:Not found\.|No \w+ matches the given query\.)$/;
const noCampaign = 'No Campaign matches the given query.';

function notFound(answer: Answer, call: Place, said: Said): Classification {
  const { operation } = call;
  const isKnown = nothingThere.test(said.detail ?? '');
  const doubt = isKnown ? {} : { doubtful: true };
  const isForm = operation === undefined ? !isKnown : !answer.body.json || operation === 'create';
  if (!isForm || said.detail === noCampaign) {
    const meaning = `nothing in this account has this id or contact (it may be masked, deleted or a draft)${assumption(call)}`;
    return { advice: { kind: 'permanent', ...doubt }, outcome: 'refused', meaning };
  }
  const meaning = `no such path at this address: check that feedback.baseUrl ends with the service's /api${assumption(call)}`;
  return { advice: { kind: 'config', ...doubt, ...onlyThis(call) }, outcome: 'refused', meaning };
}

/** Whether the campaign can't be used: it is inactive, a draft, or belongs to another account. */
export function isAboutCampaign(error: FeedbackError): boolean {
  return error.status === 403 || (error.status === 404 && error.detail === noCampaign);
}

const required = /^this field is required\.?$/i;
/** Messages like "Unknown field.", which are about a parameter's name and not about the value of one record. */
const unknownName =
  /\b(?:unknown|unexpected|unrecogni[sz]ed|unsupported|undeclared|extra|no such)\b.*\b(?:field|parameter|key|property|attribute)s?\b/i;

/** The parameters that are missing or unknown by the service's response: their names are wrong, for the values of every record. */
export function misnamed({ status, fields }: FeedbackError): string[] {
  if (status !== 400 || fields === undefined) return [];
  const isAboutName = (text: string) => required.test(text) || unknownName.test(text);
  return Object.entries(fields).flatMap(([name, messages]) => (messages.some(isAboutName) ? [name] : []));
}

/** The service's words, unless the error quotes them already. */
function saying({ sentValues }: Place, { detail = '' }: Said): string | undefined {
  const shown = harmless.includes(detail) ? undefined : shownMessage(detail, sentValues);
  return shown && `it says: ${shown}`;
}

function badRequest(call: Place, said: Said): string {
  if (said.fields !== undefined) {
    const missing = Object.entries(said.fields).map(([field, messages]) => {
      const name = shownField(field, call.customFieldNames);
      const isShown = name === field && said.specified?.has(field) === true;
      const words = isShown ? messages.flatMap((message) => shownMessage(message, call.sentValues) ?? []) : [];
      const [why] = messages.some((message) => required.test(message)) ? ['required'] : words;
      return why === undefined ? name : `${name} (${why})`;
    });
    return `it refuses ${[...new Set(missing)].join(', ')}`;
  }
  const why = saying(call, said);
  if (why !== undefined) return why;
  if (call.operation === 'cancel') return 'a feedback request can be cancelled only while it is scheduled';
  return 'a parameter is missing or malformed, or the current status does not allow this';
}

/**
 * The error for a 2xx response whose shape differs from the specification.
 * @param mismatches Places in the answer and what was expected there, never what was found.
 */
export function shapeFailure(
  status: number,
  call: Place,
  mismatches: readonly string[],
  outcome: Outcome = 'refused',
): FeedbackError {
  const listed = mismatches.slice(0, 5).join('; ');
  const more = mismatches.length > 5 ? ` and ${mismatches.length - 5} more` : '';
  const remedy = call.operation === undefined ? '' : `; set feedback.operations to what the service calls its fields`;
  const message = `Feedback service: ${call.place} answered ${status} in another shape than specified, at ${listed}${more}${remedy}.`;
  return new FeedbackError(message, { kind: 'permanent', doubtful: true }, { outcome, status });
}

/** The error for a 2xx answer that isn't JSON: a maintenance or login page, so the same call may succeed later. */
export function notJsonFailure(answer: Answer, call: Place, outcome: Outcome): FeedbackError {
  const type = /^[\w.+-]+\/[\w.+-]+/.exec(answer.headers.get('content-type') ?? '')?.[0] ?? 'no content type';
  const message = `Feedback service: ${call.place} answered ${answer.status} without JSON (${type}): something other than the service answers at feedback.baseUrl.`;
  return new FeedbackError(message, { kind: 'transient' }, { outcome, status: answer.status });
}

/** The error for a call for which `fetch`, or reading the body, failed. The message never quotes the cause. */
export function networkFailure(error: unknown, call: Place): FeedbackError {
  const { code } = faultOf(error);
  const never = (what: string, remedy: string): FeedbackError => failure(call, what, remedy, 'never-sent', error);
  switch (neverSentBy(error)) {
    case 'blocked-port': {
      const what = 'the port in its address is one that fetch never calls (as of mail, IRC, X11)';
      return failure(call, what, 'name another port in feedback.baseUrl', 'never-sent', error, 'config');
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
  return failure(call, what, perhapsDone(call), 'unknown', error);
}

export function timeoutFailure(call: Place, timeoutMs: number): FeedbackError {
  return failure(call, `no complete answer within ${timeoutMs} ms`, perhapsDone(call), 'unknown');
}

/** The error for a call that its caller aborted. `sent`: whether the request may have left before that. */
export function abortFailure(call: Place, sent: boolean): FeedbackError {
  const remedy = sent ? perhapsDone(call) : 'nothing was sent';
  return failure(call, 'stopped on request', remedy, sent ? 'unknown' : 'never-sent');
}

const isRead = ({ place }: Place): boolean => place.startsWith('GET ');

/** What a call has changed of which no answer came. */
const perhapsDone = (call: Place): string =>
  isRead(call) ? 'nothing was to be changed' : 'the service may have done the work';

function failure(
  call: Place,
  what: string,
  remedy: string,
  outcome: Outcome,
  cause?: unknown,
  kind: 'transient' | 'config' = 'transient',
): FeedbackError {
  return new FeedbackError(`Feedback service: ${call.place}: ${what}; ${remedy}.`, { kind }, { outcome, cause });
}
