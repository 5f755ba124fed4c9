import { gzipSync } from 'node:zlib';
import type { Chance } from '../chaos/random.ts';
import { body, record, text, value } from './values.ts';

/* What a service or a vendor may answer, or whoever answers in its place. */

const json = { 'content-type': 'application/json' };

/** A fetch that answers anything. `beSilent`: it may also say nothing until it is given up. */
export function answering(chance: Chance, may: { beSilent: boolean }): typeof globalThis.fetch {
  let calls = 0;
  return async (_url, init) => {
    calls += 1;
    // Whoever pages goes on for ever otherwise; a real one would run into its quota.
    if (calls > 2_000)
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
    return await answer(chance, may.beSilent ? (init?.signal ?? undefined) : undefined);
  };
}

const codes = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET', 'CERT_HAS_EXPIRED', 'WHATEVER'] as const;
const failures = [
  301, 308, 400, 401, 402, 403, 404, 405, 408, 409, 415, 422, 423, 429, 430, 477, 500, 502, 503, 599,
] as const;
const waits = ['', '7', '0', '-1', '99999999999', 'Sat, 21 Nov 2026 10:00:00 GMT', 'soon', '7.5'] as const;

async function answer(chance: Chance, signal: AbortSignal | undefined): Promise<Response> {
  const way = chance.int(0, 99);
  if (way < 5)
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: chance.of(codes) }) });
  if (way < 6 && signal && chance.happens(0.2)) return silent(signal);
  if (way < 7 && chance.happens(0.02)) return large(chance);
  const status = way < 60 ? chance.of([200, 200, 200, 201, 202, 204, 207]) : chance.of(failures);
  const headers = {
    ...(chance.happens(0.9)
      ? json
      : { 'content-type': chance.of(['text/html', 'text/plain', 'application/problem+json']) }),
    ...(chance.happens(0.3) && { 'retry-after': chance.of(waits) }),
    ...(chance.happens(0.2) && { 'x-rate-limit': '700', 'x-rate-limit-remaining': chance.of(['0', '1', 'x', '-5']) }),
    ...(chance.happens(0.1) && { location: 'https://elsewhere.example/' }),
  };
  if (status === 204) return new Response(null, { status, headers });
  return new Response(content(chance), { status, headers });
}

function content(chance: Chance): string | Buffer<ArrayBuffer> {
  const way = chance.int(0, 9);
  if (way < 2) return Buffer.from(body(chance));
  if (way === 2) return '<!doctype html><title>Just a moment</title>';
  if (way === 3) return JSON.stringify({ detail: text(chance), errors: [record(chance, 2)], message: text(chance) });
  return JSON.stringify(likely(chance));
}

/** The outer shapes that are documented, with anything in them. */
function likely(chance: Chance): unknown {
  const list = Array.from({ length: chance.int(0, 4) }, () => ({
    id: chance.of<unknown>([7, '7', null]),
    ...record(chance),
  }));
  return chance.of<unknown>([
    list,
    record(chance),
    { count: chance.of<unknown>([0, 3, 1e12, -1, 'x']), next: next(chance), previous: null, results: list },
    { results: list, paging: chance.of<unknown>([null, { next: { after: String(chance.int(0, 5)) } }]) },
    { tickets: list, users: list, meta: { has_more: chance.happens(0.5), after_cursor: text(chance) } },
    {
      job_status: {
        id: 'j',
        status: chance.of(['queued', 'working', 'completed', 'killed', text(chance)]),
        results: list,
      },
    },
    { data: chance.of<unknown>([null, record(chance), { nodes: list }]), errors: chance.of<unknown>([[], list, null]) },
    { access_token: chance.of(['t', '']), expires_in: chance.of<unknown>([0, 7_200, 'x']), refresh_token: null },
    { id: 7, campaign: 1, status: text(chance), grade: value(chance, 1), custom_fields: record(chance, 2) },
  ]);
}

function next(chance: Chance): unknown {
  const page = `http://127.0.0.1:9/api/appeals/?page=${chance.int(0, 1e6)}`;
  return chance.of<unknown>([null, page, page, 'http://elsewhere.example/', '::', 7]);
}

/** Begins, and says nothing more until it is given up. */
function silent(signal: AbortSignal): Response {
  const stream = new ReadableStream({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return new Response(stream, { headers: json });
}

const spaces = gzipSync(Buffer.alloc(8 * 1024 * 1024, 32));

/** More than anybody needs: without end, or much of nothing. */
function large(chance: Chance): Response {
  if (chance.happens(0.3)) {
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(1024 * 1024, 91)) });
    return new Response(stream, { headers: json });
  }
  return new Response(chance.happens(0.5) ? `[${'{},'.repeat(400_000)}{}]` : Buffer.from(spaces), { headers: json });
}
