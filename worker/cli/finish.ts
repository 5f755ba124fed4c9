import { CloseloopError, messageOf, refusal, stackOf } from '../../core/errors.ts';
import { redacted } from '../../core/redaction.ts';
import { RedisAway, redisTrouble } from '../redis/unavailable.ts';

/** Redis does not answer, or takes no writes: the same command may succeed later. */
const redisAway = 5;

/** Exit codes: what the command returns; 2 for a mistake the user can mend; 5 where Redis does not answer, or takes no writes; 1 for anything else. */
export async function finish(command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (thrown) {
    const error = redisTrouble(thrown) ?? thrown;
    if (!(error instanceof CloseloopError || isSystemError(error))) throw error;
    process.stderr.write(`${error.message}\n`);
    if (error instanceof RedisAway) return redisAway;
    return error instanceof CloseloopError && error.advice.kind === 'config' ? 2 : 1;
  }
}

/** An error of the operating system: its message names the file or address; a stack trace would add nothing. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

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

/** The error for a port that can't be listened on; `cause` itself if that is another error. @param remedy a sentence */
export function notListening(cause: unknown, { host, port }: { host: string; port: number }, remedy: string): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code !== 'string') return cause;
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process has it',
    ERR_SOCKET_BAD_PORT: 'the highest is 65535',
  };
  return refusal(`Port ${port} of ${host} can't be listened on (${known[code] ?? code}). ${remedy}`, cause);
}

/**
 * Runs work that reads or writes a file. @param failed the beginning of the message: "--out can't be written" @throws CloseloopError
 * config
 */
export function onFile<T>(failed: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw refusal(`${failed}: ${messageOf(cause)}`, cause);
  }
}
