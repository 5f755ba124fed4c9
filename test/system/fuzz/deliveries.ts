import type { Chance } from '../chaos/random.ts';
import type { Sent } from './http.ts';
import { type FuzzSource, sources } from './sources.ts';
import { body, spoiled, text, words } from './values.ts';

/* What comes over sockets, by class, with the statuses that are right for it. */

export interface Delivery extends Sent {
  /** 0: closed without an answer. */
  right: readonly number[];
  /** Sent on a connection of its own: nothing that may follow could be told apart. */
  alone?: true;
  /** Nobody but a vendor could have sent it: any other status than 2xx is no wonder, a 2xx for others is a forgery. */
  genuine?: true;
}

export interface Socketed {
  share: number;
  make: (chance: Chance, url: string) => Delivery;
}

const [first, ...others] = sources;
if (!first) throw new Error('there are no sources');
const any = [first, ...others] as const;

function delivery(path: string, headers: Record<string, string>, content: Uint8Array, method = 'POST'): Sent {
  const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': String(content.length) });
  const clean = (one: string): string => one.replaceAll(/[^\t\u0020-\u007e\u00a0-\u00ff]/g, '?');
  return {
    head: `${method} ${path} HTTP/1.1\r\n${lines.map(([name, one]) => `${name}: ${clean(one)}\r\n`).join('')}\r\n`,
    body: content,
  };
}

const json = { 'content-type': 'application/json' };
const bodyOf = (source: FuzzSource, chance: Chance): Buffer =>
  chance.happens(0.7) ? Buffer.from(JSON.stringify(source.event(chance))) : body(chance);

const signed: Socketed['make'] = (chance, url) => {
  const source = chance.of(any);
  const path = `/hooks/${source.name}`;
  const content = bodyOf(source, chance);
  const headers = { ...json, ...source.sign(content, `${url}${path}`, new Date()) };
  return { ...delivery(path, headers, content), right: [200, 202, 400, 413], genuine: true };
};

const unsigned: Socketed['make'] = (chance, url) => {
  const source = chance.of(any);
  const path = `/hooks/${source.name}`;
  const content = bodyOf(source, chance);
  const headers = source.sign(content, `${url}${path}`, new Date());
  const [name = ''] = source.signed.filter((one) => one.includes('signature') || one.includes('hmac'));
  const way = chance.int(0, 4);
  // What is signed is not what is sent.
  if (way === 0)
    return { ...delivery(path, { ...json, ...headers }, Buffer.concat([content, Buffer.from(' ')])), right: [401] };
  if (way === 1) return { ...delivery(path, json, content), right: [401] };
  const other =
    way === 2
      ? source.sign(content, `${url}${path}`, new Date(), `another ${chance.int(0, 1e9)}`)
      : { ...headers, [name]: way === 3 ? text(chance) : (headers[name] ?? '').slice(0, -3) };
  return { ...delivery(path, { ...json, ...other }, content), right: [401] };
};

const stale: Socketed['make'] = (chance, url) => {
  const source = chance.of([first, ...others.filter(({ name }) => ['hubspot', 'standard'].includes(name))]);
  const path = `/hooks/${source.name}`;
  const content = bodyOf(source, chance);
  const at = new Date(Date.now() + chance.of([-1, 1]) * chance.int(400_000, 4e9));
  return { ...delivery(path, { ...json, ...source.sign(content, `${url}${path}`, at) }, content), right: [401] };
};

const paths = words('/ /hooks /hooks/ /hooks/nobody /hooks/__proto__ /hooks/constructor /metric /.. /hooks/a/b');

const elsewhere: Socketed['make'] = (chance) => {
  if (chance.happens(0.2)) {
    const path = `/hooks/${chance.of(any).name}`;
    return { ...delivery(path, json, Buffer.alloc(0), chance.of(['GET', 'PUT', 'DELETE'])), right: [404, 405] };
  }
  const path = chance.happens(0.7) ? chance.of(paths) : `/${encodeURIComponent(text(chance).toWellFormed())}`;
  return { ...delivery(path, json, Buffer.from('{}')), right: [404, 405] };
};

const types = ['text/plain', 'text/html', 'multipart/form-data; boundary=x', 'application/xml', 'x', ''] as const;

const otherTypes: Socketed['make'] = (chance) => {
  const source = chance.of(any);
  const headers = { 'content-type': chance.of(types) };
  return { ...delivery(`/hooks/${source.name}`, headers, body(chance)), right: [401, 415] };
};

const tooLarge: Socketed['make'] = (chance) => {
  const content = Buffer.alloc(1024 * 1024 + chance.int(1, 1024 * 1024), 32);
  // The connection may be closed while we still write. An Intercom source reads bodies of up to 10 MiB, and finds this body unsigned.
  return { ...delivery(`/hooks/${chance.of(any).name}`, json, content), right: [0, 401, 413], alone: true };
};

const heads = [
  'GET / HTTP/1.1\r\n\r\n',
  'POST /hooks/hmac HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
  'POST /hooks/hmac HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /hooks/hmac HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\nfffffffff\r\n',
  'POST /hooks/hmac HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{}',
  'POST /hooks/hmac HTTP/9.9\r\nhost: x\r\n\r\n',
  'POST http://elsewhere.example/hooks/hmac HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `POST /hooks/hmac HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(3_000)}\r\n`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
] as const;

const malformed: Socketed['make'] = (chance) => {
  const head = Buffer.from(chance.of(heads));
  const content = chance.happens(0.5) ? head : spoiled(head, chance);
  const right = [0, 400, 401, 404, 405, 408, 411, 413, 414, 415, 417, 426, 431, 501, 505];
  // The only ones that need no signature.
  const isHealth = content.includes('healthz');
  return { head: '', body: content, right: isHealth ? [...right, 200] : right, alone: true };
};

export const socketed: Readonly<Record<string, Socketed>> = {
  'signed deliveries': { share: 8, make: signed },
  'forged deliveries': { share: 10, make: unsigned },
  'stale deliveries': { share: 1, make: stale },
  'other paths and methods': { share: 2, make: elsewhere },
  'other content types': { share: 1.5, make: otherTypes },
  'too large': { share: 0.02, make: tooLarge },
  'malformed HTTP': { share: 1.48, make: malformed },
};
