/** Any HTTP answer, before its meaning is known. Header names are lower case. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string>;
}

export interface Transport {
  fetch?: typeof globalThis.fetch;
  /** Sees every answer, good or bad: the quota headers are on both. */
  onAnswer?: (answer: Answer) => void;
}

export interface CallOptions extends Transport {
  /** GET when left out. */
  method?: string;
  /** https (http on loopback), below `/api/v2/` or exactly `/oauth/tokens`. Doubled slashes are collapsed. */
  url: string;
  headers?: Record<string, string>;
  /** The body, sent as JSON. */
  json?: unknown;
  /** For the whole call, headers and body. 10 s when left out. */
  timeoutMs?: number;
}

/**
 * One attempt; redirects are not followed. An empty body (204) is `{}`.
 * @throws ZendeskCallError for everything but a 2xx with JSON.
 */
export function zendeskCall(options: CallOptions): Promise<Answer & { requestId: string | undefined; body: unknown }>;

/** Calls that `work` starts through `zendesk-node-api` go over this transport. */
export function withTransport<T>(transport: Transport, work: () => T): T;

/** The message names method, path and status only; `body` may hold personal data. */
export class ZendeskCallError extends Error {
  /** Without the query. */
  path: string;
  /** `HTTP_404`, `REDIRECT`, `BAD_JSON`, `REFUSED_URL`, `ETIMEDOUT`, or the system's (`ECONNREFUSED` …). */
  code: string;
  /** Absent when there was no answer. */
  statusCode: number | undefined;
  headers: Record<string, string>;
  /** Parsed where it was JSON, else its text; undefined when there was no answer. */
  body: unknown;
  requestId: string | undefined;
  /** From Retry-After, given in seconds or as a date. */
  retryAfterMs: number | undefined;
  /** The same call may succeed later: no answer, 408, 409, 429, 5xx. */
  retryable: boolean;
  /** Whether Zendesk can have seen the call: `never` (no connection), `maybe` (lost on the way), `answered`. */
  sent: 'never' | 'maybe' | 'answered';
}
