import { z } from 'zod';
import type { Source } from '../../core/connector/contract.ts';
import { type DeskAction, deskActor, doing, noteAction } from '../../core/connector/desk/act.ts';
import { listOf, orElse } from '../../core/entries.ts';
import { CloseloopError } from '../../core/errors.ts';
import { withLine } from './answer.ts';
import type { ShopifyApi } from './api.ts';
import { idOf, isOrderId, orderGid } from './ids.ts';
import { takeInventory } from './inventory.ts';
import { addTags, type Mutation, sender, setNote } from './mutations.ts';
import { type ShopifySettings, TagAction } from './settings.ts';

export const actions = { tag: TagAction, note: noteAction };

const Order = z.object({
  id: z.string(),
  note: z.string().nullish(),
  customer: orElse(z.object({ id: z.string().regex(/^gid:\/\/shopify\/Customer\/\d+$/) }), null).nullish(),
});
type Order = z.output<typeof Order>;

const read = {
  name: 'ActedOrders',
  document: 'query ActedOrders($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { id note customer { id } } } }',
  data: z.object({ nodes: listOf(orElse(Order, null)) }),
  price: { base: 0, each: 2 },
};

/** What answers lead to at Shopify. */
export function actor(settings: ShopifySettings, api: ShopifyApi): Required<Pick<Source, 'act' | 'checkActions'>> {
  const send = sender('ActOnOrder', api);
  async function change({ id }: Order, mutations: Mutation[]): Promise<void> {
    const why = (await send(new Map([[id, mutations]]))).get(id);
    if (why === undefined) return;
    const remedy = 'an order takes 250 tags; look for an app or a flow that guards it';
    const told = `Shopify ${settings.shop}: order ${idOf(id)}: ${why}; ${remedy}`;
    throw typeof why === 'string' ? new CloseloopError(told, { kind: 'permanent' }) : why;
  }

  const tag: DeskAction<Order> = doing<Order, typeof TagAction>(
    TagAction,
    async (order, wanted) => {
      const { order: onOrder = [], customer: onCustomer = [] } = Array.isArray(wanted) ? { order: wanted } : wanted;
      const of = order.customer?.id;
      const mutations = [
        ...(onOrder.length > 0 ? [addTags(order.id, onOrder)] : []),
        ...(of && onCustomer.length > 0 ? [addTags(of, onCustomer)] : []),
      ];
      if (mutations.length > 0) await change(order, mutations);
      const lacks = onCustomer.length > 0 && !of ? '; the order has no customer to tag' : '';
      return `tagged ${[...onOrder, ...(of ? onCustomer : [])].join(', ')}${lacks}`;
    },
    async (wanted) => {
      if (Array.isArray(wanted) || wanted.customer === undefined) return undefined;
      if ((await takeInventory(settings, api)).scopes.includes('write_customers')) return undefined;
      const remedy = 'Add it to the app in the Dev Dashboard and install the app again, or tag the order alone';
      return { problem: 'the app lacks write_customers', remedy };
    },
  );

  const note: DeskAction<Order> = doing<Order, typeof noteAction>(noteAction, async (order, text, { marker }) => {
    const now = order.note ?? '';
    const wanted = withLine(now, { text, marker });
    const full = `the note of order ${idOf(order.id)} is full: shorten it in Shopify`;
    if (wanted === undefined) throw new CloseloopError(full, { kind: 'permanent' });
    if (wanted !== now) await change(order, [setNote(order.id, wanted)]);
    return 'a line is added to the note';
  });

  const rows = {
    isId: isOrderId,
    async many(ids: readonly string[]) {
      const { nodes } = await api.call(read, { ids: ids.map(orderGid) });
      return new Map(nodes.flatMap((order) => (order === null ? [] : [[idOf(order.id), order] as const])));
    },
  };
  return deskActor({ vendor: 'Shopify', record: 'order' }, rows, {}, { tag, note });
}
