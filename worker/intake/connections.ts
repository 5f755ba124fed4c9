import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup } from '../../core/address-group.ts';
import { Waiting } from './waiting.ts';

/** Limits the number of connections: `Waiting` chooses the connection that is closed in favour of a new connection. */
export class Connections {
  /** Maps each connection to the address that it counts for. */
  readonly #open = new Map<Socket, string>();
  /** Connections without a complete request, which may be closed. */
  readonly #waiting = new Waiting<Socket>();
  readonly #most: number;

  constructor(server: Server, most: number) {
    this.#most = most;
    server.on('connection', (socket: Socket) => this.#opened(socket));
  }

  /** The connection's request is complete, and will be answered. */
  works(socket: Socket): void {
    this.#waiting.remove(socket);
  }

  /** The connection's request has been answered. */
  waits(socket: Socket): void {
    const group = this.#open.get(socket);
    if (group === undefined) return;
    this.#waiting.remove(socket);
    this.#waiting.add(socket, group, 1);
  }

  #opened(socket: Socket): void {
    this.#open.set(socket, addressGroup(socket.remoteAddress ?? ''));
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#waiting.remove(socket);
    });
    this.waits(socket);
    if (this.#open.size > this.#most) this.#waiting.longest()?.destroy();
  }
}
