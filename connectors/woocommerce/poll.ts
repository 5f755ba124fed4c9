import { z } from 'zod';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Source } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { listOf } from '../../core/entries.ts';
import { messageOf } from '../../core/errors.ts';
import type { Shop } from './api.ts';
import { oddEvent, outcomeOf } from './events.ts';
import { ListedOrder, momentFields } from './order.ts';
import { listed } from './read.ts';
import type { WooCommerceSettings } from './settings.ts';
import { activate, isNamedOurs, listWebhooks, makeWebhook, pointsTo, type Webhook, wantedTopics } from './webhooks.ts';

const perPage = 100;
/** What was saved while a sweep ran, by a transaction that took its time, is looked at again. */
const overlapMs = 15 * 60_000;

const instant = z.iso.datetime().transform((text) => new Date(text));

/** Where a sweep is. */
const Cursor = z.object({
  /** Orders changed after this are still to be seen. */
  after: instant,
  /** 1, but where more orders changed within one second than a page holds: imports do that. */
  page: z.int().min(1),
  /** Where this sweep began. Only what was closed since is news: older orders are just being saved again. */
  since: instant,
  /** When the webhooks were last looked at. */
  watched: instant.nullable(),
  /** Topics of the webhooks that delivered here then: one that is missing later was lost. */
  here: listOf(z.enum(wantedTopics)).default([]),
});
type Cursor = z.output<typeof Cursor>;

/**
 * Orders by the time of their last change, oldest first, a page a call. WooCommerce delivers each webhook once and late, so
 * this is what makes sure of a closing. Now and then (`watchEvery`) it looks at the webhooks as well: after seven failures in a row the shop
 * switches one off, and tells nobody. One that was there and is gone is made again; the first ones are made by `setup`, with
 * somebody's leave.
 */
export function poller(
  settings: WooCommerceSettings,
  shop: Shop,
  ports: Pick<ConnectorPorts, 'log' | 'hookUrl'>,
): NonNullable<Source['poll']> {
  return async (from) => {
    const cursor = 'cursor' in from ? read(from.cursor) : beginning(from.since);
    const query = {
      modified_after: seconds(cursor.after),
      dates_are_gmt: 'true',
      orderby: 'modified',
      order: 'asc',
      per_page: String(perPage),
      page: String(cursor.page),
      _fields: momentFields,
    };
    const { data, at } = await shop.call('GET', 'orders', listOf(z.unknown(), 1_000), { query, urgency: 'background' });
    const told = { ...settings, via: 'poll', what: 'poll', news: cursor.since, at } as const;
    const orders = data.map((raw) => ({ raw, ...listed(ListedOrder, raw) }));
    const events = orders.flatMap(({ raw, order }) => {
      if (!(order instanceof VendorError)) return outcomeOf(order, told).events;
      ports.log.warn({ why: order.message }, 'the poll met an odd order');
      return oddEvent(raw, told);
    });
    const dates = orders.flatMap(({ order }) => (order instanceof VendorError ? [] : (order.date_modified_gmt ?? [])));
    const last = dates.at(-1) ?? cursor.after;
    if (data.length >= perPage) return { events, cursor: written(onwards(cursor, last)), done: false, reached: last };

    const next: Cursor = {
      after: nextStart(cursor.after, at),
      page: 1,
      since: nextStart(cursor.since, at),
      // A sweep's first page may be a look only (`check` takes one): nothing is changed for it.
      ...('cursor' in from ? await watch(cursor, at) : { watched: cursor.watched, here: cursor.here }),
    };
    return { events, cursor: written(next), done: true, reached: at };
  };

  async function watch({ watched, here }: Cursor, at: Date): Promise<Pick<Cursor, 'watched' | 'here'>> {
    if (watched !== null && at.getTime() - watched.getTime() < settings.watchEvery) return { watched, here };
    try {
      return { watched: at, here: await wakeWebhooks(settings, shop, ports, here) };
    } catch (error) {
      // The orders were found; the webhooks are looked at the next time.
      const why = messageOf(error);
      ports.log.warn({ why }, 'the webhooks could not be looked at');
      return { watched: at, here };
    }
  }
}

/**
 * Switches webhooks of ours that the shop switched off back on; one that a person has paused, or sent elsewhere, stays so.
 * Makes those of the topics `before` again that are gone. Returns the topics that deliver here.
 */
async function wakeWebhooks(
  { site, webhookSecrets: [secret = ''] }: WooCommerceSettings,
  shop: Shop,
  { log, hookUrl }: Pick<ConnectorPorts, 'log' | 'hookUrl'>,
  before: Cursor['here'],
): Promise<Cursor['here']> {
  const all = await listWebhooks(shop, 'background');
  const ours = all.filter(isNamedOurs);
  for (const { id, topic, status } of ours) {
    if (status !== 'disabled') continue;
    await activate(shop, id, { urgency: 'background' });
    log.warn({ site, webhook: id, topic }, 'the shop had switched this webhook off after failures: it is on again');
  }
  const hasTopic = (webhooks: readonly Webhook[], topic: string) => webhooks.some((one) => one.topic === topic);
  const here = hookUrl === undefined ? [] : all.filter((one) => pointsTo(one, hookUrl));
  const lost = before.filter((topic) => !hasTopic([...ours, ...here], topic));
  if (ours.length + here.length + lost.length === 0) {
    log.warn({ site }, 'no webhook of closeloop in the shop: orders are found by polling only; run closeloop setup');
  }
  // Without its address, what is lost stays so until that is known again.
  if (hookUrl === undefined) return [...before];
  for (const topic of lost) {
    await makeWebhook(shop, { topic, hookUrl, secret }, 'background');
    log.warn({ site, topic }, 'the webhook of this topic was gone from the shop: it is made again');
  }
  return wantedTopics.filter((topic) => hasTopic(here, topic) || lost.includes(topic));
}

/** Whole seconds, as the shop's dates are; what changed in the first of them is to be seen. */
function beginning(since: Date): Cursor {
  const second = new Date(Math.floor(since.getTime() / 1_000) * 1_000);
  return { after: new Date(second.getTime() - 1_000), page: 1, since: second, watched: null, here: [] };
}

/** One second back, as others may have changed in the last one; on to the next page where that would be no step at all. */
function onwards(cursor: Cursor, last: Date): Cursor {
  const after = new Date(last.getTime() - 1_000);
  return after > cursor.after ? { ...cursor, after, page: 1 } : { ...cursor, page: cursor.page + 1 };
}

/** Never before where we were, unless the shop's clock is. */
function nextStart(after: Date, at: Date): Date {
  if (at < after) return at;
  return new Date(Math.max(after.getTime(), at.getTime() - overlapMs));
}

/** UTC, without a zone: `dates_are_gmt`. */
const seconds = (at: Date): string => at.toISOString().slice(0, 19);

function read(text: string): Cursor {
  return Cursor.parse(jsonBody(text));
}

function written({ after, page, since, watched, here }: Cursor): string {
  return JSON.stringify({ after, page, since, watched, here });
}
