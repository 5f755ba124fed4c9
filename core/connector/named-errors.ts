import { ZodError } from 'zod';
import { type Advice, CloseloopError, messageOf } from '../errors.ts';
import type { Source } from './contract.ts';
import { recordFlaw } from './whole.ts';

/**
 * Makes the unexpected errors of a stranger's connector name that connector, so that people report the error to its author, not to closeloop.
 * A record that is none fails by itself, before anybody is asked because of it.
 * @param connector for messages: '"deskly" of ./deskly.ts'
 */
export function withNamedErrors(open: () => Source, connector: string): Source {
  const named = (member: PropertyKey, error: unknown, kind: Exclude<Advice['kind'], 'permanent'> = 'transient') => {
    if (error instanceof CloseloopError || error instanceof ZodError) return error;
    const message = `The connector ${connector} fails in ${String(member)}: ${messageOf(error)}; report it to its author.`;
    return new CloseloopError(message, { kind }, { outcome: 'unknown', cause: error });
  };
  const looked = (results: unknown): unknown => {
    if (!Array.isArray(results)) throw new Error('it returns no list');
    return results.map((one: unknown) => {
      const flaw = recordFlaw(one);
      return flaw === undefined ? one : { ok: false, why: 'error', error: named('read', new Error(flaw)) };
    });
  };
  const source = opened();
  return new Proxy(source, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        try {
          const given: unknown = Reflect.apply(value, target, args);
          const result = member === 'read' ? Promise.resolve(given).then(looked) : given;
          if (!(result instanceof Promise)) return result;
          return result.catch((error: unknown) => Promise.reject(named(member, error)));
        } catch (error) {
          throw named(member, error);
        }
      };
    },
  });

  function opened(): Source {
    try {
      return open();
    } catch (error) {
      throw named('open', error, 'config');
    }
  }
}
