import type { IncomingMessage, ServerResponse } from 'node:http';

export interface BodyLimits {
  /** Bytes of one body. */
  bytes: number;
  /** Bytes of all bodies in memory: being received and being processed. */
  allBytes: number;
}

/** The body is refused. The error has a `statusCode`, like the HTTP server's own errors. */
export class BodyRefused extends Error {
  readonly statusCode: 400 | 413 | 503;

  constructor(statusCode: BodyRefused['statusCode'], message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

interface Body {
  held: number;
  refuse: (why: BodyRefused) => void;
}

const firstBytes = 4_096;
/** Every chunk of a body costs time, however small. Limits of small chunks: their number, and the average size below which they count. */
const mostTiny = 128;
const tinyBytes = 16;
/** The most bytes of a refused request's body that are read and dropped, so that the sender sees the answer. */
const mostDiscarded = 1024 * 1024;

/** Whether too many chunks of a body were tiny. Called for each chunk. */
function tinyPieces(): (piece: Uint8Array) => boolean {
  let [pieces, bytes] = [0, 0];
  return ({ length }) => {
    pieces += 1;
    bytes += length;
    return pieces > mostTiny && bytes < pieces * tinyBytes;
  };
}

/** The length of a request's body by its head; NaN where the head does not tell it. */
export function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

/** Whether the body is so short that it usually arrives with its head: such a body is read at once. */
export const isShort = (bytes: number): boolean => bytes <= firstBytes;

/** Reads and drops a body, within limits. @param isTiny the count of its chunks so far */
export function discard(request: IncomingMessage, isTiny = tinyPieces()): void {
  let length = 0;
  const pass = (piece: Buffer): void => {
    length += piece.length;
    if (length <= mostDiscarded && !isTiny(piece)) return;
    // Node still parses the bytes that it has read from the connection. The chunks are dropped, as thousands of small chunks would take
    // megabytes.
    request.off('data', pass).resume();
    request.socket.pause();
    // The answer is written first.
    setImmediate(() => request.socket.destroySoon());
  };
  request.on('data', pass);
}

/**
 * Reads bodies within limits. At the limit of all bodies the body that has been on its way longest is dropped: a delivery is on its way for
 * milliseconds, so that it is never the one.
 */
export class Bodies {
  readonly #limits: BodyLimits;
  /** Oldest first, as a set keeps the order of insertion. */
  readonly #onTheirWay = new Set<Body>();
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes in memory now. */
  get held(): number {
    return this.#held;
  }

  /**
   * The body of a request. It counts until the response has been sent.
   * @param most bytes, where its source has a limit of its own
   * @throws BodyRefused
   */
  async read(request: IncomingMessage, response: ServerResponse, most = this.#limits.bytes): Promise<Buffer> {
    const announced = announcedBytes(request);
    if (announced > most) throw tooLarge();
    const isWhole = request.complete && request.readableLength === announced;
    if (isWhole && isShort(announced) && this.#held + announced <= this.#limits.allBytes)
      return this.#readWhole(request, response);
    if (request.closed) throw wasCut();
    const body: Body = { held: 0, refuse: () => undefined };
    // One growing buffer: small chunks kept as they are would take more memory than their bytes.
    let bytes = Buffer.alloc(0);
    let length = 0;
    const isTiny = tinyPieces();
    let isRefused = false;
    const take = (piece: Buffer): void => {
      if (isRefused) return;
      const needed = length + piece.length;
      if (isTiny(piece)) {
        // Stops reading at once, as Node would parse each further piece of the connection.
        request.socket.pause();
        body.refuse(new BodyRefused(400, 'the body comes in pieces of a few bytes'));
        return;
      }
      if (needed > most) {
        body.refuse(tooLarge());
        return;
      }
      if (needed > bytes.length) {
        const size = Math.max(needed, Math.min(Math.max(bytes.length * 2, firstBytes), announced || most));
        if (!this.#hold(body, size - bytes.length)) return;
        const larger = Buffer.allocUnsafe(size);
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      length += piece.copy(bytes, length);
    };
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const cut = () => reject(wasCut());
    body.refuse = (why) => {
      isRefused = true;
      reject(why);
    };
    try {
      request.on('data', take).once('error', cut).once('close', cut);
      // Every request is closed in the end: a close after the body's end cuts nothing.
      request.once('end', () => resolve(request.off('close', cut)));
      await promise;
    } catch (error) {
      this.#onTheirWay.delete(body);
      this.#free(body);
      discard(request, isTiny);
      request.off('data', take);
      throw error;
    }
    this.#onTheirWay.delete(body);
    if (response.closed) this.#free(body);
    else response.once('close', () => this.#free(body));
    return bytes.subarray(0, length);
  }

  #readWhole(request: IncomingMessage, response: ServerResponse): Buffer {
    const read: unknown = request.read();
    // Copies the body, which is a slice of everything that was read from the connection.
    const bytes = read instanceof Buffer ? Buffer.from(read) : Buffer.alloc(0);
    if (response.closed) return bytes;
    this.#held += bytes.length;
    response.once('close', () => {
      this.#held -= bytes.length;
    });
    return bytes;
  }

  #free(body: Body): void {
    this.#held -= body.held;
    body.held = 0;
  }

  /** Returns false where this body itself was dropped. */
  #hold(body: Body, more: number): boolean {
    body.held += more;
    this.#held += more;
    this.#onTheirWay.add(body);
    while (this.#held > this.#limits.allBytes) {
      const [oldest] = this.#onTheirWay;
      if (oldest === undefined) return false;
      this.#onTheirWay.delete(oldest);
      this.#free(oldest);
      oldest.refuse(new BodyRefused(503, 'too many bodies are on their way'));
      if (oldest === body) return false;
    }
    return true;
  }
}

function wasCut(): BodyRefused {
  return new BodyRefused(400, 'the connection was closed before the end of the body');
}

function tooLarge(): BodyRefused {
  return new BodyRefused(413, 'the body is too large');
}
