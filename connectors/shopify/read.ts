import { z } from 'zod';
import type { ConnectorPorts, PresentedRecord, ReadResult, Source } from '../../core/connector/contract.ts';
import { listOf } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { firstMismatch } from '../../core/mismatches.ts';
import type { Operation, ShopifyApi } from './api.ts';
import { inPages } from './each.ts';
import { idOf, isOrderId, orderGid } from './ids.ts';
import { Order, orderFields, orderPoints, stateFields, statePoints } from './order.ts';
import { present } from './record.ts';
import { completer, Node } from './rest.ts';
import type { ShopifySettings } from './settings.ts';

const Nodes = z.object({ nodes: listOf(z.unknown(), 1_000) });
const Metafield = z.object({ value: z.string() });

/** One way to read orders: the query, and the record made of each result. */
interface Plan extends Operation<typeof Nodes> {
  document: string;
  record(node: Node): PresentedRecord;
}

/**
 * Reads orders by their ids, as many per call as the points afford. When a call fails, the orders of earlier calls keep their results. An order that the app may not see (older than 60 days, without
 * `read_all_orders`) is not found.
 */
export function reader(
  settings: ShopifySettings,
  api: ShopifyApi,
  { now }: Pick<ConnectorPorts, 'now'>,
): Source['read'] {
  const plan = wholeOrders(settings, now);
  const complete = completer(settings.shop, settings.trigger, api);

  return async (recordIds) => {
    const ids = [...new Set(recordIds)].filter(isOrderId);
    const results = new Map<string, ReadResult>();
    const requestOf = (page: readonly string[]) => ({
      document: plan.document,
      variables: { ids: page.map(orderGid) },
    });
    for await (const page of inPages(api, plan, ids, requestOf)) {
      if ('error' in page) {
        for (const id of page.items) results.set(id, { ok: false, why: 'error', error: page.error });
        break;
      }
      for (const [index, id] of page.items.entries()) {
        const error = page.failures.get(`nodes.${index}`);
        if (error !== undefined) results.set(id, { ok: false, why: 'error', error });
      }
      for (const node of page.data.nodes) {
        const known = Node.safeParse(node); // null: there is no such order
        if (!known.success || results.has(idOf(known.data.id))) continue;
        results.set(idOf(known.data.id), await attempt(settings.shop, known.data, complete, plan.record));
      }
    }
    return recordIds.map((id) => results.get(id) ?? { ok: false, why: 'not-found' });
  };
}

function wholeOrders(settings: ShopifySettings, now: () => Date): Plan {
  const wanted = settings.metafields.map((name, index) => {
    const dot = name.lastIndexOf('.');
    const call = `metafield(namespace: "${name.slice(0, dot)}", key: "${name.slice(dot + 1)}") { value }`;
    return { name, alias: `m${index}`, field: `m${index}: ${call}` };
  });
  const fields = [stateFields(settings.trigger), orderFields, ...wanted.map(({ field }) => field)].join('\n');
  return {
    name: 'Orders',
    document: `query Orders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } }`,
    data: Nodes,
    price: { base: 0, each: statePoints + orderPoints + wanted.length },
    record: (node) => {
      const values = wanted.flatMap(({ name, alias }) => {
        const value = Metafield.safeParse(node[alias]).data?.value;
        return value === undefined ? [] : [[name, value] as const];
      });
      return present(Order.parse(node), Object.fromEntries(values), settings, now());
    },
  };
}

/** An order of another shape must not fail the other orders of its call. */
async function attempt(
  shop: string,
  node: Node,
  complete: (node: Node) => Promise<Node>,
  record: Plan['record'],
): Promise<ReadResult> {
  try {
    return { ok: true, record: record(await complete(node)) };
  } catch (error) {
    if (error instanceof CloseloopError) return { ok: false, why: 'error', error };
    if (!(error instanceof z.ZodError)) throw error;
    const where = firstMismatch(error);
    const message = `Shopify ${shop}: order ${idOf(node.id)} has another shape than documented, at ${where}`;
    return { ok: false, why: 'error', error: new CloseloopError(message, { kind: 'permanent' }, { cause: error }) };
  }
}
