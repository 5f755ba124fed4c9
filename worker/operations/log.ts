import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { messageOf, stackOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import { redacted, removed } from '../../core/redaction.ts';

const require = createRequire(import.meta.url);

/** Loaded with the first line: a command that logs nothing does not load the library. */
const pino = (): typeof import('pino') => require('pino');
const prettyPrinter = (): typeof import('pino-pretty') => require('pino-pretty');

export interface LogOptions {
  /** Lines for a person at a terminal, instead of one JSON object a line. */
  pretty: boolean;
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Default: standard output. */
  stream?: NodeJS.WritableStream;
}

/** One line per event, at its level, with the time in ISO 8601. What may be personal or secret is taken out. */
export function createLog(options: LogOptions): Log {
  let logger: Logger | undefined;
  const write = (level: LogOptions['level']) => (fields: object, message: string) => {
    logger ??= createLogger(options);
    if (logger.isLevelEnabled(level)) logger[level](clean(fields, 0), redacted(message));
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function createLogger({ level, pretty, stream = process.stdout }: LogOptions): Logger {
  const settings = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (!pretty) return pino().pino(settings, stream === process.stdout ? together(stream) : stream);
  const printer = prettyPrinter()({ destination: stream, sync: true, singleLine: true, ignore: 'pid,hostname' });
  return pino().pino(settings, printer);
}

/**
 * Lines of one turn of the event loop go out in one system call: a line's own takes longer than making the line, as standard output
 * is written synchronously. A process that ends writes them first; one that is killed loses those of its last turn.
 */
export function together(stream: { write(text: string): boolean }): { write(line: string): boolean } {
  let lines = '';
  const flush = () => {
    if (lines !== '') stream.write(lines);
    lines = '';
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
      return true;
    },
  };
}

/**
 * Keys that are never printed, at any depth, also as the end of a longer one (`requesterEmail`, `access_token`).
 * A second line of defence: code never passes personal data or secrets to the log; where it does by mistake they are not printed.
 */
const never =
  /(contact|phone|email|identifier|comment|body|payload|values|token|apikey|authorization|password|secrets?|cookie)$/;
/** Most keys look like this. They are compared without conversion, and need no redaction. */
const lowerCase = /^[a-z]+$/;
const deepest = 6;

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redacted(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= deepest) return '[…]';
  if (value instanceof Error) {
    // Libraries attach requests and responses to their errors: only these four properties are logged.
    const shown = { name: redacted(value.name), message: redacted(messageOf(value)), stack: redacted(stackOf(value)) };
    return value.cause === undefined ? shown : { ...shown, cause: clean(value.cause, depth + 1) };
  }
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  const shown: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const isPlain = lowerCase.test(key);
    const name = isPlain ? key : key.replaceAll(/[-_\s]/g, '').toLowerCase();
    shown[isPlain ? key : redacted(key)] = never.test(name) ? removed : clean(item, depth + 1);
  }
  return shown;
}
