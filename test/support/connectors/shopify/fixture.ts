import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type ShopifySettings, settings } from '../../../../connectors/shopify/settings.ts';
import { shopify } from '../../../../connectors/shopify/shopify.ts';
import type {
  ConnectorPorts,
  Delivery,
  PointsBucket,
  PointsWanted,
  Source,
  WriteBack,
} from '../../../../core/connector/contract.ts';
import { type ShopifyStandinOptions, startShopifyStandin } from '../../../../standins/shopify/standin.ts';
import { answer as answerTo } from '../../contract/bench.ts';
import { quietPorts } from '../../contract/quiet-ports.ts';

/** The webhooks of a shop that asks when an order is fulfilled or delivered. */
export const topics = [
  'ORDERS_FULFILLED',
  'FULFILLMENTS_UPDATE',
  'ORDERS_CANCELLED',
  'REFUNDS_CREATE',
  'APP_UNINSTALLED',
  'APP_SCOPES_UPDATE',
];

function json(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'));
}

/** Secrets, persons and shops are made up. */
export const vectors = z
  .object({
    shopify: z.array(
      z.object({
        name: z.string(),
        secrets: z.array(z.string()),
        headers: z.record(z.string(), z.string()),
        expect: z.object({
          valid: z.boolean(),
          optional: z.boolean().optional(),
          action: z.string().optional(),
          reason: z.string().optional(),
          order_id: z.string().optional(),
        }),
        body_base64: z.string(),
      }),
    ),
    shopify_sequences: z.array(
      z.object({
        name: z.string(),
        deliveries: z.array(z.object({ webhook_id: z.string(), event_id: z.string(), topic: z.string() })),
        expect: z.array(z.string()),
      }),
    ),
  })
  .parse(json('webhooks'));
export const orderFulfilled = z.looseObject({ id: z.number() }).parse(json('shopify-order-fulfilled'));
export const fulfillmentDelivered = z
  .looseObject({ order_id: z.number() })
  .parse(json('shopify-fulfillment-delivered'));

export const vectorShop = 'nordlicht-demo.myshopify.com';
export const vectorSecret = 'shpss_TEST_not_a_real_secret_0001';
export const receivedAt = new Date('2026-11-21T10:00:00Z');

export function delivery(headers: Record<string, string>, raw: Uint8Array): Delivery {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method: 'POST',
    url: 'https://closeloop.example/hooks/shop',
    headers: Object.fromEntries(lower),
    raw,
    receivedAt,
  };
}

/** A body of a topic, unsigned: for what comes after the signature. */
export function told(topic: string, body: unknown, headers: Record<string, string> = {}): Delivery {
  const raw = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return delivery({ 'x-shopify-topic': topic, 'x-shopify-shop-domain': vectorShop, ...headers }, raw);
}

export const given = { shop: vectorShop, accessToken: 'shpat_1', webhookSecrets: [vectorSecret] };

export function settingsOf(more: object = {}): ShopifySettings {
  return settings.parse({ ...given, ...more });
}

/** What a source asked of its surroundings. */
export interface Seen {
  /** Points that were taken, and what was said of them afterwards. */
  wanted: PointsWanted[];
  settled: (PointsBucket | 'unspent' | 'unknown')[];
  pauses: number[];
  takes: string[];
  warnings: string[];
}

export function testPorts(more: Partial<ConnectorPorts> = {}): { ports: ConnectorPorts; seen: Seen } {
  const seen: Seen = { wanted: [], settled: [], pauses: [], takes: [], warnings: [] };
  const quiet = () => undefined;
  const ports = quietPorts({
    random: () => 0,
    log: { debug: quiet, info: quiet, error: quiet, warn: (_fields, message) => void seen.warnings.push(message) },
    budget: {
      take: async (_lane, urgency = 'work') => void seen.takes.push(urgency),
      pause: async (ms) => void seen.pauses.push(ms),
      takePoints: async (wanted) => {
        seen.wanted.push(wanted);
        const { most, since = 7 } = wanted;
        return { records: most, since, settle: async (said) => void seen.settled.push(said) };
      },
    },
    ...more,
  });
  return { ports, seen };
}

export const allOn = {
  grade: 'feedback_grade',
  comment: 'feedback_comment',
  answeredAt: 'feedback_at',
  status: 'feedback_status',
  answers: { q1: 'feedback_speed' },
  tags: true,
  note: true,
  noAnswer: true,
};

/** A shop at the stand-in, over a socket, and a source on it. Its clock moves only when told to. */
export async function openShop(settings: object = {}, options: ShopifyStandinOptions = {}) {
  const clock = { now: new Date('2026-11-20T12:00:00Z') };
  const server = await startShopifyStandin({ now: () => clock.now, ...options });
  const { standin } = server;
  const open = (
    more: object = {},
    ports: Partial<ConnectorPorts> = {},
  ): { source: Source; seen: Seen; ports: ConnectorPorts } => {
    const tested = testPorts({ now: () => clock.now, ...ports });
    const { shop, accessToken } = { shop: standin.shop.domain, accessToken: standin.accessToken };
    const all = { shop, accessToken, webhookSecrets: ['a secret'], baseUrl: server.url, ...settings, ...more };
    const written = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return { source: shopify.open(written, tested.ports), ...tested };
  };
  return {
    ...server,
    ...open(),
    open,
    clock,
    later: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
    /** An order that a customer paid for. */
    order: (more: Parameters<typeof standin.addOrder>[0] = {}): string =>
      standin.addOrder({ email: 'hanna@example.com', ...more }).id,
  };
}

export const answer = (recordId: string, more: Partial<WriteBack> = {}): WriteBack =>
  answerTo(recordId, {
    ...{ grade: 4, comment: 'Fine', campaign: 'Delivery', maxGrade: 5 },
    answeredAt: new Date('2026-11-20T10:00:00.500Z'),
    ...more,
  });
