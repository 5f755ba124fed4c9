import { type DeskAction, deskActor, doing, noteAction } from '../../core/connector/desk/act.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { ShopifyApi } from './api.ts';
import { type Mutation, mutate } from './mutations.ts';
import { idOf, isOrderId } from './order.ts';
import { type ShopifySettings, TagAction } from './settings.ts';
import { installedApp } from './webhooks.ts';
import { addTags, type CurrentOrder, currentReader, setNote, withLine } from './write.ts';

export const actions = { tag: TagAction, note: noteAction };

/** The actions of answer rules at Shopify. */
export function actor({ shop, writeBack }: ShopifySettings, api: ShopifyApi) {
  async function change({ id }: CurrentOrder, mutations: readonly Mutation[]): Promise<void> {
    const why = await mutate(api, 'ActOnOrder', mutations);
    if (why === undefined) return;
    const remedy = 'an order takes 250 tags; look for an app or a flow that guards it';
    throw new CloseloopError(`Shopify ${shop}: order ${idOf(id)}: ${why}; ${remedy}`, { kind: 'permanent' });
  }

  const tag: DeskAction<CurrentOrder> = doing<CurrentOrder, typeof TagAction>(
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
      if ((await installedApp(api)).scopes.includes('write_customers')) return undefined;
      const remedy = 'Add it to the app in the Dev Dashboard and install the app again, or tag the order alone';
      return { problem: 'the app lacks write_customers', remedy };
    },
  );

  const note = doing<CurrentOrder, typeof noteAction>(noteAction, async (order, text, { marker }) => {
    const now = order.note ?? '';
    const wanted = withLine(now, { text, marker });
    const full = `the note of order ${idOf(order.id)} is full: shorten it in Shopify`;
    if (wanted === undefined) throw new CloseloopError(full, { kind: 'permanent' });
    if (wanted !== now) await change(order, [setNote(order.id, wanted)]);
    return 'a line is added to the note';
  });

  const rows = { isId: isOrderId, many: currentReader(writeBack, api, 'customer { id }') };
  return deskActor({ vendor: 'Shopify', record: 'order' }, rows, {}, { tag, note });
}
