import { z } from 'zod';
import { type AnswerPart, isOutdated, isSameText, placed, surveyText } from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import { id, Meta, metaOf } from './order.ts';
import type { WooCommerceSettings } from './settings.ts';

/** What an order should hold once an answer is on it; null: nothing of that name. */
export type Wanted = ReadonlyMap<string, string | null>;

/** An order as writing sees it. */
export const WrittenOrder = z.object({
  id,
  meta_data: Meta,
});
export type WrittenOrder = z.output<typeof WrittenOrder>;

type WriteBackSettings = WooCommerceSettings['writeBack'];

export function wantedOf(item: WriteBack, settings: WriteBackSettings): Wanted {
  return new Map(placed(item, settings, textOf).map(({ place, value }) => [place, value]));
}

/** Texts: a number in WordPress's database is one as well. */
function textOf({ part, value }: AnswerPart): string | null {
  if (value === null || (part === 'comment' && value === '')) return null;
  return value instanceof Date ? value.toISOString() : surveyText(value);
}

/**
 * The entries to send so that the order holds what is wanted; equal ones are left out, as every write is a save, and every
 * save tells all the shop's webhooks. An entry has no id: with a wrong one it would overwrite another plugin's.
 */
export function changeFor(wanted: Wanted, order: WrittenOrder): { key: string; value: string | null }[] {
  return [...wanted].filter(([key, value]) => !holds(order, key, value)).map(([key, value]) => ({ key, value }));
}

/** What of the sent entries the shop's answer doesn't show. */
export function notTaken(sent: readonly { key: string; value: string | null }[], order: WrittenOrder): string[] {
  return sent
    .filter(({ key, value }) => !holds(order, key, value))
    .map(({ key }) => `the order holds another ${key} than was sent: look for a plugin that changes or guards it`);
}

/** Exactly one row with this value, or no row at all. */
function holds({ meta_data }: WrittenOrder, key: string, value: string | null): boolean {
  const rows = meta_data.filter((row) => row.key === key);
  if (value === null) return rows.length === 0;
  return rows.length === 1 && rows.every((row) => isText(row.value) && isSameText(String(row.value), value));
}

const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

export const holdsLater = (item: WriteBack, order: WrittenOrder, settings: WriteBackSettings): boolean =>
  isOutdated(item, settings, (name) => metaOf(order, name));
