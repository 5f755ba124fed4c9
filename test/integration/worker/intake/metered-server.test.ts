import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MeteredServer, restMs } from '../../../../worker/intake/metered-server.ts';
import { listening } from '../../../support/listening.ts';

/** A server that counts the pieces that it parses, and a connection to it. Every request is answered with its body's length. */
async function open(): Promise<{ socket: Socket; pieces: () => number; answered: Promise<string> }> {
  let pieces = 0;
  const server = new MeteredServer({}, (request, response) => {
    let length = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
    });
    request.once('end', () => response.end(`${length} bytes`));
  });
  server.on('connection', (one: Socket) => one.on('data', () => (pieces += 1)));
  const socket = createConnection(await listening(server), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const answered = new Promise<string>((resolve) => {
    let text = '';
    socket.setNoDelay(true).on('data', (piece: Buffer) => {
      text += piece.toString();
      const found = /\d+ bytes/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  return { socket, pieces: () => pieces, answered };
}

const announced = (length: number): string => `POST / HTTP/1.1\r\nHost: closeloop\r\nContent-Length: ${length}\r\n\r\n`;
const chunked = 'POST / HTTP/1.1\r\nHost: closeloop\r\nTransfer-Encoding: chunked\r\n\r\n';

// Each read costs time in which other connections wait.
const drips: [what: string, head: string, drip: string, end: string, answer: string][] = [
  ['bytes of a body', announced(400), 'x', '', '400 bytes'],
  ['chunks of a byte', chunked, '1\r\nx\r\n', '0\r\n\r\n', '400 bytes'],
  ['bytes of heads', 'POST / HTTP/1.1\r\nX-Long: ', 'x', '\r\nHost: closeloop\r\nContent-Length: 0\r\n\r\n', '0 bytes'],
];
test.each(drips)('%s that come singly are read many at a time, and all of them', async (_, head, drip, end, answer) => {
  const { socket, pieces, answered } = await open();
  socket.write(head);
  for (let written = 0; written < 400; written++) {
    socket.write(drip);
    await sleep(1);
  }
  socket.write(end);
  expect(await answered).toBe(answer);
  expect(pieces()).toBeLessThan(100);
});

test('each small piece has the connection rest a little longer, and a quarter of a second at most', () => {
  expect([0, 1, 2, 10, 25, 26, 100_000].map(restMs)).toEqual([0, 10, 20, 100, 250, 250, 250]);
});

test.each([536, 1_460, 16_384, 100_000])(
  '100,000 bytes that a slow line brings in packets of %i come whole',
  async (packet) => {
    const { socket, answered } = await open();
    socket.write(announced(100_000));
    for (let written = 0; written < 100_000; written += packet) {
      socket.write(Buffer.alloc(Math.min(packet, 100_000 - written), 'x'));
      await nextTurn();
    }
    expect(await answered).toBe('100000 bytes');
  },
);

test('what was sent before the sender closed its side is read to its end', async () => {
  const { socket, answered } = await open();
  socket.end(announced(100_000) + 'x'.repeat(100_000));
  expect(await answered).toBe('100000 bytes');
});

test('requests that follow each other on one connection do not rest for what came before', async () => {
  const { socket, answered } = await open();
  const seen: string[] = [];
  socket.on('data', (piece: Buffer) => seen.push(...(piece.toString().match(/\d+ bytes/g) ?? [])));
  socket.write(announced(3));
  for (const letter of 'abc') {
    await sleep(5);
    socket.write(letter);
  }
  await answered;
  socket.write(`${announced(2)}ab`);
  while (seen.length < 2) await sleep(5);
  expect(seen).toEqual(['3 bytes', '2 bytes']);
});
