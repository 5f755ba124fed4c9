import { z } from 'zod';
import { VendorError } from '../../core/connector/classify.ts';
import type { ConnectorPorts, Source } from '../../core/connector/contract.ts';
import { jsonBody } from '../../core/connector/json-body.ts';
import { listOf } from '../../core/entries.ts';
import { messageOf } from '../../core/errors.ts';
import type { Shop } from './api.ts';
import { eventOfUnreadable, eventsOf } from './events.ts';
import { ListedOrder, momentFields } from './order.ts';
import { listed } from './read.ts';
import type { WooCommerceSettings } from './settings.ts';
import { activate, isNamedOurs, listWebhooks, makeWebhook, pointsTo, type Webhook, wantedTopics } from './webhooks.ts';

const perPage = 100;
/** A sweep overlaps the last one by this time, as a slow transaction may have saved an order meanwhile. */
const overlapMs = 15 * 60_000;

const instant = z.iso.datetime().transform((text) => new Date(text));

/** The progress of a sweep. */
const Cursor = z.object({
  /** Orders changed after this instant are still to be read. */
  after: instant,
  /** 1, unless more orders changed within one second than a page holds, as in an import. */
  page: z.int().min(1),
  /** The begin of the sweep's time. Older closings do not count: their orders were only saved again. */
  since: instant,
  /** When the webhooks were last checked. */
  watched: instant.nullable(),
  /** The topics of the webhooks that delivered here then: a topic that is missing later was lost. */
  here: listOf(z.enum(wantedTopics)).default([]),
});
type Cursor = z.output<typeof Cursor>;

/**
 * Reads orders by the time of their last change, oldest first, one page per call. WooCommerce delivers each webhook once and late, so
 * the poll makes sure that no closing is lost. Every `watchEvery` it checks the webhooks as well: the shop silently disables one
 * after seven failures in a row. The poll recreates webhooks that existed before; the first ones are created by `setup`.
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
    const context = { ...settings, via: 'poll', what: 'poll', news: cursor.since, at } as const;
    const orders = data.map((raw) => ({ raw, ...listed(ListedOrder, raw) }));
    const events = orders.flatMap(({ raw, order }) => {
      if (!(order instanceof VendorError)) return eventsOf(order, context).events;
      ports.log.warn({ why: order.message }, 'the poll met an order of another shape than documented');
      return eventOfUnreadable(raw, context);
    });
    const dates = orders.flatMap(({ order }) => (order instanceof VendorError ? [] : (order.date_modified_gmt ?? [])));
    const last = dates.at(-1) ?? cursor.after;
    if (data.length >= perPage) return { events, cursor: written(onwards(cursor, last)), done: false, reached: last };

    const next: Cursor = {
      after: nextStart(cursor.after, at),
      page: 1,
      since: nextStart(cursor.since, at),
      // `check` reads a first page, too, and must change nothing.
      ...('cursor' in from ? await watch(cursor, at) : { watched: cursor.watched, here: cursor.here }),
    };
    return { events, cursor: written(next), done: true, reached: at };
  };

  async function watch({ watched, here }: Cursor, at: Date): Promise<Pick<Cursor, 'watched' | 'here'>> {
    if (watched !== null && at.getTime() - watched.getTime() < settings.watchEvery) return { watched, here };
    try {
      return { watched: at, here: await wakeWebhooks(settings, shop, ports, here) };
    } catch (error) {
      // The orders were found; the next poll checks the webhooks.
      const why = messageOf(error);
      ports.log.warn({ why }, 'the webhooks could not be looked at');
      return { watched: at, here };
    }
  }
}

/**
 * Activates closeloop's webhooks that the shop disabled; webhooks that a person paused or readdressed stay unchanged. Recreates
 * missing webhooks of the topics `before`. Returns the topics that deliver here.
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
  // Without an address lost webhooks can't be recreated.
  if (hookUrl === undefined) return [...before];
  for (const topic of lost) {
    await makeWebhook(shop, { topic, hookUrl, secret }, 'background');
    log.warn({ site, topic }, 'the webhook of this topic was gone from the shop: it is made again');
  }
  return wantedTopics.filter((topic) => hasTopic(here, topic) || lost.includes(topic));
}

/** Whole seconds, as in the shop's dates, with the changes of the first second. */
function beginning(since: Date): Cursor {
  const second = new Date(Math.floor(since.getTime() / 1_000) * 1_000);
  return { after: new Date(second.getTime() - 1_000), page: 1, since: second, watched: null, here: [] };
}

/** Goes back one second, in which further orders may have changed; to the next page where that would make no progress. */
function onwards(cursor: Cursor, last: Date): Cursor {
  const after = new Date(last.getTime() - 1_000);
  return after > cursor.after ? { ...cursor, after, page: 1 } : { ...cursor, page: cursor.page + 1 };
}

/** Never earlier than the last sweep, unless the shop's clock was set back. */
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
