import { z } from 'zod';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { oneKindOfCredentials, secret, standinOrigin, yesOrNo } from '../../core/connector/settings.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';

/** The API version of every call, available until 2027-10-16. Shopify answers calls in an ended version from the oldest available version. */
export const apiVersion = '2026-10';

const key = z.string().regex(/^[A-Za-z0-9_-]{2,64}$/, 'the key of a metafield: 2 to 64 letters, digits, _ and -');
const namespace = z
  .string()
  .regex(/^(\$app(:[A-Za-z0-9_-]+)?|[A-Za-z0-9_-]{3,255})$/, 'a namespace of metafields, like "$app" or "custom"')
  .default('$app');
const writeBack = deskWriteBack(key, {
  takes: 'the key of an order metafield',
  note: "Adds a line to the order's note, which staff see. An edit of the note at the same instant would be lost",
  commentLength: { most: 10_000, initial: 10_000 },
})
  .unwrap()
  .safeExtend({
    namespace: namespace.describe(
      'Namespace of these metafields. `$app`: our own, which only this app may write; the merchant sees it. Another one (`custom`) belongs to the merchant',
    ),
    tags: yesOrNo('Adds the tags `fb_answered` and `fb_grade_<n>`'),
    noAnswer: yesOrNo('Writes `no answer` to `status`, and the tag `fb_no_answer`, when a journey expires'),
  })
  .prefault({})
  .describe('Where the answer goes; each is optional');

const noComma = z.string().regex(/^[^,]*$/, 'holds a comma, which would make two tags of it');
const tags = z.array(noComma.trim().min(1).max(40)).min(1);

/** The tags that an answer rule adds: a list is for the order; else order and customer each have a list of their own. */
export const TagAction = z
  .union([
    tags,
    z.strictObject({
      order: tags.optional().describe('Tags to add to the order'),
      customer: tags.optional().describe('Tags to add to its customer, which needs the scope `write_customers`'),
    }),
  ])
  .describe('Tags to add to the order, or, with `order` and `customer`, to each its own');

const shop = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*\.myshopify\.com$/, 'the permanent address of the shop, like "acme.myshopify.com"');
const secrets = z.array(secret).min(1, "needs the app's client secret").max(4);
const trigger = z.enum(['fulfilled', 'delivered', 'paid']).default('delivered');
const metafield = z.string().regex(/^[\w$:-]+\.[A-Za-z0-9_-]{2,64}$/, '"namespace.key" of a metafield');

const include = z.strictObject({
  pointOfSale: yesOrNo('Sales in a shop', true),
  drafts: yesOrNo('Orders that staff wrote: invoices, orders by phone', true),
  partlyRefunded: yesOrNo('Orders of which a part was paid back', true),
  withoutContact: yesOrNo('Orders with neither e-mail nor phone: only for campaigns that ask by identifier'),
});

const either = 'give accessToken, or clientId and clientSecret';

/** A Shopify source in the configuration: one shop, and one app installed in it. */
export const settings = z
  .strictObject({
    shop: shop.describe('The permanent address, `acme.myshopify.com`, also where customers see another one'),
    accessToken: secret
      .optional()
      .describe('The token of a custom app, `shpat_…`: made before 2026, they go on working'),
    clientId: secret
      .optional()
      .describe("Or: client id and secret of an app of the shop's own organisation (Dev Dashboard > app > Settings)"),
    clientSecret: secret.optional().describe('With clientId'),
    webhookSecrets: secrets.describe(
      "What signs the webhooks: the app's client secret; the older one too for an hour after a rotation; and the key shown under Settings > Notifications for webhooks made by hand",
    ),
    trigger: trigger.describe(
      'When an order counts as closed: `paid`; `fulfilled`, when it was handed to the carrier; `delivered`, when it arrived. What needs no carrier (downloads, sales in a shop) is delivered when it is fulfilled',
    ),
    parcels: z
      .enum(['first', 'all'])
      .default('all')
      .describe('Several parcels, one request: when the `first` one is on its way or there, or `all` of them'),
    deliveredWithin: Duration.prefault('7d').describe(
      'Not every carrier reports deliveries: a parcel counts as delivered this long after it was handed over',
    ),
    include: include
      .prefault({})
      .describe('Further orders that count. Test orders, cancelled and refunded ones and gift cards never do'),
    metafields: z
      .array(metafield)
      .max(10)
      .default([])
      .describe('More metafields for rules and fields to see: `custom.branch` is order.metafields.`custom.branch`'),
    webhooks: yesOrNo(
      "Are the webhooks made by `setup` and watched by the poll? `false`: they are declared in the app's shopify.app.toml, or made by hand, and the API doesn't show them",
      true,
    ),
    watchEvery: Duration.prefault('1d').describe(
      'How often the poll checks the webhooks: Shopify removes one whose deliveries failed for four hours',
    ),
    baseUrl: standinOrigin,
    writeBack,
  })
  .refine(
    ...oneKindOfCredentials([['accessToken'], ['clientId', 'clientSecret']], {
      ...{ none: `is missing: ${either}`, mixed: `${either}: one of the two, whole` },
    }),
  );

export type ShopifySettings = z.output<typeof settings>;

/** The API's address, built from the checked shop, and never from anything in a delivery or a response. */
export function addressOf({ shop, baseUrl }: Pick<ShopifySettings, 'shop' | 'baseUrl'>): string {
  return baseUrl ?? `https://${shop}`;
}
