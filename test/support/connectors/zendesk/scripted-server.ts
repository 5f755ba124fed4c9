import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Seen {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

/** What one request gets: an answer, or whatever the function does to the response. */
export type Step =
  | { status: number; headers?: Record<string, string>; body?: string | object }
  | ((response: ServerResponse) => void);

export interface ScriptedServer {
  url: string;
  seen: Seen[];
  close: () => Promise<void>;
}

/** Answers the first request with the first step, and so on; the last step goes on for ever. */
export async function scripted(...steps: Step[]): Promise<ScriptedServer> {
  return answering((_, index) => steps[Math.min(index, steps.length - 1)] ?? { status: 500 });
}

export async function answering(decide: (request: Seen, index: number) => Step): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      const step = decide(one, seen.push(one) - 1);
      if (typeof step === 'function') return step(response);
      const { status, headers = {}, body = '' } = step;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, {
        ...(typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
        ...headers,
      });
      response.end(status === 204 ? undefined : text);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** An address where nobody listens (any more). */
export async function nobody(): Promise<string> {
  const server = await scripted({ status: 500 });
  await server.close();
  return server.url;
}

async function read(request: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
