/** Everything that makes two runs differ comes in through here; only an entry point or a test builds one. */
export interface Ports {
  fetch: typeof globalThis.fetch;
  now: () => Date;
  /** 0 ≤ x < 1 */
  random: () => number;
  /** Resolves after `ms` milliseconds of real time. */
  sleep: (ms: number) => Promise<void>;
}

/** One event that matters, for people and machines. Never pass personal data. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
