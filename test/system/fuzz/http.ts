import { connect, type Socket } from 'node:net';

export interface Sent {
  head: string;
  body: Uint8Array;
}

/** One kept connection on which requests go out before earlier ones are answered. */
export class Pipe {
  readonly #port: number;
  #socket: Socket | undefined;
  #unread = Buffer.alloc(0);
  #waiting: { resolve: (status: number) => void; reject: (error: Error) => void }[] = [];

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** The status. @throws Error when the connection is closed before an answer */
  send({ head, body }: Sent): Promise<number> {
    this.#socket ??= this.#open();
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1');
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#unread = Buffer.alloc(0);
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('closed'));
    });
    return socket;
  }

  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (;;) {
      const end = this.#unread.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#unread.subarray(0, end).toString('latin1');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (this.#unread.length < end + 4 + length) return;
      this.#unread = this.#unread.subarray(end + 4 + length);
      this.#waiting.shift()?.resolve(Number(head.slice(9, 12)));
    }
  }
}

/** Bytes on a connection of their own: the status of the first answer, 0 for a connection that is closed without one. */
export function raw(url: string, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let said = '';
    socket.on('data', (some) => {
      said += some.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(said)?.[1] ?? 0)));
    // Half closed: whoever waits for more knows that nothing comes.
    socket.end(bytes);
  });
}
