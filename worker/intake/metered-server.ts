import type { IncomingMessage as Request, RequestListener, ServerOptions } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Turns } from './turns.ts';

/** No `import`, which reads every export of the module, also WebSocket, for which Node loads `fetch`: 40 ms, and 16 MB for good. */
const { IncomingMessage, Server } = process.getBuiltinModule('node:http');

/** Bytes of a piece that may hold heads of requests: about sixty of the shortest requests, or a whole short delivery. */
const piece = { bytes: 1_024, cost: 1 };
/** Bytes of a piece of a body, which costs little. Further requests may follow the end of the body. */
const bodyPiece = { bytes: 16 * 1_024, cost: 5 };
/** The most that the pieces of all connections cost together in one turn of the event loop. */
const costOfTurn = 20;
/**
 * What a connection reads ahead: one read from the operating system, as the server reads on only when the bytes have been passed on.
 * Bytes that arrive meanwhile stay with the operating system, where they cost nothing. The same holds for bytes that are passed on: a connection
 * that is paused because its body is refused gets no further piece.
 */
const readAhead = 1;
/**
 * Every read costs time, however few bytes it brings. After a piece below `piece.bytes` that completes no head and no body the connection
 * rests before the next read, a little longer each time: bytes that come singly are read together. A sender that makes many small
 * writes, or has a slow line, loses nothing but these times.
 */
const rest = { firstMs: 10, longestMs: 250 };

/** @param small the small pieces of the same head or body so far */
export const restMs = (small: number): number => Math.min(rest.longestMs, small * rest.firstMs);

/**
 * In one turn of the event loop Node parses and answers up to 64 KB of each connection that is ready: millions of short requests,
 * where a thousand connections send as many as they can. This server passes the bytes on in small pieces, round-robin over the
 * connections and one of each in a turn, and limits what is processed in one turn to some milliseconds.
 */
export class MeteredServer extends Server {
  readonly #turns = new Turns(costOfTurn);

  constructor(options: ServerOptions, handle: RequestListener) {
    // Requests without a host come to `handle` as well, which counts them: Node would answer each by itself.
    super({ ...options, highWaterMark: readAhead, requireHostHeader: false }, handle);
  }

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
  /** Read, and not passed on yet. */
  #read = Buffer.alloc(0);
  #hasEnded = false;
  #isWanted = false;
  #isInLine = false;
  #request: Request | undefined;
  /** The small pieces of the present head or body, and which of the two it is. */
  #small = 0;
  #isInBody = false;
  #resting: NodeJS.Timeout | undefined;

  constructor(socket: Socket, turns: Turns) {
    super({ readableHighWaterMark: readAhead });
    this.#socket = socket;
    this.#turns = turns;
    socket.on('readable', () => this.#enter());
    socket.once('end', () => {
      this.#hasEnded = true;
      if (this.#read.length === 0) this.push(null);
    });
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
    this.#small = 0;
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

  /** Writes the chunks that the HTTP server has corked together in one write. */
  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#resting);
    this.#socket.destroy();
    done(error);
  }

  #enter(): void {
    if (!this.#isWanted || this.#isInLine || this.#resting !== undefined) return;
    const there = this.#read.length + this.#socket.readableLength;
    // An empty read asks Node to read on from the connection.
    if (there === 0) {
      this.#socket.read(0);
      return;
    }
    this.#isInLine = true;
    const { bytes, cost } = there > piece.bytes && this.#isInAnnouncedBody() ? bodyPiece : piece;
    this.#turns.enter(cost, () => {
      this.#isInLine = false;
      if (this.destroyed || this.writableEnded) return;
      this.#pass(bytes);
      this.#enter();
    });
  }

  /** The head of a chunk counts as a head: a body without an announced length may hold thousands of chunks in few bytes. */
  #isInAnnouncedBody(): boolean {
    return this.#request?.complete === false && this.#request.headers['content-length'] !== undefined;
  }

  /** Passes on a piece of at most this many bytes. */
  #pass(bytes: number): void {
    if (this.#read.length === 0) {
      const read: unknown = this.#socket.read();
      if (!(read instanceof Buffer)) return;
      this.#read = read;
    }
    const next = this.#read.subarray(0, bytes);
    this.#read = this.#read.subarray(next.length);
    const isInBody = this.#request?.complete === false;
    if (isInBody !== this.#isInBody) this.#small = 0;
    this.#isInBody = isInBody;
    if (next.length < piece.bytes && this.#read.length === 0) this.#small += 1;
    this.#isWanted = this.push(next);
    if (isInBody && this.#request?.complete) this.#small = 0;
    if (this.#hasEnded && this.#read.length === 0) this.push(null);
    else if (this.#small > 0 && !this.#hasEnded) this.#rest();
  }

  #rest(): void {
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.#enter();
    }, restMs(this.#small)).unref();
  }
}
