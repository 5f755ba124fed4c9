import type { Finding } from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { ZendeskFailure } from './failure.ts';

/** Reads one thing. When it can't be read that becomes a finding, and the answer is undefined. */
export type Look = <T>(thing: { at: string; what: string }, read: () => Promise<T>) => Promise<T | undefined>;

/** @param mayLook Left out of the findings otherwise: everything that Zendesk forbids, as it is known why. */
export function looker(mayLook: boolean): { look: Look; unread: Finding[] } {
  const unread: Finding[] = [];
  return {
    unread,
    look: async ({ at, what }, read) => {
      try {
        return await read();
      } catch (error) {
        if (mayLook || !isForbidden(error)) {
          const problem = `${what} can't be read: not checked`;
          unread.push({ level: 'error', at, problem, remedy: refusal(error) });
        }
        return undefined;
      }
    },
  };
}

/** What to do about a failed call, in the words that the call's error has for it. */
export function refusal(error: unknown): string {
  if (!(error instanceof CloseloopError)) return 'This is a bug in closeloop; please report it';
  return error.advice.kind === 'transient' ? `Run check again. ${error.message}` : error.message;
}

const isForbidden = (error: unknown): boolean => error instanceof ZendeskFailure && error.statusCode === 403;
