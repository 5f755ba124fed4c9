import { z } from 'zod';
import { answerPlaces, oneKindOfCredentials, secret, standinOrigin } from '../../core/connector/settings.ts';
import { Duration } from '../../core/schedule/duration.ts';

/** The version every call is made in: reachable until 2027-10-16. Shopify answers calls in a dead one from the oldest live one. */
export const apiVersion = '2026-10';

const key = z.string().regex(/^[A-Za-z0-9_-]{2,64}$/, 'the key of a metafield: 2 to 64 letters, digits, _ and -');

const writeBack = z
  .strictObject({
    /**
     * Namespace of the metafields below. `$app`: our own, which only this app may write; the merchant sees it. Another one
     * (`custom`) belongs to the merchant.
     */
    namespace: z
      .string()
      .regex(/^(\$app(:[A-Za-z0-9_-]+)?|[A-Za-z0-9_-]{3,255})$/, 'a namespace of metafields, like "$app" or "custom"')
      .default('$app'),
    /** Keys of order metafields; their types are in answer.ts. `status` says "answered" or "no answer". */
    ...answerPlaces(key),
    /** Adds the tags `fb_answered` and `fb_grade_<n>`; `fb_no_answer` with `noAnswer`. */
    tags: z.boolean().default(false),
    /** Adds a line to the order's note, which staff see. An edit of the note at the same instant would be lost. */
    note: z.boolean().default(false),
    /** Writes to `status` and `tags` also that no answer came. */
    noAnswer: z.boolean().default(false),
  })
  .prefault({});

/** A Shopify source in the configuration: one shop, and one app installed in it. */
export const settings = z
  .strictObject({
    /** The permanent address, `acme.myshopify.com`, also where customers see another one. */
    shop: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]*\.myshopify\.com$/, 'the permanent address of the shop, like "acme.myshopify.com"'),
    /** The token of a custom app, `shpat_…`: made before 2026, they go on working. */
    accessToken: secret.optional(),
    /** Or: client id and secret of an app of the shop's own organisation (Dev Dashboard > app > Settings). */
    clientId: secret.optional(),
    clientSecret: secret.optional(),
    /**
     * What signs the webhooks: the app's client secret; the older one too for an hour after a rotation; and the key shown under
     * Settings > Notifications for webhooks made by hand.
     */
    webhookSecrets: z.array(secret).min(1, "needs the app's client secret").max(4),
    /**
     * When an order counts as closed: `paid`; `fulfilled`, when it was handed to the carrier; `delivered`, when it arrived. What
     * needs no carrier (downloads, sales in a shop) is delivered when it is fulfilled.
     */
    trigger: z.enum(['fulfilled', 'delivered', 'paid']).default('delivered'),
    /** Several parcels, one request: when the `first` one is on its way or there, or `all` of them. */
    parcels: z.enum(['first', 'all']).default('all'),
    /** Not every carrier reports deliveries: a parcel counts as delivered this long after it was handed over. */
    deliveredWithin: Duration.prefault('7d'),
    /** Further orders that count. Test orders, cancelled and refunded ones and gift cards never do. */
    include: z
      .strictObject({
        /** Sales in a shop. */
        pointOfSale: z.boolean().default(true),
        /** Orders that staff wrote: invoices, orders by phone. */
        drafts: z.boolean().default(true),
        partlyRefunded: z.boolean().default(true),
        /** Orders with neither e-mail nor phone: only for campaigns that ask by identifier. */
        withoutContact: z.boolean().default(false),
      })
      .prefault({}),
    /** More metafields of the order for rules and fields to see: `custom.branch` is order.metafields.`custom.branch`. */
    metafields: z
      .array(z.string().regex(/^[\w$:-]+\.[A-Za-z0-9_-]{2,64}$/, '"namespace.key" of a metafield'))
      .max(10)
      .default([]),
    /**
     * Are the webhooks made by `setup` and watched by the poll? `false`: they are declared in the app's shopify.app.toml, or made by
     * hand, and the API doesn't show them.
     */
    webhooks: z.boolean().default(true),
    /** How often the poll checks the webhooks: Shopify removes one whose deliveries failed for four hours. */
    watchEvery: Duration.prefault('1d'),
    /** Tests and stand-ins only. */
    baseUrl: standinOrigin,
    writeBack,
  })
  .refine(
    ...oneKindOfCredentials([['accessToken'], ['clientId', 'clientSecret']], {
      none: 'is missing: give accessToken, or clientId and clientSecret',
      mixed: 'give accessToken, or clientId and clientSecret: one of the two, whole',
    }),
  );

export type ShopifySettings = z.output<typeof settings>;

/** The API's address. Built from the checked shop, never from anything that a delivery or an answer supplies. */
export function addressOf({ shop, baseUrl }: Pick<ShopifySettings, 'shop' | 'baseUrl'>): string {
  return baseUrl ?? `https://${shop}`;
}
