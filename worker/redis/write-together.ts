import type { Writable } from 'node:stream';

/**
 * Sends everything that is written to the connection in one turn of the event loop in one system call. Commands of a thousand jobs are
 * then read by Redis at once, and flushed to its disk at once, without waiting for each other in the process.
 */
export function writeTogether(connection: Writable): void {
  const write = connection.write;
  let isHeld = false;
  Object.defineProperty(connection, 'write', {
    configurable: true,
    writable: true,
    value: (...args: unknown[]) => {
      if (!isHeld) {
        isHeld = true;
        connection.cork();
        setImmediate(() => {
          isHeld = false;
          connection.uncork();
        });
      }
      return Reflect.apply(write, connection, args);
    },
  });
}
