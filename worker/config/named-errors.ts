import { ZodError } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';

/** Makes the unexpected errors of a stranger's connector name that connector, so that people report the error to its author, not to closeloop. */
export function withNamedErrors(source: Source, connector: string): Source {
  const named = (member: PropertyKey, error: unknown): unknown => {
    if (error instanceof CloseloopError || error instanceof ZodError) return error;
    const message = `The connector "${connector}" fails in ${String(member)}: ${messageOf(error)}; report it to its author.`;
    return new CloseloopError(message, { kind: 'transient' }, { outcome: 'unknown', cause: error });
  };
  return new Proxy(source, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        try {
          const result: unknown = Reflect.apply(value, target, given);
          if (!(result instanceof Promise)) return result;
          return result.catch((error: unknown) => Promise.reject(named(member, error)));
        } catch (error) {
          throw named(member, error);
        }
      };
    },
  });
}
