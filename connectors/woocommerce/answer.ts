import { z } from 'zod';
import { type AnswerPart, isOutdated, isSameText, placed, surveyText } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { id, Meta, metaOf } from './order.ts';
import type { WooCommerceSettings } from './settings.ts';

/** The meta data of an order with an answer, by key; null: no entry of that key. */
export type Wanted = ReadonlyMap<string, string | null>;

/** The fields of an order that writing needs. */
export const WrittenOrder = z.object({
  id,
  meta_data: Meta,
});
export type WrittenOrder = z.output<typeof WrittenOrder>;

type WriteBackSettings = WooCommerceSettings['writeBack'];

export function wantedOf(item: WriteBack, settings: WriteBackSettings): Wanted {
  return new Map(placed(item, settings, textOf).map(({ place, value }) => [place, value]));
}

/** As text: WordPress stores numbers as text, too. */
function textOf({ part, value }: AnswerPart): string | null {
  if (value === null || (part === 'comment' && value === '')) return null;
  return value instanceof Date ? value.toISOString() : surveyText(value);
}

/**
 * The entries to send. Entries that the order has already are left out, as every save of an order triggers all webhooks of the
 * shop. Entries are sent without ids: a wrong id would overwrite the entry of another plugin.
 */
export function changeFor(wanted: Wanted, order: WrittenOrder): { key: string; value: string | null }[] {
  return [...wanted].filter(([key, value]) => !holds(order, key, value)).map(([key, value]) => ({ key, value }));
}

/** Findings for the sent entries that the response doesn't show. */
export function notTaken(sent: readonly { key: string; value: string | null }[], order: WrittenOrder): string[] {
  return sent
    .filter(({ key, value }) => !holds(order, key, value))
    .map(({ key }) => `the order holds another ${key} than was sent: look for a plugin that changes or guards it`);
}

/** Exactly one row with this value; for null, no row. */
function holds({ meta_data }: WrittenOrder, key: string, value: string | null): boolean {
  const rows = meta_data.filter((row) => row.key === key);
  if (value === null) return rows.length === 0;
  return rows.length === 1 && rows.every((row) => isText(row.value) && isSameText(String(row.value), value));
}

const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

export const holdsLater = (item: WriteBack, order: WrittenOrder, settings: WriteBackSettings): boolean =>
  isOutdated(item, settings, (name) => metaOf(order, name));
