/** Every source of nondeterminism. Only an entry point or a test builds one. */
export interface Ports {
  fetch: typeof globalThis.fetch;
  now: () => Date;
  /** 0 ≤ x < 1 */
  random: () => number;
  /** Resolves after `ms` milliseconds of real time. */
  sleep: (ms: number) => Promise<void>;
}

/** A structured log, one line per event. Never pass personal data. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
