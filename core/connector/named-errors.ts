import { ZodError } from 'zod';
import { type Advice, CloseloopError, messageOf } from '../errors.ts';
import type { Source } from './contract.ts';
import { recordFlaw } from './whole.ts';

/**
 * Makes the unexpected errors of a stranger's connector name that connector and the place in its files, so that its author corrects the
 * connector, and nobody takes the error for closeloop's or the vendor's.
 * A record that is none fails by itself, before anybody is asked because of it.
 * @param from the connector for messages, '"deskly" of ./deskly.ts', and the URL of the file that exports it
 */
export function withNamedErrors(open: () => Source, { label, url }: { label: string; url?: string }): Source {
  const named = (member: PropertyKey, error: unknown, kind: Exclude<Advice['kind'], 'permanent'> = 'transient') => {
    if (error instanceof CloseloopError || error instanceof ZodError) return error;
    const at = url === undefined ? '' : placeIn(new URL('.', url).href, error);
    const message = `The connector ${label} fails in ${String(member)}: ${messageOf(error)}${at}`;
    // Transient: what failed is tried again, with the corrected connector as well, and nothing is lost meanwhile.
    const advice = kind === 'transient' ? { kind, bug: isBug(error) } : { kind };
    return new CloseloopError(message, advice, { outcome: 'unknown', cause: error });
  };
  const looked = (results: unknown): unknown => {
    if (!Array.isArray(results)) throw new TypeError('it returns no list');
    return results.map((one: unknown) => {
      const flaw = recordFlaw(one);
      return flaw === undefined ? one : { ok: false, why: 'error', error: named('read', new TypeError(flaw)) };
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

/**
 * Whether the code itself failed. A plain Error may tell of a vendor that is away, a SyntaxError of an answer that is no JSON, and `fetch`
 * throws a TypeError with a cause where the network fails.
 */
function isBug(error: unknown): boolean {
  const isOfLanguage = [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
  return isOfLanguage && error instanceof Error && error.cause === undefined;
}

/** The innermost line of the error's stack that lies in the connector's folder, and in no package there. */
function placeIn(folder: string, error: unknown): string {
  const lines = (error instanceof Error ? error.stack : undefined)?.matchAll(/file:\/\/\S+?:\d+/g) ?? [];
  for (const [at] of lines)
    if (at.startsWith(folder) && !at.slice(folder.length).includes('node_modules/')) return ` (${at})`;
  return '';
}
