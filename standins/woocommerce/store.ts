import type { z } from 'zod';
import { ControlError, held } from '../kit/control.ts';
import type * as define from './definitions.ts';
import { type ApiKey, coreStatuses, type Order, type Webhook } from './definitions.ts';

/** Reserved for setters of the order itself: writing one as meta data would change the order. */
const internalKeys = /^_(?:billing|shipping|order|customer|payment|transaction|date|cart|recorded|new_order)/;

export class Store {
  readonly orders = new Map<number, Order>();
  readonly webhooks = new Map<number, Webhook>();
  readonly keys = new Map<string, ApiKey>();
  readonly statuses = new Set<string>(coreStatuses);
  #nextId = 1_042;

  nextId(): number {
    this.#nextId += 1;
    return this.#nextId;
  }

  addOrder(definition: z.output<typeof define.orderDefinition>, now: number): Order {
    const { id = this.nextId(), items, meta, status, ageMs, number, ...rest } = definition;
    if (this.orders.has(id)) throw new ControlError(`there is an order ${id} already`);
    const createdAt = now - ageMs;
    const order: Order = {
      ...rest,
      id,
      number: number ?? String(id),
      status: 'pending',
      items: items.map(({ productId, ...item }) => ({
        ...item,
        id: this.nextId(),
        product_id: productId,
        variation_id: 0,
      })),
      meta: Object.entries(meta).map(([key, value]) => ({ id: this.nextId(), key, value })),
      refunds: [],
      createdAt,
      modifiedAt: createdAt,
      paidAt: null,
      completedAt: null,
      trashedFrom: undefined,
      notes: [],
      mails: 0,
      recalculations: 0,
    };
    this.orders.set(id, order);
    this.enter(order, status, createdAt);
    return order;
  }

  order(id: number): Order {
    return held(this.orders, id, 'order');
  }

  webhook(id: number): Webhook {
    return held(this.webhooks, id, 'webhook');
  }

  /** Every save changes the time of the last change; only the move to `completed` dates the completion, each one anew. */
  enter(order: Order, status: string, now: number): void {
    if (!this.statuses.has(status)) throw new ControlError(`the shop has no status "${status}"`);
    if (order.status !== status && status === 'completed') order.completedAt = now;
    if (order.paidAt === null && (status === 'processing' || status === 'completed')) order.paidAt = now;
    order.status = status;
    this.touch(order, now);
  }

  touch(order: Order, now: number): void {
    order.modifiedAt = Math.max(order.modifiedAt, now);
  }

  /**
   * Without `id`: the first row of that key is changed, its other rows go, null takes all of them away. With the `id` of a
   * row: that row gets this key and value, whatever it was. An unknown id counts as none.
   */
  writeMeta(order: Order, entries: readonly { id?: number | undefined; key: string; value: unknown }[]): void {
    for (const { id, key, value } of entries) {
      const row = order.meta.find((meta) => meta.id === id);
      if (row !== undefined) {
        if (value === null) order.meta = order.meta.filter((meta) => meta !== row);
        else Object.assign(row, { key, value });
        continue;
      }
      const [first] = order.meta.filter((meta) => meta.key === key);
      order.meta = order.meta.filter((meta) => meta.key !== key || (meta === first && value !== null));
      if (value === null) continue;
      if (first === undefined) order.meta.push({ id: this.nextId(), key, value });
      else first.value = value;
      if (internalKeys.test(key)) order.recalculations += 1;
    }
  }

  addWebhook(given: Pick<Webhook, 'name' | 'topic' | 'deliveryUrl' | 'secret'>, now: number): Webhook {
    const id = this.nextId();
    const webhook: Webhook = { id, status: 'active', failures: 0, createdAt: now, modifiedAt: now, ...given };
    this.webhooks.set(id, webhook);
    return webhook;
  }
}
