import { z } from 'zod';
import type { ConnectorPorts, PollPage, RecordEvent, Source } from '../../core/connector.ts';
import { jsonBody } from '../../core/json-body.ts';
import type { ShopifyApi } from './client.ts';
import { stateOf } from './closing.ts';
import { idOf } from './ids.ts';
import { mostPoints, OrderState, stateFields, statePoints } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { Watched, watcher } from './watch.ts';

/** Orders are found by an index that lags behind, and by Shopify's clock. */
const overlapMs = 15 * 60_000;
const pageSize = Math.floor(mostPoints / statePoints);

/** Carriers tell late. What closed longer before it changed is an old order that somebody touched. */
const lateMs = 7 * 86_400_000;

/** Where the next page begins: `after` within a sweep of what changed since `since`, among what closed since `floor`. */
const Cursor = z.object({
  since: z.iso.datetime(),
  floor: z.iso.datetime(),
  after: z.string().max(1_000).optional(),
  watched: Watched.optional(),
});

const Page = z.object({
  orders: z.object({
    // An odd one must not keep the others from being found.
    nodes: z.array(OrderState.nullable().catch(null)),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  }),
});

/**
 * Orders that changed, oldest change first, judged like those that are read; and once a day the webhooks. Those first: what was lost
 * while one was missing has changed since the last sweep, and is found after it is back.
 */
export function poller(
  settings: ShopifySettings,
  api: ShopifyApi,
  ports: Pick<ConnectorPorts, 'now' | 'log' | 'hookUrl'>,
): NonNullable<Source['poll']> {
  const watch = watcher(settings, api, ports);
  const document = `query ChangedOrders($query: String!, $after: String) {
    orders(first: ${pageSize}, after: $after, query: $query, sortKey: UPDATED_AT) {
      nodes { ${stateFields(settings.trigger)} }
      pageInfo { hasNextPage endCursor }
    }
  }`;

  return async (from): Promise<PollPage> => {
    const { since, floor, after, watched } =
      'cursor' in from ? Cursor.parse(jsonBody(from.cursor)) : startAt(from.since);
    const seen = 'cursor' in from ? await watch(watched) : undefined;
    const now = ports.now();
    const { orders } = await api.call(document, { query: `updated_at:>='${since}'`, after }, Page, 'background');
    const { pageInfo } = orders;
    const nodes = orders.nodes.filter((node) => node !== null);
    const done = !pageInfo.hasNextPage || pageInfo.endCursor == null;
    const next = done
      ? { since: later(since, now.getTime() - overlapMs), floor: later(floor, Date.parse(since) - lateMs) }
      : { since, floor, after: pageInfo.endCursor };
    const events = nodes.flatMap((order) => eventOf(order, settings, now) ?? []);
    return {
      events: events.filter(({ kind, at }) => kind === 'changed' || at >= new Date(floor)),
      cursor: JSON.stringify({ ...next, ...(seen && { watched: seen }) }),
      done,
      reached: done ? now : (nodes.at(-1)?.updatedAt ?? now),
    };
  };
}

function startAt(instant: Date): z.output<typeof Cursor> {
  return { since: instant.toISOString(), floor: instant.toISOString() };
}

const later = (text: string, ms: number): string => new Date(Math.max(Date.parse(text), ms)).toISOString();

/** What an order's present state says, with a key that stays the same at every look at it. */
function eventOf(order: OrderState, settings: ShopifySettings, now: Date): RecordEvent | undefined {
  const recordId = idOf(order.id);
  const state = stateOf(order, settings, now);
  switch (state.is) {
    case 'closed': {
      const { closing, closedAt: at } = state;
      return { kind: 'closed', recordId, closing, at, key: `${recordId}|${closing}`, what: 'found closed by a poll' };
    }
    case 'open': {
      const until = state.lookAgainAt?.toISOString();
      if (until === undefined) return undefined;
      const key = `${recordId}|until|${until}`;
      return {
        kind: 'closed',
        recordId,
        at: order.updatedAt,
        key,
        what: `found handed over by a poll, at the latest closed ${until}`,
      };
    }
    case 'out': {
      if (order.test) return undefined;
      return { kind: 'changed', recordId, at: order.updatedAt, key: `${recordId}|${state.why}`, what: state.why };
    }
  }
}
