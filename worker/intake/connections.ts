import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the number of connections. A new connection beyond the limit closes the connection that has waited longest for a complete request: a
 * delivery is complete within milliseconds, so that it is never the one.
 */
export class Connections {
  /** Connections without a complete request, the longest waiting first, as a set keeps the order of insertion. */
  readonly #waiting = new Set<Socket>();
  #open = 0;

  constructor(server: Server, most: number) {
    server.on('connection', (socket: Socket) => {
      this.#open += 1;
      this.#waiting.add(socket);
      socket.once('close', () => {
        this.#open -= 1;
        this.#waiting.delete(socket);
      });
      const [longest] = this.#waiting;
      if (this.#open > most) longest?.destroy();
    });
  }

  /** The connection's request is complete, and will be answered. */
  works(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  /** The connection's request has been answered. */
  waits(socket: Socket): void {
    if (socket.destroyed) return;
    this.#waiting.delete(socket);
    this.#waiting.add(socket);
  }
}
