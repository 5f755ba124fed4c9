import { z } from 'zod';
import { setAction } from '../../core/connector/desk/act.ts';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { pathAddress, secret, webhookSecrets, yesOrNo } from '../../core/connector/settings.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';

/** Statuses that never count as delivered, whatever plugins do. */
const neverCounts = new Set(['pending', 'checkout-draft', 'auto-draft', 'trash', 'any']);

const status = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,30}$/, 'a status as in the address of the order list, like "completed" or "delivered"')
  .transform((text) => text.replace(/^wc-/, ''))
  .refine((text) => !neverCounts.has(text), 'is a status in which nothing has been delivered yet');

/** A meta key. The prefix avoids the keys of WooCommerce (`_billing_email` would change the order) and of other plugins. */
const metaName = z
  .string()
  .max(100)
  .regex(/^feedback_[a-z0-9_]+$/, 'a name of small letters, digits and _ that begins with "feedback_"');

/** The parameters of the action `set`. Keys that begin with "_" are refused: they are WooCommerce's own, and changing them would change the order. */
export const SetMeta = setAction
  .refine((meta) => Object.keys(meta).every((key) => !key.startsWith('_')), 'names a key that begins with "_"')
  .describe('Sets meta data of the order, by key; null takes one off');

const writeBack = deskWriteBack(metaName, {
  takes: 'the name of meta data of the order, like `feedback_grade`; they need no preparation in the shop',
  note: 'Adds a private note with the answer: one more call per answer',
  commentLength: { most: 65_000, initial: 65_000 },
});

/** A WooCommerce source in the configuration: one shop. */
export const settings = z.strictObject({
  site: pathAddress(
    'the https address of the shop, like https://shop.example.com, without anything behind it',
  ).describe(
    "The shop's address as browsers show it: with www or without, with the directory where WordPress sits in one",
  ),
  consumerKey: z
    .string()
    .trim()
    .regex(/^ck_\w+$/, 'begins with "ck_"')
    .describe(
      'A REST key with read and write rights, of a user who may edit orders (WooCommerce > Settings > Advanced > REST API)',
    ),
  consumerSecret: z
    .string()
    .trim()
    .regex(/^cs_\w+$/, 'begins with "cs_"')
    .describe('Of that key'),
  auth: z
    .enum(['header', 'query'])
    .default('header')
    .describe(
      "`query` puts the key into addresses, and so into the shop's logs: only for hosts that drop the Authorization header",
    ),
  restRoute: yesOrNo('For shops whose permalinks are set to "Plain": the API is called by `?rest_route=`'),
  webhookSecrets: webhookSecrets(secret, 'needs the secret of the webhooks').describe(
    "The webhooks' secret; two while it is being rotated. `setup` gives the first one to the webhooks that it makes",
  ),
  statuses: z
    .array(status)
    .min(1)
    .default(['completed'])
    .describe('An order with one of these statuses counts as closed. Plugins add statuses, like `delivered`'),
  skipRefunded: z
    .enum(['fully', 'partly', 'never'])
    .default('fully')
    .describe('Which refunds exclude an order: of the whole sum, of any part, or none'),
  skipVirtual: yesOrNo('Excludes orders of nothing but downloads and services'),
  giftCards: z
    .array(z.union([z.int().positive(), z.string().min(1)]).transform(String))
    .default([])
    .describe(
      'Products (ids or SKUs) that are gift cards: an order of nothing else is excluded. WooCommerce itself has no gift cards',
    ),
  withoutContact: yesOrNo(
    'Orders without e-mail address and phone number count too: for campaigns whose customers are known by something else',
  ),
  testMeta: z
    .record(z.string().min(1), z.string())
    .default({ _wcpay_mode: 'test' })
    .describe('Orders with any of these meta data are tests. Default: what WooPayments leaves in its test mode'),
  languageMeta: z
    .array(z.string().min(1))
    .default(['wpml_language'])
    .describe("Meta data that hold the language of an order, first found. Default: WPML's"),
  watchEvery: Duration.prefault('1h').describe(
    'How often the poll checks the webhooks, which takes one call: the shop silently disables a webhook after seven failures in a row. Until the next check only the poll finds the orders of that webhook',
  ),
  writeBack,
});

export type WooCommerceSettings = z.output<typeof settings>;

/** The path of a call, like `/wp-json/wc/v3/orders?include=1`, in the form that the shop takes. */
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
