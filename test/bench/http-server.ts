import { STATUS_CODES } from 'node:http';
import { createServer, type Server } from 'node:net';

// HTTP/1.1 for the fakes, over plain sockets: node:http takes twice the CPU for it, of the cores that what is measured has. All texts
// are bytes, one character each. Knows no more than the clients of the benchmarks send: no trailers, no `Expect`, no upgrades.

export interface Request {
  method: string;
  path: string;
  /** '' where there is none. */
  body: string;
}

export interface Response {
  status: number;
  /** JSON. */
  body: string;
}

/**
 * Connections are kept until the client closes them.
 * @param latencyMs every answer waits so long; real time
 */
export function createHttpServer(answer: (request: Request) => Response, latencyMs: () => number): Server {
  return createServer({ noDelay: true }, (socket) => {
    const reader = new RequestReader();
    const respond = (request: Request): void => {
      const text = textOf(answer(request));
      if (latencyMs() > 0) setTimeout(() => socket.write(text, 'latin1'), latencyMs());
      else socket.write(text, 'latin1');
    };
    socket.on('data', (piece: Buffer) => {
      reader.add(piece.toString('latin1'));
      for (let request = reader.next(); request !== undefined; request = reader.next()) respond(request);
    });
    // A client that ends in the middle of a call takes the answer with it.
    socket.on('error', () => socket.destroy());
  });
}

interface Head {
  method: string;
  path: string;
  /** Of the body; undefined where it comes in chunks. */
  length: number | undefined;
}

/** Takes requests out of a connection's bytes, however these are divided into pieces. */
export class RequestReader {
  #unread = '';
  /** Of the request whose body has not come whole, and of that body the chunks that have. */
  #head: Head | undefined;
  #chunks = '';

  add(piece: string): void {
    this.#unread += piece;
  }

  /** Undefined while some of it is missing. */
  next(): Request | undefined {
    this.#head ??= this.#takeHead();
    if (this.#head === undefined) return undefined;
    const { method, path, length } = this.#head;
    const body = length === undefined ? this.#takeChunks() : this.#take(length);
    if (body === undefined) return undefined;
    this.#head = undefined;
    return { method, path, body };
  }

  #take(length: number): string | undefined {
    if (this.#unread.length < length) return undefined;
    const taken = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return taken;
  }

  #takeHead(): Head | undefined {
    const end = this.#unread.indexOf('\r\n\r\n');
    const head = end < 0 ? undefined : this.#take(end + 4);
    if (head === undefined) return undefined;
    const method = head.slice(0, head.indexOf(' '));
    const path = head.slice(method.length + 1, head.indexOf(' ', method.length + 1));
    if (method === 'GET') return { method, path, length: 0 };
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    return { method, path, length: length === undefined && isChunked(head) ? undefined : Number(length ?? 0) };
  }

  #takeChunks(): string | undefined {
    for (;;) {
      const line = this.#unread.indexOf('\r\n') + 2;
      const size = Number.parseInt(this.#unread, 16);
      if (line < 2 || this.#unread.length < line + size + 2) return undefined;
      this.#chunks += this.#unread.slice(line, line + size);
      this.#unread = this.#unread.slice(line + size + 2);
      if (size > 0) continue;
      const body = this.#chunks;
      this.#chunks = '';
      return body;
    }
  }
}

const isChunked = (head: string): boolean => /\r\ntransfer-encoding: *chunked\r\n/i.test(head);

/** Heads of answers up to the length of the body, by status. Made once a second, as they tell the time. */
const heads = new Map<number, string>();
setInterval(() => heads.clear(), 1_000).unref();

function textOf({ status, body }: Response): string {
  let head = heads.get(status);
  if (head === undefined) {
    head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nDate: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=120\r\nContent-Length: `;
    heads.set(status, head);
  }
  return `${head}${body.length}\r\n\r\n${body}`;
}
