import { z } from 'zod';
import { CloseloopError, type Outcome } from '../../core/errors.ts';
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
    [`${host}: ${error.message}`, name && ` ${name}`, requestId && ` (request ${requestId})`, `. ${remedy}`]
      .filter((part) => part !== undefined)
      .join('');
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const outcome = statusCode >= 500 ? 'unknown' : outcomes[sent];
  const transient = (remedy: string) => new CloseloopError(say(remedy), { kind: 'transient', ...wait }, { outcome });
  const permanent = (remedy: string) => new CloseloopError(say(remedy), { kind: 'permanent' }, { outcome });
  const config = (remedy: string) => new CloseloopError(say(remedy), { kind: 'config' }, { outcome });

  if (isThrottle(error)) {
    return new CloseloopError(
      say('Zendesk asks us to wait.'),
      { kind: 'transient', ...wait, throttled: true },
      { outcome },
    );
  }
  if (error.code === 'REFUSED_URL') return permanent('This is a bug in closeloop; please report it.');
  if (error.code === 'REDIRECT') {
    return config('The account has moved: put its current subdomain (not a help center address) into `subdomain`.');
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
  if (statusCode === 403) {
    return config(
      'The credentials lack a right: an admin must give the OAuth client the scopes "read tickets:write" (one string) and its owner ' +
        'a role that may see and edit these tickets.',
    );
  }
  if (statusCode === 404 && typeof body === 'string') {
    return config('There is no help desk at this address: check `subdomain`.');
  }
  if (statusCode === 404) return permanent('It does not exist any more.');
  if (statusCode === 400)
    return permanent('Zendesk did not understand the call: a bug in closeloop; please report it.');
  if (statusCode === 409) return transient('Somebody changed the same thing at the same time; it is tried again.');
  if (error.retryable) return transient('It is tried again.');
  return permanent('Zendesk refuses this for good.');
}
