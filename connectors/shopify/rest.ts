import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import type { Operation, ShopifyApi } from './api.ts';
import { allParts, moreItems, moreItemsFields, partsFields, shown, type Trigger } from './order.ts';

/** An order as in the response. Its own schema reports what is malformed. */
export type Node = z.output<typeof Node>;
export const Node = z.looseObject({ id: z.string() });

const Lists = z.object({
  fulfillments: z.array(z.unknown()).default([]),
  transactions: z.array(z.unknown()).default([]),
});
const Items = z.object({
  lineItems: z.object({
    nodes: z.array(z.unknown()),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  }),
});
const One = z.object({ node: Node.nullable() });

/** Did fewer parcels or payments come than were requested? Else there may be more. */
export function hasMoreParts(node: object): boolean {
  const lists = Lists.safeParse(node).data;
  return lists !== undefined && Math.max(lists.fulfillments.length, lists.transactions.length) >= shown.parts;
}

/**
 * Completes orders with more parcels, payments or items than one read returns: a parcel that is not returned may be under way, so the
 * state needs all of them.
 */
export function completer(shop: string, trigger: Trigger, api: ShopifyApi): (node: Node) => Promise<Node> {
  const parts: Operation<typeof One> & { document: string } = {
    name: 'AllParts',
    document: `query AllParts($id: ID!) { node(id: $id) { ... on Order { ${partsFields(trigger)} } } }`,
    data: One,
    price: { base: 1 + allParts, each: 0 },
  };
  const items: Operation<typeof One> & { document: string } = {
    name: 'MoreItems',
    document: `query MoreItems($id: ID!, $after: String) { node(id: $id) { ... on Order { ${moreItemsFields} } } }`,
    data: One,
    price: { base: 3 + moreItems, each: 0 },
  };

  async function withAllParts(node: Node): Promise<Node> {
    if (!hasMoreParts(node)) return node;
    const { node: whole } = await api.call(parts, { id: node.id });
    const { fulfillments, transactions } = Lists.parse(whole ?? node);
    if (Math.max(fulfillments.length, transactions.length) >= allParts) {
      const message = `Shopify ${shop}: an order has ${allParts} parcels or payments or more, and whether all arrived can't be read: see to it by hand`;
      throw new CloseloopError(message, { kind: 'permanent' });
    }
    return { ...node, ...(whole ?? {}) };
  }

  async function withAllItems(node: Node): Promise<Node> {
    let page = Items.safeParse(node).data?.lineItems;
    if (!page?.pageInfo.hasNextPage) return node;
    const nodes = [...page.nodes];
    while (page?.pageInfo.hasNextPage && page.pageInfo.endCursor != null) {
      const more: z.output<typeof One> = await api.call(items, { id: node.id, after: page.pageInfo.endCursor });
      page = Items.safeParse(more.node).data?.lineItems;
      nodes.push(...(page?.nodes ?? []));
    }
    return { ...node, lineItems: { nodes } };
  }

  return async (node) => await withAllItems(await withAllParts(node));
}
