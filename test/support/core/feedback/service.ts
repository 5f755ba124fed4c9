import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createFeedbackClient, type FeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import { listening } from '../../listening.ts';

/* A few lines of HTTP server per test, so that the client's tests depend on no stand-in. */

export interface Received {
  method: string;
  /** As sent: still encoded, with the query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Which connection it came on, from 1. */
  connection: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Text as it is; anything else as JSON. */
  body?: unknown;
}

export interface Service {
  origin: string;
  /** With the prefix /api. */
  url: string;
  received: Received[];
}

/** Starts a server that ends with the test. `answer` gives a reply, or nothing when it deals with `response` itself. */
export async function listen(
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that writes the response itself returns nothing
  answer: (request: Received, response: ServerResponse, socket: Socket) => Reply | void,
): Promise<Service> {
  const received: Received[] = [];
  const connections = new Map<Socket, number>();
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request: Received = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
      connection: connections.get(incoming.socket) ?? 0,
    };
    received.push(request);
    const reply = answer(request, response, incoming.socket);
    if (reply === undefined) return;
    const { status = 200, headers, body } = reply;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  const origin = `http://127.0.0.1:${await listening(server)}`;
  return { origin, url: `${origin}/api`, received };
}

/** A service that answers exactly these; anything else gets what a web server says to a stranger. */
export async function serving(routes: Record<string, Reply>): Promise<Service> {
  return listen(
    ({ method, path }) =>
      routes[`${method} ${path}`] ?? {
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<h1>Not Found</h1>',
      },
  );
}

export const now = new Date('2026-03-02T10:00:00Z');

export function clientFor(
  baseUrl: string,
  settings: Partial<Record<keyof FeedbackSettings, unknown>> = {},
  clock: () => Date = () => now,
): FeedbackClient {
  const parsed = FeedbackSettings.parse({ baseUrl, apiKey: 'k-1', timeZone: 'Europe/Tallinn', ...settings });
  return createFeedbackClient(parsed, { fetch, now: clock });
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
