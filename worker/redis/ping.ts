import { connect } from 'node:net';

/**
 * The state of a Redis at a unix socket: `ready` (+PONG), `loading` (Redis reads its files), `silent` (accepts connections, does not
 * answer), `dead` (nothing listens).
 */
type Pulse = 'ready' | 'loading' | 'silent' | 'dead';

/** Never rejects. */
export async function ping(socket: string, timeoutMs: number): Promise<Pulse> {
  return await new Promise((resolve) => {
    const connection = connect(socket);
    const end = (pulse: Pulse) => {
      connection.destroy();
      resolve(pulse);
    };
    connection.setTimeout(timeoutMs, () => end('silent'));
    connection.on('connect', () => connection.write('PING\r\n'));
    // Redis answers such a short command in one piece.
    connection.on('data', (data) => end(data.toString('latin1').startsWith('+PONG') ? 'ready' : 'loading'));
    connection.on('error', () => end('dead'));
    connection.on('close', () => resolve('dead'));
  });
}
