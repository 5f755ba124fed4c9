import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';

/** Takes what a system tells, for as long as a test file runs. */
export function startReceiver() {
  const told: { body: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, answer) => {
    told.push({ body: await text(request), headers: request.headers });
    answer.end();
  }).listen(0, '127.0.0.1');
  const listening = once(server, 'listening');
  afterAll(() => server.close());
  return {
    told,
    async url(): Promise<string> {
      await listening;
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('nobody listens');
      return `http://127.0.0.1:${address.port}/`;
    },
  };
}
