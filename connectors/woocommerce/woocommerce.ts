import { z } from 'zod';
import { type AnswerPart, escapeHtml, noteText } from '../../core/connector/answer.ts';
import { VendorError } from '../../core/connector/classify.ts';
import { type ConnectorPorts, defineConnector } from '../../core/connector/contract.ts';
import { noteAction } from '../../core/connector/desk/act.ts';
import { desk } from '../../core/connector/desk/desk.ts';
import { pollWindow } from '../../core/connector/desk/poll.ts';
import { isFailure } from '../../core/connector/desk/rows.ts';
import { inPlainForm } from '../../core/connector/desk/write.ts';
import type { ChangedRow, DeskNotes, DeskWriting } from '../../core/connector/desk/writing.ts';
import { listOf, orElse, text } from '../../core/entries.ts';
import { type Listed, listOrders, openShop, ordersOf, type Shop } from './api.ts';
import { eventOfUnreadable, events, eventsOf, ping, signature, unreadable } from './events.ts';
import { id, isOrderId, ListedOrder, Order, stateOf, WrittenOrder } from './order.ts';
import { preflight } from './preflight.ts';
import { present } from './record.ts';
import { SetMeta, settings, type WooCommerceSettings } from './settings.ts';
import { webhookWatch } from './webhooks.ts';

/** The part as text, because WordPress stores numbers as text, too. */
function written(part: AnswerPart, settings: WooCommerceSettings['writeBack']): string | null {
  if (part.value instanceof Date) return part.value.toISOString();
  const value = inPlainForm(part, settings);
  return value === null ? null : String(value);
}

/** The value of a key. A key should have exactly one entry: several entries are returned as a list, which never equals a text. */
function at({ meta_data }: WrittenOrder, key: string): unknown {
  const [first, ...others] = meta_data.filter((entry) => entry.key === key).map(({ value }) => value);
  return others.length === 0 ? first : [first, ...others];
}

/** If a key has several entries, WooCommerce reads the first. */
const instantOf = (current: unknown): number => Date.parse(String([current].flat()[0]));

const RowError = z.object({
  code: z
    .string()
    .regex(/^[a-z0-9_-]{1,80}$/)
    .catch('an error'),
  data: orElse(z.object({ status: z.number() }).nullish(), null),
});

/** The response of a batch. Its status is 200 even if rows fail. PHP's empty object is `[]`. */
const BatchAnswer = z.union([
  z.object({ update: listOf(z.union([z.object({ id: z.unknown(), error: RowError }), WrittenOrder])) }),
  z.tuple([]).transform(() => ({ update: [] })),
]);

/**
 * Writes in one call. Only meta data are sent, as anything else would make WooCommerce calculate the order again. Entries are sent without
 * their ids, as a wrong id would overwrite the entry of another plugin. Values that an order has already are left out, as every save triggers
 * all webhooks.
 */
const putMany = (shop: Shop) => async (changed: readonly ChangedRow<WrittenOrder, string>[]) => {
  const update = changed.map(({ id, change }) => {
    return { id: Number(id), meta_data: [...change.values].map(([key, value]) => ({ key, value })) };
  });
  const { data } = await shop.call('POST', 'orders/batch', BatchAnswer, { body: { update } });
  // Rows are matched by their order's id. Plugins may add fields to an order, but no rows to the list.
  const rows = new Map(data.update.map((row) => [String(row.id), row]));
  return new Map(
    changed.map(({ id }) => {
      const row = rows.get(id);
      return [id, row === undefined || 'error' in row ? failureOf(id, row?.error) : row];
    }),
  );
};

/** @param error undefined if the shop returned nothing about the order */
function failureOf(id: string, error: z.output<typeof RowError> | undefined): VendorError {
  const { code = '', data } = error ?? {};
  const status = data?.status ?? 0;
  const isGone = /invalid_id$/.test(code);
  const guarded = 'check that the user of the REST key may edit this order, and that no plugin guards it';
  const passing = { advice: { kind: 'transient' }, outcome: 'unknown', remedy: 'a later attempt may succeed' } as const;
  const final = { advice: { kind: 'permanent' }, outcome: 'refused', remedy: isGone ? 'it is gone' : guarded } as const;
  return new VendorError(`WooCommerce order ${id}`, {
    ...(error === undefined || status >= 500 ? passing : final),
    problem: error === undefined ? 'the shop said nothing of it' : code,
    ...{ status: isGone ? 404 : status, code },
  });
}

const Note = z.object({ note: text });
const ListedNote = Note.extend({ id });

const notes = (shop: Shop): DeskNotes<WrittenOrder> => ({
  /** Lists the notes in one call, as the list isn't paged. */
  async list({ id }) {
    const query = { type: 'internal' };
    const { data } = await shop.call('GET', `orders/${id}/notes`, listOf(ListedNote), { query });
    return data.map(({ id, note: text }) => ({ id, text }));
  },
  /**
   * Adds a private note, never as `customer_note`, which WooCommerce mails to the customer. The text is escaped, because WordPress would
   * remove tags and misplace their content.
   */
  add({ id }, about) {
    const body = { note: escapeHtml(noteText(about)), customer_note: false };
    return shop.call('POST', `orders/${id}/notes`, Note, { body });
  },
  remove: ({ id }, noteId) =>
    shop.call('DELETE', `orders/${id}/notes/${noteId}`, z.unknown(), { query: { force: 'true' } }),
});

/** Forgetting a hundred answers takes three calls; with notes one more for each order and for each note. */
function writing({ writeBack }: WooCommerceSettings, shop: Shop): DeskWriting<WrittenOrder, string> {
  const listed = (ids: readonly string[]) => ordersOf(shop, WrittenOrder, ids);
  return {
    settings: writeBack,
    rows: { isId: isOrderId, many: listed },
    forgetRows: {
      isId: isOrderId,
      async many(ids) {
        const found = await listed(ids);
        const others = ids.filter((id) => !found.has(id));
        return new Map([...found, ...(await ordersOf(shop, WrittenOrder, others, { status: 'trash' }))]);
      },
    },
    written: (part) => written(part, writeBack),
    at,
    instantOf,
    putMany: putMany(shop),
    notes: notes(shop),
    notKept: () => 'look for a plugin that changes or guards it',
  };
}

/** An instant in UTC without a zone, for `dates_are_gmt`. */
const seconds = (at: Date): string => at.toISOString().slice(0, 19);

/** The poll makes sure that no closing is lost, as WooCommerce delivers each webhook only once, and late. */
function poller(settings: WooCommerceSettings, shop: Shop, ports: ConnectorPorts) {
  return pollWindow<Listed<z.output<typeof ListedOrder>>>(
    {
      // A slow transaction may make an order visible long after its time of change.
      overlapMs: 15 * 60_000,
      page(from, page) {
        const query = {
          // `modified_after` is exclusive, and in whole seconds.
          modified_after: seconds(new Date(from.getTime() - 1_000)),
          dates_are_gmt: 'true',
          ...{ orderby: 'modified', order: 'asc', page: String(page) },
        };
        return listOrders(shop, ListedOrder, query, 'background');
      },
      changedAt: ({ order }) => (isFailure(order) ? undefined : (order.date_modified_gmt ?? undefined)),
      events({ order, raw }, { since, at }) {
        const of = { ...settings, at };
        if (!isFailure(order)) return eventsOf(order, { ...of, via: 'poll', what: 'poll', news: since }).events;
        ports.log.warn({ why: order.message }, 'the poll met an order of another shape than documented');
        return eventOfUnreadable(raw, of);
      },
      atEnd: webhookWatch(settings, shop, ports),
    },
    ports,
  );
}

/**
 * WooCommerce: completed orders.
 *
 * The shop's webhooks report orders; a REST key with read and write rights reads orders, and writes answers into their meta data. The shop
 * delivers each webhook once and late, and switches off a webhook after failures. So closeloop refuses a delivery only for a bad signature,
 * and always polls as well.
 */
export const woocommerce = defineConnector({
  name: 'woocommerce',
  settings,
  account: ({ site }) => site.replace(/^https?:\/\//, ''),
  actions: { note: noteAction, set: SetMeta },
  ownDomains: ({ site }) => [new URL(site).hostname.replace(/^www\./, '')],
  parts: {
    channels: ['order.createdVia'],
    openedAt: ['order.createdAt'],
    customer: ['customer.email', 'customer.phone', 'shipping.phone'],
  },
  open(settings, ports) {
    const shop = openShop(settings, ports);
    return desk({
      vendor: 'WooCommerce',
      record: 'order',
      intake: {
        secrets: settings.webhookSecrets,
        proof: signature,
        unreadable,
        events: (body, delivery) => events(body, delivery, settings),
      },
      read: {
        isId: isOrderId,
        // The list has no orders in the trash, so they count as not found.
        many: (ids) => ordersOf(shop, Order, ids),
        present: async () => (order) => {
          const shape = present(order, settings.languageMeta);
          const { id: personId, language: locale } = shape.customer;
          const { country, state: region } = shape.customer.country === '' ? shape.shipping : shape.customer;
          return { state: stateOf(order, settings), shape, personId, country, region, locale };
        },
      },
      poll: poller(settings, shop, ports),
      write: writing(settings, shop),
      preflight: preflight(settings, shop, ports),
      own: {
        taken: { status: 200 },
        alsoTakes: ['form'],
        handshake: ping,
        recordUrl: (id) => `${settings.site}/wp-admin/post.php?post=${encodeURIComponent(id)}&action=edit`,
      },
    });
  },
});
