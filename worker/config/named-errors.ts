import { ZodError } from 'zod';
import type { Connector, Source } from '../../core/connector/contract.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';

/** A connector, and the URL of the file that exports it. */
interface Named {
  connector: Pick<Connector, 'name'>;
  url: string;
}

/**
 * Makes the unexpected errors of a stranger's connector name that connector and the place in its files, so that its author corrects the
 * connector, and nobody takes the error for closeloop's or the vendor's.
 */
export function withNamedErrors(source: Source, { connector, url }: Named): Source {
  const named = (member: PropertyKey, error: unknown): unknown => {
    if (error instanceof CloseloopError || error instanceof ZodError) return error;
    const at = placeIn(new URL('.', url).href, error);
    const message = `The connector "${connector.name}" fails in ${String(member)}: ${messageOf(error)}${at}`;
    // Transient: what failed is tried again, with the corrected connector as well, and nothing is lost meanwhile.
    return new CloseloopError(message, { kind: 'transient', bug: true }, { outcome: 'unknown', cause: error });
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

/** The innermost line of the error's stack that lies in the connector's folder, and in no package there. */
function placeIn(folder: string, error: unknown): string {
  const lines = (error instanceof Error ? error.stack : undefined)?.matchAll(/file:\/\/\S+?:\d+/g) ?? [];
  for (const [at] of lines)
    if (at.startsWith(folder) && !at.slice(folder.length).includes('node_modules/')) return ` (${at})`;
  return '';
}
