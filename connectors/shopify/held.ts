import { z } from 'zod';
import { fieldsOf, type Held } from './answer.ts';
import type { ShopifyApi } from './client.ts';
import { idOf, orderGid } from './ids.ts';
import { mostPoints } from './order.ts';
import type { ShopifySettings } from './settings.ts';

const Nodes = z.object({
  nodes: z.array(
    z
      .looseObject({ id: z.string(), tags: z.array(z.string()), note: z.string().nullish() })
      .nullable()
      .catch(null),
  ),
});
const Metafield = z.object({ value: z.string() });

/** Reads what orders hold of ours, by their ids; those that can't be seen are left out. As many share a call as it may cost. */
export function heldReader(
  writeBack: ShopifySettings['writeBack'],
  api: ShopifyApi,
  { note }: { note: boolean },
): (ids: readonly string[]) => Promise<Map<string, Held>> {
  const keys = fieldsOf(writeBack).map(({ key }) => key);
  const metafields = keys.map(
    (key, index) => `m${index}: metafield(namespace: "${writeBack.namespace}", key: "${key}") { value }`,
  );
  const fields = ['id tags', ...(note ? ['note'] : []), ...metafields].join(' ');
  const readSize = Math.min(100, Math.floor(mostPoints / (1 + keys.length)));
  const document = `query AnswersOnOrders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } } }`;

  return async (ids) => {
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
  };
}
