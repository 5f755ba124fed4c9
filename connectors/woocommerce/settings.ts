import { z } from 'zod';
import { isSafeAddress } from '../../core/address.ts';
import { placesOf } from '../../core/connector/answer.ts';
import { answerPlaces, noAnswerNeeds, secret, webhookSecrets } from '../../core/connector/settings.ts';
import { Duration } from '../../core/schedule/duration.ts';

/** Statuses before delivery, whatever plugins do. */
const neverCounts = new Set(['pending', 'checkout-draft', 'auto-draft', 'trash', 'any']);

const status = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,30}$/, 'a status as in the address of the order list, like "completed" or "delivered"')
  .transform((text) => text.replace(/^wc-/, ''))
  .refine((text) => !neverCounts.has(text), 'is a status in which nothing has been delivered yet');

/** The prefix avoids the keys of WooCommerce (`_billing_email` would change the order) and of other plugins. */
const metaName = z
  .string()
  .max(100)
  .regex(/^feedback_[a-z0-9_]+$/, 'a name of small letters, digits and _ that begins with "feedback_"');

const writeBack = z
  .strictObject({
    /** Meta data of the order, `feedback_grade` for example; the time as ISO 8601, UTC. They need no preparation in the shop. */
    ...answerPlaces(metaName),
    /** Adds a private note with the answer: one more call per answer. */
    note: z.boolean().default(false),
    /** Writes `no-answer` into `status` when a journey expires. */
    noAnswer: z.boolean().default(false),
  })
  .refine(...noAnswerNeeds(['status'], 'needs writeBack.status, which takes it'))
  .refine(
    (places) => {
      const names = [...placesOf(places).values()];
      return new Set(names).size === names.length;
    },
    { error: 'one name takes two things: each needs its own' },
  )
  .prefault({});

/** A WooCommerce source in the configuration: one shop. */
export const settings = z.strictObject({
  /** The shop's address as browsers show it: with www or without, with the directory where WordPress sits in one. */
  site: z
    .string()
    .refine(
      (text) => isSafeAddress(text, 'path'),
      'the https address of the shop, like https://shop.example.com, without anything behind it',
    )
    .transform((text) => text.replace(/\/+$/, '')),
  /** A REST key with read and write rights, of a user who may edit orders (WooCommerce > Settings > Advanced > REST API). */
  consumerKey: z
    .string()
    .trim()
    .regex(/^ck_\w+$/, 'begins with "ck_"'),
  consumerSecret: z
    .string()
    .trim()
    .regex(/^cs_\w+$/, 'begins with "cs_"'),
  /** `query` puts the key into addresses, and so into the shop's logs: only for hosts that drop the Authorization header. */
  auth: z.enum(['header', 'query']).default('header'),
  /** For shops whose permalinks are set to "Plain": the API is called by `?rest_route=`. */
  restRoute: z.boolean().default(false),
  /** The webhooks' secret; two while it is being rotated. `setup` gives the first one to the webhooks that it makes. */
  webhookSecrets: webhookSecrets(secret, 'needs the secret of the webhooks'),
  /** An order with one of these statuses counts as closed. Plugins add statuses, like `delivered`. */
  statuses: z.array(status).min(1).default(['completed']),
  /** Which refunds exclude an order: of the whole sum, of any part, or none. */
  skipRefunded: z.enum(['fully', 'partly', 'never']).default('fully'),
  /** Excludes orders of nothing but downloads and services. */
  skipVirtual: z.boolean().default(false),
  /** Products (ids or SKUs) that are gift cards: an order of nothing else is excluded. WooCommerce itself has no gift cards. */
  giftCards: z.array(z.union([z.int().positive(), z.string().min(1)]).transform(String)).default([]),
  /** Orders without e-mail address and phone number count too: for campaigns whose customers are known by something else. */
  withoutContact: z.boolean().default(false),
  /** Orders with any of these meta data are tests. Default: what WooPayments leaves in its test mode. */
  testMeta: z.record(z.string().min(1), z.string()).default({ _wcpay_mode: 'test' }),
  /** Meta data that hold the language of an order, first found. Default: WPML's. */
  languageMeta: z.array(z.string().min(1)).default(['wpml_language']),
  /**
   * How often the poll checks the webhooks, which takes one call: the shop silently disables a webhook after seven failures in a row.
   * Until the next check only the poll finds the orders of that webhook.
   */
  watchEvery: Duration.prefault('1h'),
  writeBack,
});

export type WooCommerceSettings = z.output<typeof settings>;

/** `/wp-json/wc/v3/orders?include=1`, whichever way the shop takes it. */
export function pathOf(
  { restRoute }: Pick<WooCommerceSettings, 'restRoute'>,
  route: string,
  query: Readonly<Record<string, string>>,
): string {
  const path = `/wc/v3/${route}`;
  const search = new URLSearchParams({ ...(restRoute ? { rest_route: path } : {}), ...query }).toString();
  // Commas separate values in a list, and need no escape in a query.
  const tail = search === '' ? '' : `?${search.replaceAll('%2C', ',')}`;
  return `${restRoute ? '/' : `/wp-json${path}`}${tail}`;
}
