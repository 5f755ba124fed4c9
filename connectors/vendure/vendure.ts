import { z } from 'zod';
import { defineConnector, type Events } from '../../core/connector/contract.ts';
import { noEvent, oneEvent } from '../../core/connector/delivery.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { closingOf, pollWindow } from '../../core/connector/desk/poll.ts';
import { putTogether } from '../../core/connector/desk/together.ts';
import { inPlainForm } from '../../core/connector/desk/write.ts';
import type { HmacScheme } from '../../core/connector/signature.ts';
import { preflightOf } from './preflight.ts';
import { isClosing, type Order, placedAt, presented, stateOf, type VendureShape } from './record.ts';
import { settings, stateAt, type VendureSettings } from './settings.ts';
import { fits, isRefusal, openShop, type Shop } from './shop.ts';

const proof: HmacScheme = {
  ...{ header: 'x-vendure-signature', algorithm: 'sha256', encoding: 'hex' },
  timestamp: { header: 'x-vendure-timestamp', as: 'seconds', toleranceMs: 300_000 },
  signed: ({ raw }, timestamp) => [`${timestamp}.`, raw],
};
const isId = (id: string): boolean => /^[\w-]{1,64}$/.test(id);
const state = z.string().regex(/^\w{1,64}$/);
const Moved = z.object({ orderId: z.string().refine(isId), from: state, to: state, at: z.coerce.date() });

function eventsIn(body: unknown, closedStates: readonly string[]): Events {
  const { data } = Moved.safeParse(body);
  if (data === undefined) return { ok: false, why: "no delivery of closeloop's plugin" };
  const { orderId: recordId, from, to, at } = data;
  const event = { recordId, at, key: `${recordId}|${to}|${at.toISOString()}`, what: `state ${to}, was ${from}` };
  if (isClosing(data, closedStates)) return oneEvent({ kind: 'closed', certain: true, ...event });
  const isReopening = isClosing({ from: to, to: from }, closedStates);
  return isReopening ? oneEvent({ kind: 'changed', ...event }) : noEvent(event.what, 'closes nothing');
}

/** By the time of the last change; without the plugin by the latest time at which an order closes. */
function windowOf({ closedStates: states, plugin, deliveredWithin }: VendureSettings, list: Shop['list']) {
  const isNoted = plugin !== 'none';
  const [by, backMs] = isNoted ? [stateAt, 0] : ['orderPlacedAt', deliveredWithin];
  const which = `filter: { state: { in: $states }, ${by}: { after: $after } }, sort: { ${by}: ASC, id: ASC }, skip: $skip`;
  return {
    async page(from: Date, page: number) {
      // `after` is strict, and some databases compare fractions of a second as text.
      const variables = { states, after: new Date(from.getTime() - backMs - 1_000), skip: (page - 1) * 100 };
      const rows = await list('$states: [String!], $after: DateTime!, $skip: Int', which, variables, 'background');
      return { rows, isFull: rows.length === 100 };
    },
    changedAt: (order: Order) => new Date(isNoted ? String(order.fields[stateAt]) : Number(placedAt(order)) + backMs),
    events: (order: Order) => closingOf(order.id, stateOf(order, states)),
    // Orders close while a long list is read.
    overlapMs: isNoted ? 120_000 : 3_600_000,
  };
}

/**
 * Vendure: orders that have arrived. It delivers nothing, and its `updatedAt` stays when an order's state changes. A plugin in the shop's
 * code (examples/vendure-plugin) delivers, and notes the time of a change in a custom field, in the same transaction: by that a poll
 * finds in a call what was missed. Without the plugin a poll lists the closed orders of weeks.
 */
export const vendure = defineConnector({
  name: 'vendure',
  settings,
  account: ({ address }) => address,
  parts: { openedAt: ['order.placedAt'], customer: ['customer.email', 'customer.phone', 'shipping.phone'] },
  open(settings, ports) {
    const { closedStates, webhookSecrets: secrets, writeBack, dashboard } = settings;
    const shop = openShop(settings, ports);
    const { list, put, notes } = shop;
    const { preflight, setup } = preflightOf(settings, shop);
    return desk<Order, VendureShape, string | number>({
      ...{ vendor: 'Vendure', record: 'order', preflight, poll: pollWindow(windowOf(settings, list), ports) },
      ...(secrets && { intake: { secrets, proof, events: (body) => eventsIn(body, closedStates) } }),
      read: {
        isId,
        async many(ids) {
          const found = await list('$ids: [String!]', 'filter: { id: { in: $ids } }', { ids });
          return new Map(found.map((order) => [order.id, order]));
        },
        present: async () => (order) => presented(order, settings),
      },
      write: {
        ...{ settings: writeBack, at: ({ fields }, place) => fields[place], notes },
        written: (part, own) => (part.value instanceof Date ? part.value.toISOString() : inPlainForm(part, own)),
        putMany: putTogether({ vendor: 'Vendure', put, fits, isRefusal }),
      },
      own: { setup, ...(dashboard && { recordUrl: (id) => `${dashboard}/orders/${encodeURIComponent(id)}` }) },
    });
  },
});
