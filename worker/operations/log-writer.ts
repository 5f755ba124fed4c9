import { createRequire } from 'node:module';
import type { Logger } from 'pino';

const require = createRequire(import.meta.url);
/** Loaded with the first line: a command that logs nothing does not load the library. */
const pino = (): typeof import('pino') => require('pino');
const prettyPrinter = (): typeof import('pino-pretty') => require('pino-pretty');

export function createLogger({ level, pretty, stream = process.stdout }: LogOptions): Logger {
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

export interface LogOptions {
  /** Lines for a person at a terminal, instead of one JSON object a line. */
  pretty: boolean;
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Default: standard output. */
  stream?: NodeJS.WritableStream;
}
