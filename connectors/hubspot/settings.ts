import { z } from 'zod';

const Loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The API's address: https, or http to this machine (tests and stand-ins). */
function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && Loopback.has(hostname));
}

const Id = z
  .union([z.int().nonnegative(), z.string().regex(/^\d+$/, 'a number, as HubSpot shows it')])
  .transform(String);

const PropertyName = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z0-9_]*$/, "a property's internal name: small letters, digits and _ (not its label)");

const Filter = z.array(z.string().min(1)).min(1).optional();

/** A HubSpot source in the configuration. One private (static token) app in one HubSpot account. */
export const settings = z.strictObject({
  /** The app's access token, `pat-…`. */
  accessToken: z.string().trim().min(1),
  /** The app's client secret, which signs its webhooks; two while it is being rotated. */
  webhookSecrets: z.array(z.string().trim().min(1)).min(1).max(2),
  /** Our app's id, to tell our own writes from other apps'. Left out: the app that the event was delivered to. */
  appId: Id.optional(),
  /** The account (Hub ID). Given, other accounts' events are left out. */
  portalId: Id.optional(),
  /** The webhook's target URL exactly as HubSpot has it, where it isn't this source's public address. */
  publicUrl: z.url().optional(),
  /** The account's IANA zone: a used-up daily quota returns at its midnight. Left out: try again hourly. */
  timeZone: z
    .string()
    .refine((zone) => isTimeZone(zone), 'an IANA time zone, like Europe/Tallinn')
    .optional(),
  objects: z
    .array(z.enum(['ticket', 'deal']))
    .min(1)
    .default(['ticket']),
  /** Ids. Given, records of other pipelines never ask. */
  pipelines: Filter,
  /** Ids of closed stages. Given, records in other closed stages never ask. */
  stages: Filter,
  /** Association type id of the label that marks the contact to ask. */
  contactLabel: z.int().positive().optional(),
  /** More properties of the record for rules and fields to see. */
  properties: z.array(PropertyName).default([]),
  /** More properties of the contact. */
  contactProperties: z.array(PropertyName).default([]),
  baseUrl: z
    .string()
    .refine(isSafeAddress, 'an https address (http only for this machine)')
    .transform((url) => url.replace(/\/+$/, ''))
    .default('https://api.hubapi.com'),
  /** The properties that take the answer. Each is optional; grade and comment are cleared when an answer has none. */
  writeBack: z
    .strictObject({
      grade: PropertyName.optional(),
      comment: PropertyName.optional(),
      answeredAt: PropertyName.optional(),
    })
    .default({}),
});

export type HubSpotSettings = z.output<typeof settings>;

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}
