import { channel } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlFaults, FaultQueue, faultAnswer } from './faults.ts';
import type { StandinRequest, StandinResponse } from './message.ts';

export interface StandinServer {
  /** `http://127.0.0.1:port`, no slash at the end. */
  url: string;
  port: number;
  /** Cuts what is still open, drops what is still delayed. */
  close(): Promise<void>;
}

type Handler = (req: StandinRequest) => StandinResponse | Promise<StandinResponse>;

/** Every request that any stand-in of this process takes (`StandinRequest`), for tests that listen. */
const requests = channel('closeloop:standin-request');

/**
 * Serves a stand-in on 127.0.0.1. `port` 0 or left out: any free one.
 * Faults hit every path outside `/_control/`; `/_control/faults` (GET, POST, DELETE) sets them from outside.
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
    if (fault.delayMs !== undefined) await pause(fault.delayMs, AbortSignal.any([closing.signal, faults.cleared]));
    if (closing.signal.aborted) return 'cut';
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

/** Makes a function that creates a stand-in and serves it. The stand-in itself knows which faults it has. */
export function starterOf<Options extends object, Standin extends { handle: Handler; faults: FaultQueue }>(
  Standin: new (options?: Options) => Standin,
) {
  return async (options?: Options & { port?: number }): Promise<StandinServer & { standin: Standin }> => {
    const standin = new Standin(options);
    const server = await serve(standin.handle, { faults: standin.faults, port: options?.port ?? 0 });
    return { ...server, standin };
  };
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

/** Until `ms` have passed, or `signal` ends the wait. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
