/** A request as closeloop sends it. */
export interface SentRequest {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal;
  /** Redirects are never followed, as credentials must not go elsewhere. */
  redirect?: 'manual';
}

export interface ResponseHeaders extends Iterable<[name: string, value: string]> {
  /** Takes the name in any case; joins several values by commas. */
  get(name: string): string | null;
}

/** A response whose body may still be arriving. */
export interface BegunResponse {
  status: number;
  headers: ResponseHeaders;
  /** The body, to be read piece by piece. */
  body: AsyncIterable<Uint8Array> | null;
}

/** The type of `fetch`. Node's own `fetch` has this type, too. */
export type Fetch = (url: string | URL, init: SentRequest) => Promise<BegunResponse>;

/** Every source of nondeterminism. Only entry points and tests create ports. */
export interface Ports {
  fetch: Fetch;
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
