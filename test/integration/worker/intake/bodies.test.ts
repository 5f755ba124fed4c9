import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Bodies } from '../../../../worker/intake/bodies.ts';
import { intakeLimits } from '../../../../worker/intake/intake.ts';
import { listening } from '../../../support/listening.ts';

/** A server that hands each request over, and a connection to it. */
async function open(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Socket> {
  const socket = createConnection(await listening(createServer(handle)), '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const head = (length: number): string => `POST / HTTP/1.1\r\nHost: closeloop\r\nContent-Length: ${length}\r\n\r\n`;

test.each(['', 'short'])('%j, which has come with its head, is read and counts until it is answered', async (text) => {
  const bodies = new Bodies(intakeLimits);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = await open(async (request, response) => {
    await nextTurn();
    const body = await bodies.read(request, response);
    const { held } = bodies;
    response.once('close', () => resolve({ text: body.toString(), held, after: bodies.held })).end();
  });
  socket.resume().write(head(text.length) + text);
  expect(await promise).toEqual({ text, held: text.length, after: 0 });
});

test('a body that was cut while it waited for its turn is refused at once', async () => {
  const bodies = new Bodies(intakeLimits);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = await open(async (request, response) => {
    socket.destroy();
    await new Promise((closed) => request.once('close', closed));
    await bodies.read(request, response).catch(resolve);
  });
  socket.write(`${head(10)}half`);
  expect(await promise).toMatchObject({ statusCode: 400, message: expect.stringContaining('closed before the end') });
  expect(bodies.held).toBe(0);
});
