import { z } from 'zod';
import { type Advice, CloseloopError, type Outcome } from '../../core/errors.ts';
import { ZendeskCallError } from './call.ts';

const ErrorBody = z.object({
  error: z.union([z.string(), z.object({ title: z.string() }).transform(({ title }) => title)]),
});

/** Zendesk's name for an error (`RecordNotFound`), never its prose: that is in the API user's language and may quote a customer. */
export function errorName(body: unknown): string | undefined {
  const parsed = ErrorBody.safeParse(body);
  return parsed.success && /^[A-Za-z_]{1,60}$/.test(parsed.data.error) ? parsed.data.error : undefined;
}

/** Asks us to wait and has done nothing: 429, or 30 jobs at once (whose status Zendesk doesn't document). */
export function isThrottle(error: unknown): boolean {
  return error instanceof ZendeskCallError && (error.statusCode === 429 || errorName(error.body) === 'TooManyJobs');
}

/** A call that Zendesk didn't answer with what was asked for. */
export class ZendeskFailure extends CloseloopError {
  /** Absent when there was no answer. */
  readonly statusCode: number | undefined;
  /** Zendesk's name for it: `StartTimeTooRecent`. */
  readonly errorName: string | undefined;

  constructor(
    message: string,
    advice: Advice,
    facts: {
      outcome: Outcome;
      statusCode: number | undefined;
      errorName: string | undefined;
      reference: string | undefined;
    },
  ) {
    super(message, advice, facts);
    this.statusCode = facts.statusCode;
    this.errorName = facts.errorName;
  }
}

/** Who must do what, by the beginning of the path that was forbidden. */
const rights: readonly [path: string, remedy: string][] = [
  [
    '/api/v2/incremental/',
    'Only admins may ask what has changed: an admin must make the owner of the OAuth client (or of the API token) an admin ' +
      '(Admin Center > People > Team members), and give the client the scope "read".',
  ],
  [
    '/api/v2/users/',
    'The credentials may not write on customers (writeBack.userFields): an admin must give the OAuth client the scope "users:write" ' +
      'and its owner a role that may edit end users.',
  ],
  [
    '/api/v2/custom_objects/',
    'The credentials may not write records (writeBack.customObject): an admin must give the OAuth client the scope "write" and ' +
      'its owner access to the custom object.',
  ],
  [
    '',
    'The credentials lack a right: an admin must give the OAuth client the scopes "read tickets:write" (one string) and its owner ' +
      'a role that may see and edit these tickets.',
  ],
];

const outcomes: Record<ZendeskCallError['sent'], Outcome> = {
  never: 'never-sent',
  maybe: 'unknown',
  answered: 'refused',
};

/**
 * What to do about a failed call. The answer's body goes no further than this: it may hold a customer's words.
 * Source of the table: facts on Zendesk, developer.zendesk.com "rate limits".
 */
export function failure(error: unknown, subdomain: string): CloseloopError {
  if (error instanceof CloseloopError) return error;
  const host = `Zendesk ${subdomain}`;
  if (!(error instanceof ZendeskCallError)) {
    return new CloseloopError(
      `${host}: the call failed on our side`,
      { kind: 'transient' },
      { outcome: 'unknown', cause: error },
    );
  }
  const { statusCode = 0, retryAfterMs, requestId, body, sent } = error;
  const name = errorName(body);
  const say = (remedy: string): string =>
    [`${host}: ${error.message}`, name && ` ${name}`, `. ${remedy}`].filter((part) => part !== undefined).join('');
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const outcome = statusCode >= 500 ? 'unknown' : outcomes[sent];
  const made = (remedy: string, advice: Advice) =>
    new ZendeskFailure(say(remedy), advice, {
      outcome,
      statusCode: error.statusCode,
      errorName: name,
      reference: requestId,
    });
  const transient = (remedy: string) => made(remedy, { kind: 'transient', ...wait });
  const permanent = (remedy: string) => made(remedy, { kind: 'permanent' });
  const config = (remedy: string, more: { doubtful?: boolean } = {}) => made(remedy, { kind: 'config', ...more });
  // What somebody between may have said.
  const doubtful = { doubtful: true };

  if (isThrottle(error)) return made('Zendesk asks us to wait.', { kind: 'transient', ...wait, throttled: true });
  if (error.code === 'REFUSED_URL') return permanent('This is a bug in closeloop; please report it.');
  if (error.code === 'REDIRECT') {
    return config(
      'The account has moved: put its current subdomain (not a help center address) into `subdomain`.',
      doubtful,
    );
  }
  if (error.path === '/oauth/tokens' && statusCode >= 400 && statusCode < 500 && statusCode !== 408) {
    return config(
      'An admin of this Zendesk must check the OAuth client (Admin Center > Apps and integrations > APIs > OAuth clients): ' +
        'kind Confidential, its owner active; clientId, clientSecret and scope as in the configuration.',
    );
  }
  if (statusCode === 401) {
    return config(
      'Zendesk refuses the credentials, a new token too: an admin must check that the owner of the OAuth client (or of the ' +
        'API token) is active and an agent, then update clientId and clientSecret.',
    );
  }
  if (statusCode === 403) return config(rights.find(([path]) => error.path.startsWith(path))?.[1] ?? '');
  if (statusCode === 404 && typeof body === 'string') {
    return config('There is no help desk at this address: check `subdomain`.', doubtful);
  }
  if (statusCode === 404) return permanent('It does not exist any more.');
  if (statusCode === 400)
    return permanent('Zendesk did not understand the call: a bug in closeloop; please report it.');
  if (statusCode === 409) return transient('Somebody changed the same thing at the same time; it is tried again.');
  if (error.retryable) return transient('It is tried again.');
  return permanent('Zendesk refuses this for good.');
}
