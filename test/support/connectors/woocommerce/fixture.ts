import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { settings, type WooCommerceSettings } from '../../../../connectors/woocommerce/settings.ts';
import type { ConnectorPorts, Delivery } from '../../../../core/connector/contract.ts';
import { quietPorts } from '../../contract/quiet-ports.ts';

/** A whole order as a shop of version 11.1 sends it. Persons and shops are made up. */
export const fixture = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(readFileSync(new URL('./vectors/order-completed.json', import.meta.url), 'utf8')));

const Vectors = z.object({
  woocommerce: z.array(
    z.object({
      name: z.string(),
      secret: z.string(),
      headers: z.record(z.string(), z.string()),
      expect: z.object({
        valid: z.boolean(),
        kind: z.string().optional(),
        action: z.string().optional(),
        reason: z.string().optional(),
      }),
      body_base64: z.string(),
    }),
  ),
  woocommerce_sequences: z.array(
    z.object({
      name: z.string(),
      deliveries: z.array(z.object({ delivery_id: z.string(), order_id: z.number() })),
      expect: z.array(z.string()),
    }),
  ),
});
export const vectors = Vectors.parse(
  JSON.parse(readFileSync(new URL('./vectors/webhooks.json', import.meta.url), 'utf8')),
);

/** Days after the order of the fixture was completed. */
export const receivedAt = new Date('2026-11-18T14:43:00Z');

export function delivery(headers: Record<string, string>, raw: Uint8Array, at = receivedAt): Delivery {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method: 'POST',
    url: 'https://closeloop.example/hooks/shop',
    headers: Object.fromEntries(lower),
    raw,
    receivedAt: at,
  };
}

export const given = {
  site: 'https://laden.example.com',
  consumerKey: 'ck_standin',
  consumerSecret: 'cs_standin',
  webhookSecrets: ['wc-test-secret-ABCdef0123456789'],
};

export function settingsOf(more: object = {}): WooCommerceSettings {
  return settings.parse({ ...given, ...more });
}

export interface Seen {
  takes: (string | undefined)[];
  pauses: number[];
  logged: { level: string; message: string; fields: object }[];
}

/** Real fetch; a budget that counts. */
export function testPorts(overrides: Partial<ConnectorPorts> = {}): { ports: ConnectorPorts; seen: Seen } {
  const seen: Seen = { takes: [], pauses: [], logged: [] };
  const at = (level: string) => (fields: object, message: string) => void seen.logged.push({ level, message, fields });
  const ports = quietPorts({
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    budget: {
      take: async (_lane, urgency) => void seen.takes.push(urgency),
      pause: async (ms) => void seen.pauses.push(ms),
    },
    ...overrides,
  });
  return { seen, ports };
}
