import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressGroup } from './address-group.ts';
import { Waiting } from './waiting.ts';

export interface BodyLimits {
  /** Of one body. */
  bytes: number;
  /** Of all bodies that are held at once: those on their way and those that are being worked on. */
  allBytes: number;
  /** Of the bodies on their way from one address. */
  addressBytes: number;
}

/** The body can't be taken: `statusCode` says why, as the HTTP server's own errors do. */
export class BodyRefused extends Error {
  readonly statusCode: 400 | 413 | 503;

  constructor(statusCode: BodyRefused['statusCode'], message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

interface Body {
  address: string;
  held: number;
  refuse: (why: BodyRefused) => void;
}

const firstBytes = 4_096;
/** Each piece of a body has its price, however small. So many may be tiny: less than so many bytes each, on average. */
const mostTiny = 1_000;
const tinyBytes = 16;
/** Of a body that nobody reads, as its request was refused before: so that the sender sees the answer. */
const mostDiscarded = 1024 * 1024;

/** Have too many of the pieces of a body been tiny? To be asked with each. */
function tinyPieces(): (piece: Uint8Array) => boolean {
  let [pieces, bytes] = [0, 0];
  return ({ length }) => {
    pieces += 1;
    bytes += length;
    return pieces > mostTiny && bytes < pieces * tinyBytes;
  };
}

/** Lets a body that nobody reads pass, within limits. */
export function discard(request: IncomingMessage): void {
  const isTiny = tinyPieces();
  let length = 0;
  const pass = (piece: Buffer): void => {
    length += piece.length;
    if (length <= mostDiscarded && !isTiny(piece)) return;
    request.off('data', pass).pause();
    // The answer is being written, and goes out before.
    setImmediate(() => request.socket.destroySoon());
  };
  request.on('data', pass);
}

/** Reads bodies within limits. When they are reached, bodies that are slow give way: `Waiting` says which. */
export class Bodies {
  readonly #limits: BodyLimits;
  readonly #onTheirWay = new Waiting<Body>();
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /**
   * The body of a request. It counts until the response has been sent.
   * @param most bytes, where its source has a limit of its own
   * @throws BodyRefused
   */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    from: string,
    most = this.#limits.bytes,
  ): Promise<Buffer> {
    const announced = Number(request.headers['content-length'] ?? Number.NaN);
    if (announced > most) throw tooLarge();
    const body: Body = { address: addressGroup(from), held: 0, refuse: () => undefined };
    // One buffer that grows: kept by themselves, small pieces would cost more than their bytes.
    let bytes = Buffer.alloc(0);
    let length = 0;
    const isTiny = tinyPieces();
    const take = (piece: Buffer): void => {
      const needed = length + piece.length;
      if (isTiny(piece)) {
        // At once: what is being read comes in one go.
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
        const larger = Buffer.allocUnsafeSlow(size);
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      length += piece.copy(bytes, length);
    };
    try {
      await new Promise<void>((resolve, reject) => {
        const cut = () => reject(new BodyRefused(400, 'the connection was closed before the end of the body'));
        body.refuse = (why) => {
          request.off('data', take);
          reject(why);
        };
        request.on('data', take).once('end', resolve).once('error', cut).once('close', cut);
      });
    } catch (error) {
      this.#onTheirWay.remove(body);
      this.#free(body);
      discard(request.off('data', take));
      throw error;
    }
    this.#onTheirWay.remove(body);
    if (response.closed) this.#free(body);
    else response.once('close', () => this.#free(body));
    return bytes.subarray(0, length);
  }

  #free(body: Body): void {
    this.#held -= body.held;
    body.held = 0;
  }

  /** False: the body itself had to give way. */
  #hold(body: Body, more: number): boolean {
    const { allBytes, addressBytes } = this.#limits;
    body.held += more;
    this.#held += more;
    this.#onTheirWay.add(body, body.address, more);
    const giveWay = (slow: Body | undefined): boolean => {
      if (slow === undefined) return false;
      this.#onTheirWay.remove(slow);
      this.#free(slow);
      slow.refuse(new BodyRefused(503, 'too many bodies are on their way'));
      return slow !== body;
    };
    let isHeld = true;
    while (isHeld && this.#onTheirWay.sizeOf(body.address) > addressBytes)
      isHeld = giveWay(this.#onTheirWay.longest(body.address));
    while (isHeld && this.#held > allBytes) isHeld = giveWay(this.#onTheirWay.longest());
    return isHeld;
  }
}

function tooLarge(): BodyRefused {
  return new BodyRefused(413, 'the body is too large');
}
