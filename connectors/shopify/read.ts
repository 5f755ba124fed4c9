import { z } from 'zod';
import type { ConnectorPorts, PresentedRecord, ReadResult, Source } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './client.ts';
import { stateOf } from './closing.ts';
import { idOf, isOrderId, orderGid } from './ids.ts';
import { mostPoints, Order, OrderState, orderFields, orderPoints, stateFields, statePoints } from './order.ts';
import { present } from './record.ts';
import type { ShopifySettings } from './settings.ts';

const Nodes = z.object({ nodes: z.array(z.unknown()) });
const Node = z.looseObject({ id: z.string() });
const Metafield = z.object({ value: z.string() });

/** One way to read orders: what is asked of each, how many a call takes, and what becomes of the answer. */
interface Plan {
  document: string;
  size: number;
  record(node: z.output<typeof Node>): PresentedRecord;
}

/**
 * Reads orders by their ids, as many a call as may cost together less than Shopify's 1,000 points. Asking needs the state alone,
 * which is cheap. An order that the app may not see (older than 60 days, without `read_all_orders`) is not found.
 */
export function reader(
  settings: ShopifySettings,
  api: ShopifyApi,
  { now }: Pick<ConnectorPorts, 'now'>,
): Source['read'] {
  const plans: Record<'plan' | 'ask', Plan> = { plan: wholeOrders(settings, now), ask: statesOnly(settings, now) };

  return async (recordIds, purpose) => {
    const { document, size, record } = plans[purpose];
    const ids = [...new Set(recordIds)].filter(isOrderId);
    const results = new Map<string, ReadResult>();
    for (let start = 0; start < ids.length; start += size) {
      const page = ids.slice(start, start + size);
      const { nodes } = await api.call(document, { ids: page.map(orderGid) }, Nodes);
      for (const node of nodes) {
        const known = Node.safeParse(node); // null: there is no such order
        if (known.success) results.set(idOf(known.data.id), attempt(settings.shop, known.data, record));
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
    document: `query Orders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } }`,
    size: Math.floor(mostPoints / (statePoints + orderPoints + wanted.length)),
    record: (node) => {
      const values = wanted.flatMap(({ name, alias }) => {
        const value = Metafield.safeParse(node[alias]).data?.value;
        return value === undefined ? [] : [[name, value] as const];
      });
      return present(Order.parse(node), Object.fromEntries(values), settings, now());
    },
  };
}

function statesOnly(settings: ShopifySettings, now: () => Date): Plan {
  return {
    document: `query OrderStates($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${stateFields(settings.trigger)} } } }`,
    size: Math.floor(mostPoints / statePoints),
    record: (node) => {
      const order = OrderState.parse(node);
      const id = idOf(order.id);
      return { id, currentId: id, state: stateOf(order, settings, now()), shape: {} };
    },
  };
}

/** One odd order must not cost the others of its call their turn. */
function attempt(shop: string, node: z.output<typeof Node>, record: Plan['record']): ReadResult {
  try {
    return { ok: true, record: record(node) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const where = error.issues[0]?.path.join('.') || 'its top';
    const message = `Shopify ${shop}: order ${idOf(node.id)} has another shape than documented, at ${where}`;
    return { ok: false, why: 'error', error: new CloseloopError(message, { kind: 'permanent' }, { cause: error }) };
  }
}
