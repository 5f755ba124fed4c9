import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from '../core/ports.ts';

/** A second line of defence: code never passes personal data or secrets, and if it does they aren't printed. */
const never = [
  ...['contact', 'phone', 'email', 'identifier', 'comment', 'body', 'payload', 'values'],
  ...['token', 'apiKey', 'apiToken', 'accessToken', 'clientSecret', 'authorization', 'webhookSecrets'],
];

export interface LogOptions {
  /** For a person at a terminal; else one JSON object a line. */
  pretty: boolean;
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Standard output, unless a test wants to read it. */
  stream?: NodeJS.WritableStream;
}

export function createLog(options: LogOptions): Log {
  const settings = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: never.flatMap((key) => [key, `*.${key}`]), censor: '[removed]' },
  };
  const stream = options.stream ?? process.stdout;
  const logger: Logger = options.pretty
    ? pino(settings, pretty({ destination: stream, sync: true, singleLine: true, ignore: 'pid,hostname' }))
    : pino(settings, stream);
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    logger[level](fields, message);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
