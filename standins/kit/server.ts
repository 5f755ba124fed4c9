import { channel } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { jsonBody } from './router.ts';

/** One request as a stand-in sees it. */
export interface StandinRequest {
  method: string;
  /** Raw, still encoded, without the query. */
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

/**
 * One thing that goes wrong on purpose. Without `status` and `then` it only delays.
 * - `status`: answered instead of working.
 * - `cut`: no work is done, the socket is destroyed.
 * - `work-then-cut`: the work is done, the answer dropped, the socket destroyed.
 * - `work-then-hang`: the work is done, the answer never comes; the client's time-out has to end it.
 *
 * The delay comes before the work, and a client that leaves meanwhile does not stop it: as with a real service, a time-out
 * on the client's side leaves the outcome unknown.
 */
export interface Fault {
  /** Any method when left out. */
  method?: string;
  /** Source of a RegExp tested on the raw path; any path when left out. */
  path?: string;
  /** How many requests it hits before it is dropped. Default 1. */
  times?: number;
  delayMs?: number;
  then?: 'answer' | 'cut' | 'work-then-cut' | 'work-then-hang';
  status?: number;
  headers?: Record<string, string>;
  body?: string | object;
}

export interface StandinServer {
  /** `http://127.0.0.1:port`, no slash at the end. */
  url: string;
  port: number;
  /** Cuts what is still open, drops what is still delayed. */
  close(): Promise<void>;
}

/** What `/_control/faults` takes. */
export const faultSchema = z.strictObject({
  method: z.string().exactOptional(),
  path: z.string().refine(isRegExp, 'is not a regular expression').exactOptional(),
  times: z.number().int().min(1).exactOptional(),
  delayMs: z.number().min(0).exactOptional(),
  then: z.enum(['answer', 'cut', 'work-then-cut', 'work-then-hang']).exactOptional(),
  status: z.number().int().min(200).max(599).exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  body: z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]).exactOptional(),
});

type Handler = (req: StandinRequest) => StandinResponse | Promise<StandinResponse>;

/** Ordered faults: the first that matches a request is used, `times` times, then dropped. */
export class FaultQueue {
  #pending: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#pending.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#pending = [];
  }

  /** Finds the fault for this request and uses it up by one. */
  take(req: Pick<StandinRequest, 'method' | 'path'>): Fault | undefined {
    const index = this.#pending.findIndex(({ fault }) => hits(fault, req));
    const entry = this.#pending[index];
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left <= 0) this.#pending.splice(index, 1);
    return entry.fault;
  }

  /** What has not been used up, first to last, `times` counting what is left. */
  list(): Fault[] {
    return this.#pending.map(({ fault, left }) => ({ ...fault, times: left }));
  }
}

/** Every request that any stand-in of this process takes (`StandinRequest`), for whoever listens. */
const requests = channel('closeloop:standin-request');

/**
 * Serves a stand-in on 127.0.0.1. `port` 0 or left out: any free one.
 * Faults hit every path outside `/_control/`; `/_control/faults` (GET, POST, DELETE) orders them from outside.
 */
export async function serve(
  handle: Handler,
  options: { port?: number; faults?: FaultQueue } = {},
): Promise<StandinServer> {
  const faults = options.faults ?? new FaultQueue();
  const closing = new AbortController();

  const answer = async (req: StandinRequest): Promise<StandinResponse | 'cut' | 'hang'> => {
    if (req.path === '/_control/faults') return controlFaults(req, faults);
    const fault = req.path.startsWith('/_control/') ? undefined : faults.take(req);
    if (fault === undefined) return handle(req);
    if (fault.delayMs !== undefined && !(await pause(fault.delayMs, closing.signal))) return 'cut';
    const then = fault.then ?? 'answer';
    if (then === 'cut') return 'cut';
    const response = fault.status === undefined ? await handle(req) : faultAnswer(fault, fault.status);
    if (then === 'work-then-cut') return 'cut';
    return then === 'work-then-hang' ? 'hang' : response;
  };

  const server = createServer((message, response) => {
    read(message)
      .then((req) => {
        requests.publish(req);
        return answer(req);
      })
      .catch((error: unknown) => ({ status: 500, body: { detail: `The stand-in broke: ${String(error)}` } }))
      .then((result) => {
        if (result === 'cut') message.socket.destroy();
        else if (result !== 'hang') send(response, result);
      });
  });
  // Longer than any client keeps an idle connection, so that a reused one is never closed under a request by us.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The same for a stand-in that holds its faults itself. */
export async function serveStandin<Standin extends { handle: Handler; faults: FaultQueue }>(
  standin: Standin,
  port = 0,
): Promise<StandinServer & { standin: Standin }> {
  const server = await serve((req) => standin.handle(req), { faults: standin.faults, port });
  return { ...server, standin };
}

function controlFaults(req: StandinRequest, faults: FaultQueue): StandinResponse {
  if (req.method === 'GET') return { status: 200, body: faults.list() };
  if (req.method === 'DELETE') {
    faults.clear();
    return { status: 200, body: [] };
  }
  if (req.method !== 'POST') return { status: 405, body: { detail: `Method "${req.method}" not allowed.` } };
  const parsed = faultSchema.safeParse(jsonBody(req));
  if (!parsed.success) return { status: 400, body: { detail: z.prettifyError(parsed.error) } };
  faults.add(parsed.data);
  return { status: 201, body: parsed.data };
}

function faultAnswer(fault: Fault, status: number): StandinResponse {
  return {
    status,
    ...(fault.headers === undefined ? {} : { headers: fault.headers }),
    body: fault.body ?? { detail: `Fault ordered: ${status}.` },
  };
}

function hits(fault: Fault, req: Pick<StandinRequest, 'method' | 'path'>): boolean {
  if (fault.method !== undefined && fault.method.toUpperCase() !== req.method) return false;
  return fault.path === undefined || new RegExp(fault.path).test(req.path);
}

async function read(message: IncomingMessage): Promise<StandinRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(message.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return {
    method: message.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers,
    raw: Buffer.concat(chunks),
  };
}

function send(response: ServerResponse, { status, headers = {}, body }: StandinResponse): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const [payload, type] =
    typeof body === 'string'
      ? [body, 'text/plain; charset=utf-8']
      : Buffer.isBuffer(body)
        ? [body, 'application/octet-stream']
        : [JSON.stringify(body), 'application/json'];
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  response.writeHead(status, { ...(typed ? {} : { 'content-type': type }), ...headers }).end(payload);
}

/** False when `signal` ended the wait. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const stop = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve(true);
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

function isRegExp(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}
