import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';

/** What the help desk signs with; the product's configuration and the flow's function hold it too. */
export const webhookSecret = 'zendesk-webhook-secret';

export interface Delivery {
  body: string;
  headers: Record<string, string>;
}

/** One delivery for each of these tickets, signed before anything is measured. */
export function deliveriesOf(ids: readonly number[]): Delivery[] {
  const timestamp = new Date().toISOString();
  return ids.map((id) => {
    const body = JSON.stringify({
      account_id: 1,
      detail: { id: String(id), actor_id: '9001', status: 'SOLVED', subject: 'Printer', requester_id: `7${id}` },
      event: { current: 'SOLVED', previous: 'OPEN' },
      id: `event-${id}`,
      subject: `zen:ticket:${id}`,
      time: timestamp,
      type: 'zen:event-type:ticket.status_changed',
      zendesk_event_version: '2022-11-06',
    });
    const signature = createHmac('sha256', webhookSecret)
      .update(timestamp + body)
      .digest('base64');
    return {
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'x-zendesk-webhook-invocation-id': `01${id}`,
        'x-zendesk-webhook-signature-timestamp': timestamp,
        'x-zendesk-webhook-signature': signature,
      },
    };
  });
}

/** Tickets that no delivery was about yet. */
export function freshTickets(): (count: number) => number[] {
  let next = 100_000;
  return (count) => Array.from({ length: count }, () => next++);
}

/**
 * Sends them all, so many at a time, each over a connection that is kept. With as little work as can be: the sender shares the machine
 * with what is measured.
 * @returns the instants between which they were sent and answered, milliseconds since 1970
 * @throws Error when one is not accepted
 */
export async function sendAll(
  url: string,
  deliveries: readonly Delivery[],
  inFlight: number,
): Promise<{ from: number; to: number }> {
  const { hostname, port, host, pathname } = new URL(url);
  const requests = deliveries.map((delivery) => requestOf(delivery, { host, pathname }));
  const sockets = Array.from({ length: inFlight }, () => createConnection(Number(port), hostname).setNoDelay());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const now = () => performance.timeOrigin + performance.now();
  const left = requests.values();
  const from = now();
  await Promise.all(sockets.map((socket) => sendOver(socket, left)));
  const to = now();
  for (const socket of sockets) socket.destroy();
  return { from, to };
}

function requestOf({ body, headers }: Delivery, { host, pathname }: { host: string; pathname: string }): Buffer {
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head}\r\n${body}`);
}

/** Sends one after the other, each when the one before was answered. */
async function sendOver(socket: Socket, left: Iterator<Buffer>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let read = '';
  const send = () => {
    const { value, done } = left.next();
    if (done) resolve();
    else socket.write(value);
  };
  socket.on('data', (piece: Buffer) => {
    read += piece.toString('latin1');
    const answer = wholeAnswer(read);
    if (answer === undefined) return;
    read = '';
    if (answer.status < 300) send();
    else reject(new Error(`a delivery was answered ${answer.status}`));
  });
  socket.once('error', reject).once('close', () => reject(new Error('a connection was closed')));
  send();
  await promise;
}

/** The answer that this text is; undefined while some of it is missing. */
function wholeAnswer(text: string): { status: number } | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, head + 2)) ?? [];
  if (length === undefined) throw new Error('an answer that does not tell its length');
  return text.length < head + 4 + Number(length) ? undefined : { status: Number(text.slice(9, 12)) };
}
