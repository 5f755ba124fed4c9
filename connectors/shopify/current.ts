import { z } from 'zod';
import { listOf, orElse } from '../../core/entries.ts';
import type { CloseloopError } from '../../core/errors.ts';
import { type Current, fieldsOf } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { inPages } from './each.ts';
import { idOf, orderGid } from './ids.ts';
import type { ShopifySettings } from './settings.ts';

const Nodes = z.object({
  nodes: listOf(orElse(z.looseObject({ id: z.string(), tags: listOf(z.string()), note: z.string().nullish() }), null)),
  definitions: z.object({ nodes: listOf(z.object({ type: z.object({ name: z.string() }) })) }).nullish(),
});
const Metafield = z.object({ value: z.string(), type: z.string(), compareDigest: z.string() });

/** The present values of an order, or the error of reading them. */
type CurrentResult = Current | CloseloopError;

/** Reads closeloop's values on orders, by their ids, as many per call as the points afford. Leaves out orders that the app can't see. */
export function currentReader(
  writeBack: ShopifySettings['writeBack'],
  api: ShopifyApi,
  { note }: { note: boolean },
): (ids: readonly string[]) => Promise<Map<string, CurrentResult>> {
  const keys = fieldsOf(writeBack).map(({ key }) => key);
  const metafields = keys.map(
    (key, index) =>
      `m${index}: metafield(namespace: "${writeBack.namespace}", key: "${key}") { value type compareDigest }`,
  );
  const { grade } = writeBack;
  const definitions =
    grade === undefined
      ? ''
      : ` definitions: metafieldDefinitions(first: 1, ownerType: ORDER, namespace: "${writeBack.namespace}", key: "${grade}") { nodes { type { name } } }`;
  const fields = ['id tags', ...(note ? ['note'] : []), ...metafields].join(' ');
  const document = `query AnswersOnOrders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { ${fields} } }${definitions} }`;
  const operation = {
    name: 'AnswersOnOrders',
    data: Nodes,
    price: { base: grade === undefined ? 0 : 5, each: 1 + keys.length },
  };

  return async (ids) => {
    const current = new Map<string, CurrentResult>();
    const requestOf = (page: readonly string[]) => ({ document, variables: { ids: page.map(orderGid) } });
    for await (const page of inPages(api, operation, ids, requestOf)) {
      if ('error' in page) {
        for (const id of page.items) current.set(id, page.error);
        break;
      }
      const defined = page.data.definitions?.nodes[0]?.type.name;
      for (const node of page.data.nodes) {
        if (node === null) continue;
        const held = keys.flatMap((key, index) => {
          const { data } = Metafield.safeParse(node[`m${index}`]);
          return data === undefined ? [] : [[key, data] as const];
        });
        current.set(idOf(node.id), {
          values: new Map(held.map(([key, { value }]) => [key, value])),
          digests: new Map(held.map(([key, { compareDigest }]) => [key, compareDigest])),
          gradeType: defined ?? held.find(([key]) => key === grade)?.[1].type,
          tags: node.tags,
          note: node.note ?? '',
        });
      }
      for (const [index, id] of page.items.entries()) {
        const error = page.failures.get(`nodes.${index}`);
        if (error !== undefined) current.set(id, error);
      }
    }
    return current;
  };
}
