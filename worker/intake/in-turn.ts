import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection in one turn of the event loop. Vendors and proxies wait for an answer before they ask again. */
const mostAtOnce = 10;

/**
 * Node reads up to 2 MB of a connection in one turn of the event loop, which may be tens of thousands of requests and would block
 * all other connections. A connection that sends more than `mostAtOnce` requests in one turn is closed.
 */
export function inTurn(handle: RequestListener, onClosed: () => void): RequestListener {
  const inThisTurn = new Map<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // This request had been read before its connection was closed.
    if (socket.destroyed) return;
    if (inThisTurn.size === 0) setImmediate(() => inThisTurn.clear());
    const before = inThisTurn.get(socket) ?? 0;
    inThisTurn.set(socket, before + 1);
    if (before < mostAtOnce) {
      handle(request, response);
      return;
    }
    onClosed();
    socket.destroy();
  };
}
