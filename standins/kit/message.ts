/** One request as a stand-in sees it. */
export interface StandinRequest {
  method: string;
  /** The raw path, still encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Record<string, string | undefined>;
  /** The bytes of the body; empty when there was none. */
  raw: Buffer;
}

export interface StandinResponse {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON; a string or Buffer as it is. */
  body?: string | Buffer | object;
}

export const ok = (body: object): StandinResponse => ({ status: 200, body });

/** An instant as most vendors write it: to the second, without a fraction; null for none. */
export function toSecond<At extends number | null>(at: At): At extends null ? null : string;
export function toSecond(at: number | null): string | null {
  return at === null ? null : `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The body as JSON whatever its content type; `undefined` when it is empty or not JSON. */
export function jsonBody(req: Pick<StandinRequest, 'raw'>): unknown {
  try {
    return JSON.parse(req.raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The body of a request for a token: a form by its content type, else JSON. */
export function formOrJsonBody({ headers, raw }: Pick<StandinRequest, 'headers' | 'raw'>): unknown {
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm ? Object.fromEntries(new URLSearchParams(raw.toString('utf8'))) : jsonBody({ raw });
}

/** An answer other than success, thrown by an endpoint and sent by the server that called it. */
export class Problem extends Error {
  readonly response: StandinResponse;

  constructor(response: StandinResponse) {
    super(`answer ${response.status}`);
    this.response = response;
  }
}
