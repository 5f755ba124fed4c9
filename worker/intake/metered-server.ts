import type { IncomingMessage as Request } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Turns } from './turns.ts';

/** Not by `import`: an import reads every export of the module, WebSocket among them, for which Node loads its `fetch`: 40 ms, and 16 MB for ever. */
const { IncomingMessage, Server } = process.getBuiltinModule('node:http');

/** A piece of bytes that may hold the heads of requests: some sixty of the shortest requests, or the whole of a short delivery. */
const piece = { bytes: 1_024, cost: 1 };
/** A piece of a body, which costs little; further requests may stand behind the body's end. */
const bodyPiece = { bytes: 16 * 1_024, cost: 5 };
/** The most that the pieces of all connections cost together in one turn of the event loop. */
const costOfTurn = 20;

/**
 * In one turn of the event loop Node parses and answers up to 64 KB of each connection that is ready: millions of short requests,
 * where a thousand connections send as many as they can. This server passes the bytes on in small pieces, round-robin over the
 * connections, and limits what is processed in one turn to some milliseconds.
 */
export class MeteredServer extends Server {
  readonly #turns = new Turns(costOfTurn);

  /** Node's documentation of 'connection': any duplex stream can be passed. */
  override emit(event: string, ...values: unknown[]): boolean {
    const [first] = values;
    if (event === 'connection' && first instanceof Socket) {
      return super.emit(event, new MeteredSocket(first, this.#turns));
    }
    if (event === 'request' && first instanceof IncomingMessage && first.socket instanceof MeteredSocket) {
      first.socket.begins(first);
    }
    return super.emit(event, ...values);
  }
}

/** A connection in the form that the HTTP server uses. */
class MeteredSocket extends Duplex {
  readonly #socket: Socket;
  readonly #turns: Turns;
  #isWanted = false;
  #isInLine = false;
  #request: Request | undefined;

  constructor(socket: Socket, turns: Turns) {
    super();
    this.#socket = socket;
    this.#turns = turns;
    socket.on('readable', () => this.#enter());
    socket.once('end', () => this.push(null));
    socket.on('timeout', () => this.emit('timeout'));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout) this.once('timeout', onTimeout);
    this.#socket.setTimeout(ms);
    return this;
  }

  /** The headers of this request have come; its body is to be read. */
  begins(request: Request): void {
    this.#request = request;
  }

  /** The HTTP server has ended the connection: written bytes still go out, and nothing more is read. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#isWanted = true;
    this.#enter();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  /** Chunks that the HTTP server has put together go out in one write. */
  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #enter(): void {
    if (!this.#isWanted || this.#isInLine) return;
    // Also where there is nothing: only then Node reads on.
    if (this.#socket.readableLength === 0) {
      this.#socket.read(0);
      return;
    }
    this.#isInLine = true;
    const { bytes, cost } = this.#request?.complete === false ? bodyPiece : piece;
    const length = Math.min(bytes, this.#socket.readableLength);
    this.#turns.enter(cost, () => {
      this.#isInLine = false;
      if (this.destroyed || this.writableEnded) return;
      const read: unknown = this.#socket.read(length);
      if (read === null) return;
      this.#isWanted = this.push(read);
      this.#enter();
    });
  }
}
