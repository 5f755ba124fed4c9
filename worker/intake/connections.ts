import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup } from './address-group.ts';
import { Waiting } from './waiting.ts';

/** Keeps the number of connections within a limit: `Waiting` says which is closed for a new one. */
export class Connections {
  readonly #open = new Set<Socket>();
  /** Those without a whole request: nobody has been promised anything on them. */
  readonly #waiting = new Waiting<Socket>();
  readonly #most: number;

  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#opened(socket));
  }

  /** Its request is whole, and will be answered. */
  works(socket: Socket): void {
    this.#waiting.remove(socket);
  }

  /** Its request has been answered. */
  waits(socket: Socket): void {
    if (!this.#open.has(socket)) return;
    this.#waiting.remove(socket);
    this.#waiting.add(socket, addressGroup(socket.remoteAddress ?? ''), 1);
  }

  #opened(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#waiting.remove(socket);
    });
    this.waits(socket);
    if (this.#open.size > this.#most) this.#waiting.longest()?.destroy();
  }
}
