import { z } from 'zod';
import type { ConnectorPorts, PollPage, RecordEvent, Source } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { ShopifyApi } from './api.ts';
import { stateOf } from './closing.ts';
import { hasMoreParts, idOf, OrderState, stateFields, statePoints } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { listSubscriptions, subscribe, topicsFor } from './webhooks.ts';

/** The index lags, and Shopify's clock may differ. */
const overlapMs = 15 * 60_000;
/** At most; the points may afford fewer. */
const pageSize = 250;

/** Carriers report late. An order that closed longer before its change is an old order that was edited. */
const lateMs = 7 * 86_400_000;

/** When the webhooks were last checked, and their address, once a webhook was seen there. */
const Watched = z.object({ at: z.iso.datetime(), uri: z.string().max(500).optional() });
type Watched = z.output<typeof Watched>;

/** The begin of the next page: `after` within a sweep of orders changed since `since` and closed since `floor`. */
const Cursor = z.object({
  since: z.iso.datetime(),
  floor: z.iso.datetime(),
  after: z.string().max(1_000).optional(),
  watched: Watched.optional(),
});

const Ids = z.object({
  orders: z.object({ nodes: listOf(z.object({ id: z.string(), updatedAt: z.coerce.date() })) }),
});
const idsDocument = `query ChangedOrderIds($query: String!, $after: String, $first: Int!) {
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) { nodes { id updatedAt } }
}`;

const Page = z.object({
  orders: z.object({
    // An order of another shape must not fail the page.
    nodes: listOf(orElse(OrderState, null)),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  }),
});

/**
 * Reads changed orders, oldest change first; and once a day the webhooks, before the orders: closings that were lost while a webhook was
 * missing have changed since the last sweep, and are found after it is restored.
 */
export function poller(
  settings: ShopifySettings,
  api: ShopifyApi,
  ports: Pick<ConnectorPorts, 'now' | 'log' | 'hookUrl'>,
): NonNullable<Source['poll']> {
  const watch = watcher(settings, api, ports);
  const operation = { name: 'ChangedOrders', data: Page, price: { base: 2, each: statePoints } };
  const document = `query ChangedOrders($query: String!, $after: String, $first: Int!) {
    orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
      nodes { ${stateFields(settings.trigger)} }
      pageInfo { hasNextPage endCursor }
    }
  }`;

  /** The ids on a page with orders that can't be shown: planning reads those one by one. */
  async function idsOf(query: string, after: string | undefined, first: number) {
    const price = { base: 2 + first, each: 0 };
    const { orders } = await api.call(
      { name: 'ChangedOrderIds', document: idsDocument, data: Ids, price },
      { query, after, first },
      'background',
    );
    return orders.nodes;
  }

  return async (from): Promise<PollPage> => {
    const { since, floor, after, watched } =
      'cursor' in from ? Cursor.parse(jsonBody(from.cursor)) : startAt(from.since);
    const seen = 'cursor' in from ? await watch(watched) : undefined;
    const now = ports.now();
    const query = `updated_at:>='${since}'`;
    const requestOf = (first: number) => ({ document, variables: { query, after, first } });
    const { data, entries, failures } = await api.callSized(operation, { most: pageSize }, requestOf, 'background');
    const { orders } = data;
    const { pageInfo } = orders;
    const nodes = orders.nodes.filter((node) => node !== null);
    const done = !pageInfo.hasNextPage || pageInfo.endCursor == null;
    const next = done
      ? { since: later(since, now.getTime() - overlapMs), floor: later(floor, Date.parse(since) - lateMs) }
      : { since, floor, after: pageInfo.endCursor };
    const unread = failures.size === 0 ? [] : await idsOf(query, after, entries);
    const events = [
      ...nodes.flatMap((order) => eventOf(order, settings, now) ?? []),
      ...unread
        .filter(({ id }) => !nodes.some((one) => one.id === id))
        .map((one) => hint(one, 'it could not be shown')),
    ];
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

/** The order changed; planning reads whether it is closed. */
function hint({ id, updatedAt: at }: Pick<OrderState, 'id' | 'updatedAt'>, why: string): RecordEvent {
  const recordId = idOf(id);
  return {
    kind: 'closed',
    recordId,
    at,
    key: `${recordId}|changed|${at.toISOString()}`,
    what: `found changed by a poll; ${why}`,
  };
}

/** The event for an order's present state, with the same key at every poll. */
function eventOf(order: OrderState, settings: ShopifySettings, now: Date): RecordEvent | undefined {
  const recordId = idOf(order.id);
  if (hasMoreParts(order)) return hint(order, 'it has many parcels');
  const state = stateOf(order, settings, now);
  switch (state.is) {
    case 'closed': {
      const { closing, closedAt: at } = state;
      return { kind: 'closed', recordId, closing, at, key: `${recordId}|${closing}`, what: 'found closed by a poll' };
    }
    case 'open': {
      const until = state.readAgainAt?.toISOString();
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

/**
 * Shopify silently removes a webhook whose deliveries failed for four hours. The watcher checks the webhooks every `watchEvery` and
 * recreates missing ones. Webhooks that never existed are created by `setup`; without `http.publicUrl` all are.
 */
function watcher(
  settings: ShopifySettings,
  api: ShopifyApi,
  { now, log, hookUrl }: Pick<ConnectorPorts, 'now' | 'log' | 'hookUrl'>,
): (last: Watched | undefined) => Promise<Watched | undefined> {
  const { shop, webhooks, watchEvery } = settings;
  const topics = topicsFor(settings);

  return async (last) => {
    const at = now();
    if (!webhooks || (last !== undefined && at.getTime() - Date.parse(last.at) < watchEvery)) return last;
    const found = (await listSubscriptions(api, 'background')).filter(({ topic }) => topics.includes(topic));
    const here = found.filter(({ uri }) => hookUrl === undefined || uri === hookUrl).map(({ topic }) => topic);
    const missing = topics.filter((topic) => !here.includes(topic));
    // After a rename of the source its webhooks may still deliver to the earlier address. Then `setup` makes new ones, and a person deletes these.
    const stand = last?.uri !== hookUrl && found.some(({ uri }) => uri === last?.uri);
    const uri = here.length > 0 || (last?.uri !== undefined && !stand) ? hookUrl : undefined;
    if (missing.length > 0 && uri === undefined) {
      const where = hookUrl === undefined ? '; with http.publicUrl set, removed ones are made again' : ` to ${hookUrl}`;
      log.warn(
        { shop, missing },
        `The shop lacks webhooks of ours${where}: run "closeloop setup"; until then only the poll finds its orders`,
      );
    } else if (missing.length > 0 && uri !== undefined) {
      for (const topic of missing) await subscribe(api, topic, uri, 'background');
      log.warn(
        { shop, missing },
        'Shopify had removed webhooks of ours; they were made again, and the poll finds what was missed',
      );
    }
    return { at: at.toISOString(), ...(uri !== undefined && { uri }) };
  };
}
