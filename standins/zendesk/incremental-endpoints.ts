import { ok, type StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import { badRequest, forbidden } from './problem.ts';
import { sideloads, viewWithMetrics } from './sideloads.ts';

/** Exports of what changed since a time, page by page. */
export const incrementalRoutes: Route<Context>[] = [route('GET', '/api/v2/incremental/tickets/cursor', incremental)];

/** Sorted by last change; the last minute is never served. Admins only, 10 a minute. (Both can be set.) */
function incremental(context: Context): StandinResponse {
  const { req, store, now, base, user } = context;
  const { exportsPerMinute, exportLagMs } = store.settings;
  if (user.role !== 'admin') throw forbidden();
  context.limit([
    {
      key: 'incremental',
      limit: exportsPerMinute,
      windowMs: 60_000,
      name: 'incremental-exports-cursor',
      what: 'incremental export requests',
    },
  ]);
  const cursor = req.query.get('cursor');
  const start = req.query.get('start_time');
  if (cursor === null && (start === null || !/^\d+$/.test(start))) throw badRequest('start_time is required');
  if (cursor === null && Number(start) * 1000 > now - 60_000) {
    throw new Problem({
      status: 400,
      body: {
        error: 'StartTimeTooRecent',
        description: 'Too recent start_time. Use a start_time older than 60 seconds',
      },
    });
  }
  const [sinceMs = 0, lastId = 0] = cursor === null ? [Number(start) * 1000, 0] : decodeCursor(cursor);
  const perPage = Math.min(1000, Math.max(1, Number(req.query.get('per_page') ?? '1000') || 1000));
  const withoutDeleted = req.query.get('exclude_deleted') === 'true';
  const due = [...store.tickets.values()]
    .filter((ticket) => ticket.generatedAt <= now - exportLagMs && (ticket.gone === 'no' || !withoutDeleted))
    .filter((ticket) => ticket.generatedAt > sinceMs || (ticket.generatedAt === sinceMs && ticket.id > lastId))
    .sort((a, b) => a.generatedAt - b.generatedAt || a.id - b.id);
  const tickets = due.slice(0, perPage);
  const last = tickets.at(-1);
  const after =
    last === undefined ? (cursor ?? encodeCursor(sinceMs, lastId)) : encodeCursor(last.generatedAt, last.id);
  const list = tickets.map((ticket) => viewWithMetrics(context, ticket));
  return ok({
    tickets: list,
    ...sideloads(context, tickets),
    after_cursor: after,
    after_url: `${base}/api/v2/incremental/tickets/cursor.json?cursor=${after}`,
    before_cursor: null,
    before_url: null,
    end_of_stream: due.length <= perPage,
  });
}

function encodeCursor(ms: number, id: number): string {
  return Buffer.from(`${ms}|${id}`).toString('base64url');
}

function decodeCursor(cursor: string): number[] {
  const parts = Buffer.from(cursor, 'base64url').toString('utf8').split('|').map(Number);
  if (parts.length !== 2 || parts.some(Number.isNaN)) throw badRequest('cursor is not valid');
  return parts;
}
