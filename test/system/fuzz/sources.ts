import { createHmac } from 'node:crypto';
import { proofOf } from '../../../connectors/hubspot/events.ts';
import { signHmac } from '../../../core/connector/signature.ts';
import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import { signZendesk } from '../../../standins/zendesk/webhooks.ts';
import type { Chance } from '../chaos/random.ts';
import { record, text } from './values.ts';

/* One source of each connector, as its vendor knows it. */

export const secret = 'fuzz-secret-of-a-decent-length-0123456789';
export const standardSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const shop = 'acme.myshopify.com';

export interface FuzzSource {
  /** Of the configuration. */
  name: string;
  settings: object;
  /** Headers with which the vendor delivers this body to this address. */
  sign(raw: Uint8Array, url: string, at: Date, secret?: string): Record<string, string>;
  /** Headers without any of which a delivery is unsigned. */
  signed: readonly string[];
  /** An event of this vendor, more or less. */
  event(chance: Chance): unknown;
}

const hmac = (key: string, raw: Uint8Array, form: 'hex' | 'base64') =>
  createHmac('sha256', key).update(raw).digest(form);

export const sources: readonly FuzzSource[] = [
  {
    name: 'zendesk',
    settings: {
      connector: 'zendesk',
      subdomain: 'acme',
      clientId: 'c',
      clientSecret: 's',
      webhookSecrets: [secret],
      csat: {},
    },
    signed: ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp'],
    sign(raw, _url, at, key = secret) {
      const timestamp = at.toISOString();
      return {
        'x-zendesk-webhook-signature': signZendesk(key, timestamp, raw),
        'x-zendesk-webhook-signature-timestamp': timestamp,
      };
    },
    event: (chance) => ({
      type: chance.of(['zen:event-type:ticket.status_changed', 'zen:event-type:ticket.csat_received', text(chance)]),
      id: `e-${chance.int(0, 1e9)}`,
      detail: { id: chance.of<unknown>(['41960', 7, null, text(chance)]), actor_id: '1' },
      event: { current: chance.of(['SOLVED', 'OPEN', 'GOOD']), previous: 'OPEN', ...record(chance) },
      time: chance.of(['2026-11-21T10:15:29Z', text(chance)]),
    }),
  },
  {
    name: 'hubspot',
    settings: {
      connector: 'hubspot',
      accessToken: 'pat-eu1-fuzz',
      webhookSecrets: [secret],
      objects: ['ticket', 'deal'],
      writeBack: { grade: 'feedback_grade' },
    },
    signed: ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp'],
    sign(raw, url, at, key = secret) {
      const timestamp = String(at.getTime());
      return {
        'x-hubspot-signature-v3': signHmac(key, { method: 'POST', url, raw }, proofOf(), timestamp),
        'x-hubspot-request-timestamp': timestamp,
      };
    },
    event: (chance) => [
      {
        subscriptionType: chance.of(['object.propertyChange', 'ticket.propertyChange', 'deal.merge', text(chance)]),
        objectTypeId: chance.of(['0-5', '0-3', text(chance)]),
        objectId: chance.of<unknown>([chance.int(1, 1e6), '7', null, 1e300]),
        eventId: chance.int(0, 1e9),
        occurredAt: chance.of<unknown>([1_795_168_800_000, 'x', -1]),
        propertyName: chance.of(['hs_pipeline_stage', 'dealstage', 'subject']),
        propertyValue: text(chance),
        ...record(chance, 2),
      },
    ],
  },
  {
    name: 'shopify',
    settings: { connector: 'shopify', shop, accessToken: 'shpat_1', webhookSecrets: [secret] },
    signed: ['x-shopify-hmac-sha256'],
    sign: (raw, _url, _at, key = secret) => ({
      'x-shopify-hmac-sha256': hmac(key, raw, 'base64'),
      'x-shopify-shop-domain': shop,
      'x-shopify-topic': 'orders/fulfilled',
      'x-shopify-event-id': hmac('id', raw, 'hex').slice(0, 20),
    }),
    event: (chance) => ({
      id: chance.of<unknown>([chance.int(1, 1e9), text(chance), null]),
      admin_graphql_api_id: 'gid://shopify/Order/7',
      updated_at: '2026-11-21T10:15:29Z',
      fulfillment_status: 'fulfilled',
      ...record(chance),
    }),
  },
  {
    name: 'woocommerce',
    settings: {
      connector: 'woocommerce',
      site: 'https://acme.example',
      consumerKey: 'ck_1',
      consumerSecret: 'cs_1',
      webhookSecrets: [secret],
    },
    signed: ['x-wc-webhook-signature'],
    sign: (raw, _url, _at, key = secret) => ({
      'x-wc-webhook-signature': createHmac('sha256', key).update(raw).digest('base64'),
      'x-wc-webhook-topic': 'order.updated',
      'x-wc-webhook-resource': 'order',
      'x-wc-webhook-id': '7',
    }),
    event: (chance) => ({
      id: chance.of<unknown>([chance.int(1, 1e9), text(chance), null]),
      status: chance.of(['completed', 'refunded', text(chance)]),
      date_modified_gmt: '2026-11-21T10:15:29',
      ...record(chance),
    }),
  },
  {
    name: 'request-tracker',
    settings: {
      connector: 'request-tracker',
      address: 'https://rt.example.com',
      token: '1-27-ab',
      webhookSecrets: [secret],
    },
    signed: ['x-rt-signature', 'x-rt-timestamp'],
    sign(raw, _url, at, key = secret) {
      const timestamp = String(Math.floor(at.getTime() / 1_000));
      const signature = createHmac('sha256', key).update(`${timestamp}.`).update(raw).digest('hex');
      return { 'x-rt-timestamp': timestamp, 'x-rt-signature': signature };
    },
    event: (chance) => ({
      transaction: chance.of<unknown>([chance.int(1, 1e9), text(chance), null]),
      ticket: chance.of<unknown>([chance.int(1, 1e9), text(chance)]),
      from: chance.of(['new', 'resolved', text(chance)]),
      to: chance.of(['resolved', 'open', text(chance)]),
      at: '2026-11-21T10:15:29Z',
      ...record(chance),
    }),
  },
  {
    name: 'intercom',
    settings: {
      connector: 'intercom',
      workspace: 'k7p2m4xq',
      accessToken: 't',
      adminId: '7700001',
      webhookSecrets: [secret],
      ratings: true,
    },
    signed: ['x-hub-signature'],
    sign: (raw, _url, _at, key = secret) => ({
      'x-hub-signature': `sha1=${createHmac('sha1', key).update(raw).digest('hex')}`,
    }),
    event: (chance) => ({
      type: 'notification_event',
      app_id: 'k7p2m4xq',
      topic: chance.of([
        'conversation.admin.closed',
        'ticket.resolved',
        'conversation.rating.added',
        'contact.deleted',
      ]),
      created_at: chance.of<unknown>([1_795_168_800, text(chance), null]),
      data: {
        item: {
          id: chance.of<unknown>(['215477000000101', 7, text(chance), null]),
          conversation_parts: {
            conversation_parts: [{ part_type: 'close', created_at: 1_795_168_800, ...record(chance) }],
          },
          ...record(chance),
        },
      },
    }),
  },
  {
    name: 'standard',
    settings: {
      connector: 'webhook',
      signature: { kind: 'standard', secrets: [standardSecret] },
      event: {
        closed: 'type = "ticket.closed"',
        changed: 'type = "ticket.reopened"',
        record: 'data.ticket.id',
        person: '$string(data.customer.id)',
        erase: { when: 'type = "customer.forget"', contacts: '[data.customer.email, data.customer.phone]' },
        survey: {},
      },
    },
    signed: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    sign: (raw, _url, at, key = standardSecret) =>
      signStandardWebhook({ id: `msg_${hmac('id', raw, 'hex').slice(0, 20)}`, at, body: raw }, [
        key.startsWith('whsec_') ? key : `whsec_${Buffer.from(key.padEnd(32, 'x')).toString('base64')}`,
      ]),
    event: (chance) => ({
      type: chance.of(['ticket.closed', 'ticket.reopened', 'customer.forget', 'survey.completed', text(chance)]),
      timestamp: chance.of<unknown>(['2026-11-21T10:15:29Z', text(chance), 17]),
      data: { ticket: { id: chance.int(1, 1e6) }, customer: record(chance, 2), appeal: 7, ...record(chance) },
    }),
  },
  {
    name: 'hmac',
    settings: {
      connector: 'webhook',
      signature: { kind: 'hmac', header: 'x-signature', prefix: 'sha256=', secrets: [secret] },
      event: { closed: 'closed', record: 'id', at: 'at' },
    },
    signed: ['x-signature'],
    sign: (raw, _url, _at, key = secret) => ({ 'x-signature': `sha256=${hmac(key, raw, 'hex')}` }),
    event: (chance) => ({
      closed: chance.of([true, false]),
      id: chance.int(1, 1e6),
      at: '2026-11-21T10:15:29Z',
      ...record(chance),
    }),
  },
];

/** The configuration, but for where it listens. */
export function configuration(): string {
  const rules = [
    {
      name: 'phone team',
      when: 'ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)',
      campaign: 12,
      contact: ['requester.phone', 'requester.email'],
      fields: { Store: 'ticket.fields.store', Agent: '$uppercase(assignee.name)' },
      delay: '2h',
      window: { from: '09:00', until: '20:00', days: ['mon', 'tue'], zone: 'recipient' },
      throttle: '30d',
      sample: '50%',
    },
  ];
  const feedback = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'k', timeZone: 'Europe/Tallinn' };
  return JSON.stringify(
    {
      feedback,
      http: { port: 0 },
      secretsKey: Buffer.alloc(32, 7).toString('base64'),
      sources: Object.fromEntries(sources.map(({ name, settings }) => [name, { ...settings, rules }])),
    },
    null,
    1,
  );
}
