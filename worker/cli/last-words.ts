import { messageOf, stackOf } from '../../core/errors.ts';
import { redacted } from '../../core/redaction.ts';

const mostCauses = 6;

/**
 * The text printed for an error that ends the process: its stack and its causes. Node would print every property of the error:
 * requests and responses, the arguments of a Redis command.
 */
export function lastWords(error: unknown): string {
  const lines: string[] = [];
  let at = error;
  do {
    lines.push(redacted(at instanceof Error ? stackOf(at) : messageOf(at)));
    at = at instanceof Error ? at.cause : undefined;
  } while (at !== undefined && lines.length < mostCauses);
  return `${lines.join('\nCaused by: ')}\n`;
}
