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

/** The length of a request's body by its head; NaN where the head does not tell it. */
export function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

/**
 * Reads bodies whole, within limits of bytes. The server's `requestTimeout` ends a request that takes too long; the proxy in front
 * keeps slow senders away.
 */
export class Bodies {
  readonly #limits: BodyLimits;
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
    if (announcedBytes(request) > most) throw tooLarge();
    let held = 0;
    const free = (): void => {
      this.#held -= held;
      held = 0;
    };
    const hold = ({ length }: Buffer): void => {
      held += length;
      this.#held += length;
      if (held > most) throw tooLarge();
      if (this.#held > this.#limits.allBytes) throw new BodyRefused(503, 'too many bodies are on their way');
    };
    try {
      const body = await bytesOf(request, hold);
      if (response.closed) free();
      else response.once('close', free);
      return body;
    } catch (error) {
      free();
      // The rest of the body is read and dropped, so that the sender sees the answer.
      request.resume();
      throw error instanceof BodyRefused ? error : wasCut();
    }
  }
}

/** @param onPiece called with each piece as it arrives; what it throws ends the reading */
async function bytesOf(request: IncomingMessage, onPiece: (piece: Buffer) => void): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const take = (piece: unknown): void => {
    if (!(piece instanceof Buffer)) return;
    onPiece(piece);
    pieces.push(piece);
  };
  // A short body has usually arrived with its head.
  if (request.complete) take(request.read());
  else for await (const piece of request.iterator({ destroyOnReturn: false })) take(piece);
  // Copied in any case: a single piece is a slice of everything that was read from the connection.
  return Buffer.concat(pieces);
}

function wasCut(): BodyRefused {
  return new BodyRefused(400, 'the connection was closed before the end of the body');
}

function tooLarge(): BodyRefused {
  return new BodyRefused(413, 'the body is too large');
}
