import { z } from 'zod';
import type { Source, WriteBack, WriteResult } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { changeFor, fieldsOf, findingsOn, type Held, isOutdated } from './answer.ts';
import type { ShopifyApi } from './client.ts';
import { idOf, isOrderId, orderGid } from './ids.ts';
import { callOf, type Mutation, mutationPoints, mutationsFor, Outcome, refusalOf } from './mutations.ts';
import { mostPoints } from './order.ts';
import type { ShopifySettings } from './settings.ts';

const mostMutations = Math.floor(mostPoints / mutationPoints);

const Nodes = z.object({
  nodes: z.array(
    z
      .looseObject({ id: z.string(), tags: z.array(z.string()), note: z.string().nullish() })
      .nullable()
      .catch(null),
  ),
});
const Metafield = z.object({ value: z.string() });

/**
 * Puts answers on orders. Each order has mutations of its own, so that one that Shopify refuses spoils no other; as many share a
 * call as may cost together less than its limit. Orders are read before, so that only what is missing is sent, and after.
 * Everything may be repeated. Of several answers for one order in one go the newest is written.
 */
export function writer({ shop, writeBack }: ShopifySettings, api: ShopifyApi): Source['writeBack'] {
  const keys = fieldsOf(writeBack).map(({ key }) => key);
  const metafields = keys.map(
    (key, index) => `m${index}: metafield(namespace: "${writeBack.namespace}", key: "${key}") { value }`,
  );
  const fields = ['id tags', ...(writeBack.note ? ['note'] : []), ...metafields].join(' ');
  const readSize = Math.min(100, Math.floor(mostPoints / (1 + keys.length)));
  const document = `query AnswersOnOrders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } }`;

  async function heldBy(ids: readonly string[]): Promise<Map<string, Held>> {
    const held = new Map<string, Held>();
    for (let start = 0; start < ids.length; start += readSize) {
      const page = ids.slice(start, start + readSize).map(orderGid);
      const { nodes } = await api.call(document, { ids: page }, Nodes);
      for (const node of nodes) {
        if (node === null) continue;
        const values = keys.flatMap((key, index) => {
          const value = Metafield.safeParse(node[`m${index}`]).data?.value;
          return value === undefined ? [] : [[key, value] as const];
        });
        held.set(idOf(node.id), { values: new Map(values), tags: node.tags, note: node.note ?? '' });
      }
    }
    return held;
  }

  /** Why an order's mutations were refused, by order. */
  async function send(work: ReadonlyMap<string, Mutation[]>): Promise<Map<string, string>> {
    const refused = new Map<string, string>();
    for (const call of callsOf(work)) {
      const { document, variables } = callOf(
        'WriteAnswers',
        call.map(({ mutation }) => mutation),
      );
      const outcomes = await api.call(document, variables, z.record(z.string(), Outcome));
      for (const [index, { id, mutation }] of call.entries()) {
        const why = refusalOf(mutation, outcomes[`o${index}`]);
        if (why !== undefined) refused.set(id, why);
      }
    }
    return refused;
  }

  const isIdle = keys.length === 0 && !writeBack.tags && !writeBack.note;

  return async (items) => {
    if (isIdle) return items.map(() => ({ ok: true, findings: [] }));
    const newest = newestOf(items);
    const before = await heldBy([...newest.keys()].filter(isOrderId));
    const work = new Map<string, Mutation[]>();
    for (const [id, item] of newest) {
      const held = before.get(id);
      const change =
        held === undefined || isOutdated(item, writeBack, held) ? undefined : changeFor(item, writeBack, held);
      if (change !== undefined) work.set(id, mutationsFor(id, change, writeBack));
    }
    const refused = await send(work);
    const after = await heldBy([...work.keys()]);

    const resultOf = (id: string, item: WriteBack): WriteResult => {
      const held = before.get(id);
      const now = work.has(id) ? after.get(id) : held;
      if (held === undefined || now === undefined) return notFound(id);
      if (isOutdated(item, writeBack, held))
        return { ok: true, findings: [], where: 'nowhere: the order holds a newer answer' };
      const why = refused.get(id);
      return why === undefined
        ? { ok: true, findings: findingsOn(item, writeBack, now) }
        : { ok: false, why: 'error', error: refusal(shop, id, why) };
    };
    return items.map((item) => resultOf(item.recordId, newest.get(item.recordId) ?? item));
  };
}

/** By order, the answer given last; of several given at once the last one in the list. */
function newestOf(items: readonly WriteBack[]): Map<string, WriteBack> {
  const newest = new Map<string, WriteBack>();
  for (const item of items) {
    const known = newest.get(item.recordId);
    if (known === undefined || known.answeredAt <= item.answeredAt) newest.set(item.recordId, item);
  }
  return newest;
}

/** What shares a call. The mutations of an order stay together, in their order. */
function callsOf(work: ReadonlyMap<string, Mutation[]>): { id: string; mutation: Mutation }[][] {
  const calls: { id: string; mutation: Mutation }[][] = [];
  for (const [id, mutations] of work) {
    const last = calls.at(-1);
    const own = mutations.map((mutation) => ({ id, mutation }));
    if (last !== undefined && last.length + own.length <= mostMutations) last.push(...own);
    else calls.push(own);
  }
  return calls;
}

function notFound(id: string): WriteResult {
  const message = `Shopify order ${id} can't be seen any more: it was deleted, or is older than 60 days and the app lacks read_all_orders.`;
  return { ok: false, why: 'not-found', message };
}

/** A definition that doesn't let us write concerns every order; everything else this one. */
function refusal(shop: string, id: string, why: string): CloseloopError {
  const forAll = /APP_NOT_AUTHORIZED|INVALID_TYPE/.test(why);
  const remedy = forAll
    ? 'the metafield belongs to somebody else or has another type: run "closeloop check"'
    : 'look at the validations of the metafield (Settings > Metafields > Orders): "closeloop check" names them';
  return new CloseloopError(`Shopify ${shop}: order ${id}: ${why}; ${remedy}`, {
    kind: forAll ? 'config' : 'permanent',
  });
}
