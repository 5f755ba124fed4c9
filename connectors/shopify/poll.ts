import { z } from 'zod';
import type { ConnectorPorts, RecordEvent, Source } from '../../core/connector/contract.ts';
import { closingOf } from '../../core/connector/desk/poll.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { listOf, orElse } from '../../core/entries.ts';
import type { ShopifyApi } from './api.ts';
import { stateOf } from './closing.ts';
import { hasMoreParts, idOf, OrderState, stateFields, statePoints } from './order.ts';
import type { ShopifySettings } from './settings.ts';
import { listSubscriptions, subscribe, topicsFor } from './webhooks.ts';

/** The overlap of two sweeps: the index lags, and Shopify's clock may differ. */
const overlapMs = 15 * 60_000;
/** The most orders of a page; the points may afford fewer. */
const pageSize = 250;
/** How late carriers may report. An order that closed earlier than this before its change is an old order that was edited. */
const lateMs = 7 * 86_400_000;

/** When closeloop last checked the webhooks, and their address if a webhook existed there. */
const Watched = z.object({ at: z.iso.datetime(), uri: z.string().max(500).optional() });
type Watched = z.output<typeof Watched>;

/** The begin of the next page. A sweep covers orders that changed since `since` and closed since `floor`; `after` is the place within the sweep. */
const Cursor = z.object({
  ...{ since: z.iso.datetime(), floor: z.iso.datetime(), after: z.string().max(1_000).optional() },
  watched: Watched.optional(),
});

const Changed = z.object({ id: z.string(), updatedAt: z.coerce.date() });
const Ids = z.object({ orders: z.object({ nodes: listOf(Changed) }) });
const Page = z.object({
  orders: z.object({
    // An order of another shape must not fail the whole page.
    nodes: listOf(orElse(OrderState, null)),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  }),
});
const pageOf = (name: string, fields: string) => `query ${name}($query: String!, $after: String, $first: Int!) {
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) { ${fields} }
}`;

type Ports = Pick<ConnectorPorts, 'now' | 'log' | 'hookUrl'>;

/**
 * Reads changed orders, oldest change first. Once a day it checks the webhooks before it reads orders: orders whose deliveries were lost while
 * a webhook was missing have changed since the last sweep, so this sweep finds them after the webhook is restored.
 */
export function poller(settings: ShopifySettings, api: ShopifyApi, ports: Ports): NonNullable<Source['poll']> {
  const watch = watcher(settings, api, ports);
  const operation = { name: 'ChangedOrders', data: Page, price: { base: 2, each: statePoints } };
  const states = `nodes { ${stateFields(settings.trigger)} } pageInfo { hasNextPage endCursor }`;
  const document = pageOf(operation.name, states);

  /** The ids on a page with orders that can't be returned: planning reads these orders one by one. */
  async function idsOf(variables: { query: string; after: string | undefined; first: number }) {
    const name = 'ChangedOrderIds';
    const price = { base: 2 + variables.first, each: 0 };
    const ids = { name, document: pageOf(name, 'nodes { id updatedAt }'), data: Ids, price };
    return (await api.call(ids, variables, 'background')).orders.nodes;
  }

  return async (from) => {
    const start = 'since' in from && { since: from.since.toISOString(), floor: from.since.toISOString() };
    const { since, floor, after, watched } = Cursor.parse('cursor' in from ? jsonBody(from.cursor) : start);
    const seen = 'cursor' in from ? await watch(watched) : undefined;
    const now = ports.now();
    const query = `updated_at:>='${since}'`;
    const requestOf = (first: number) => ({ document, variables: { query, after, first } });
    const page = await api.callSized(operation, { most: pageSize }, requestOf, 'background');
    const { pageInfo, nodes: all } = page.data.orders;
    const nodes = all.filter((node) => node !== null);
    const done = !pageInfo.hasNextPage || pageInfo.endCursor == null;
    const next = done
      ? { since: later(since, now.getTime() - overlapMs), floor: later(floor, Date.parse(since) - lateMs) }
      : { since, floor, after: pageInfo.endCursor };
    const unread = page.failures.size === 0 ? [] : await idsOf({ query, after, first: page.entries });
    const events = [
      ...nodes.flatMap((order) => eventsOf(order, settings, now)),
      ...unread
        .filter(({ id }) => !nodes.some((one) => one.id === id))
        .map((one) => hint(one, `changed|${one.updatedAt.toISOString()}`, 'changed by a poll; it could not be shown')),
    ];
    return {
      events: events.filter(({ kind, at }) => kind === 'changed' || at >= new Date(floor)),
      cursor: JSON.stringify({ ...next, ...(seen && { watched: seen }) }),
      done,
      reached: done ? now : (nodes.at(-1)?.updatedAt ?? now),
    };
  };
}

const later = (text: string, ms: number): string => new Date(Math.max(Date.parse(text), ms)).toISOString();

/** The event of a changed order; planning reads whether the order is closed. */
const hint = ({ id, updatedAt: at }: z.output<typeof Changed>, key: string, found: string): RecordEvent => {
  return { kind: 'closed', recordId: idOf(id), at, key: `${idOf(id)}|${key}`, what: `found ${found}` };
};

/** The event for an order's present state, with the same key at every poll. */
function eventsOf(order: OrderState, settings: ShopifySettings, now: Date): RecordEvent[] {
  const { updatedAt: at, test } = order;
  if (hasMoreParts(order))
    return [hint(order, `changed|${at.toISOString()}`, 'changed by a poll; it has many parcels')];
  const recordId = idOf(order.id);
  const state = stateOf(order, settings, now);
  if (state.is === 'out')
    return test ? [] : [{ kind: 'changed', recordId, at, key: `${recordId}|${state.why}`, what: state.why }];
  const until = state.is === 'open' && state.readAgainAt?.toISOString();
  return until
    ? [hint(order, `until|${until}`, `handed over by a poll, at the latest closed ${until}`)]
    : closingOf(recordId, state);
}

/**
 * Shopify silently removes a webhook whose deliveries failed for four hours. The watcher checks the webhooks every `watchEvery`, and creates
 * missing webhooks again. `setup` creates webhooks that never existed; without `http.publicUrl` the watcher creates none.
 */
function watcher(settings: ShopifySettings, api: ShopifyApi, { now, log, hookUrl }: Ports) {
  const { shop, webhooks, watchEvery } = settings;
  const topics = topicsFor(settings);

  return async (last: Watched | undefined): Promise<Watched | undefined> => {
    const at = now();
    if (!webhooks || (last !== undefined && at.getTime() - Date.parse(last.at) < watchEvery)) return last;
    const found = (await listSubscriptions(api, 'background')).filter(({ topic }) => topics.includes(topic));
    const here = found.filter(({ uri }) => hookUrl === undefined || uri === hookUrl).map(({ topic }) => topic);
    const missing = topics.filter((topic) => !here.includes(topic));
    // After a rename of the source its webhooks may still deliver to the earlier address. Then `setup` creates new webhooks, and a person deletes the
    // old ones.
    const stand = last?.uri !== hookUrl && found.some(({ uri }) => uri === last?.uri);
    const uri = here.length > 0 || (last?.uri !== undefined && !stand) ? hookUrl : undefined;
    if (missing.length > 0 && uri === undefined) {
      const where = hookUrl === undefined ? '; with http.publicUrl set, removed ones are made again' : ` to ${hookUrl}`;
      const until = 'run "closeloop setup"; until then only the poll finds its orders';
      log.warn({ shop, missing }, `The shop lacks webhooks of ours${where}: ${until}`);
    } else if (missing.length > 0 && uri !== undefined) {
      for (const topic of missing) await subscribe(api, topic, uri, 'background');
      const again = 'they were made again, and the poll finds what was missed';
      log.warn({ shop, missing }, `Shopify had removed webhooks of ours; ${again}`);
    }
    return { at: at.toISOString(), ...(uri !== undefined && { uri }) };
  };
}
