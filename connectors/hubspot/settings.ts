import { z } from 'zod';
import { isSafeAddress, isTimeZone } from '../../core/address.ts';
import {
  answerPlaces,
  noAnswerNeeds,
  numericId,
  oneKindOfCredentials,
  ownPlaces,
  secret,
  webhookSecrets,
} from '../../core/connector/settings.ts';

const PropertyName = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z0-9_]*$/, "a property's internal name: small letters, digits and _ (not its label)");

const Zone = z.string().refine(isTimeZone, 'an IANA time zone, like Europe/Tallinn').optional();
const PerCall = z.int().min(1).max(100).default(50);
const BaseUrl = z
  .string()
  .refine((text) => isSafeAddress(text), 'an https address (http only for this machine)')
  .transform((url) => url.replace(/\/+$/, ''))
  .default('https://api.hubapi.com');
const Objects = z
  .array(z.enum(['ticket', 'deal']))
  .min(1)
  .default(['ticket']);
const Filter = z.array(z.string().min(1)).min(1).optional();

const fields = z.strictObject({
  accessToken: secret
    .optional()
    .describe('The access token (`pat-…`) of an app with static auth, which lives in one account and never expires'),
  clientId: secret
    .optional()
    .describe(
      "An app with OAuth instead: its client id and secret, and the refresh token from connecting the account. HubSpot may replace the token at any refresh; closeloop's vault stores the newest. Each source needs a token of its own: two sources with the same one would invalidate it for each other",
    ),
  clientSecret: secret.optional().describe('With clientId'),
  refreshToken: secret.optional().describe('With clientId'),
  webhookSecrets: webhookSecrets(secret, "needs the app's client secret").describe(
    "The app's client secret, which signs its webhooks; two while it is being rotated",
  ),
  appId: numericId
    .optional()
    .describe("The app's id, by which its own writes are recognised. Default: the app that the event was delivered to"),
  developerApiKey: secret
    .optional()
    .describe(
      "The developer key of a legacy public app: with it `check` sees the app's webhooks and `setup` makes them. HubSpot shows no other app's webhooks to anybody but its owner",
    ),
  portalId: numericId.optional().describe("The account (Hub ID). Given, other accounts' events are left out"),
  publicUrl: z
    .url()
    .optional()
    .describe("The webhook's target URL exactly as HubSpot has it, where it isn't this source's public address"),
  timeZone: Zone.describe(
    "The account's IANA zone: a used-up daily quota returns at its midnight. Left out: try again hourly",
  ),
  objects: Objects.describe('Closings of what lead to questions'),
  pipelines: Filter.describe('Ids. Given, records of other pipelines never ask'),
  stages: Filter.describe('Ids of closed stages. Given, records in other closed stages never ask'),
  contactLabel: z.int().positive().optional().describe('Association type id of the label of the contact to ask'),
  properties: z.array(PropertyName).default([]).describe('More properties of the record for rules and fields to see'),
  contactProperties: z.array(PropertyName).default([]).describe('More properties of the contact'),
  historyPerCall: PerCall.describe(
    'The records of one read with histories of stages. HubSpot documents no limit and refuses larger reads',
  ),
  baseUrl: BaseUrl.describe("The API's address; another one for tests and stand-ins"),
  writeBack: z
    .strictObject({
      ...answerPlaces(PropertyName, {
        grade: 'a property of numbers, or a choice that has every grade',
        comment: 'a property of texts of several lines',
        answeredAt: 'a property of date and time',
        status: 'a choice with the internal values `answered` and `no_answer`',
        answers:
          "properties; texts take everything, and an answer that does not fit the type of its property lets HubSpot refuse the record's whole update",
      }),
      note: z.boolean().default(false).describe('Also a note on the record, one for each version of the answer'),
      contact: z
        .strictObject({
          grade: PropertyName.optional().describe('Takes the grade'),
          comment: PropertyName.optional().describe('Takes the comment'),
          answeredAt: PropertyName.optional().describe('Takes the time of the answer'),
        })
        .refine(...ownPlaces)
        .default({})
        .describe('Properties of the contact who was asked'),
      noAnswer: z.boolean().default(false).describe('Writes to `status` and the note also that no answer came'),
    })
    .refine(
      ...noAnswerNeeds(['status', 'note'], 'has nowhere to say it: give status (a choice property), or note: true'),
    )
    .refine(...ownPlaces)
    .prefault({})
    .describe('Where the answer goes. Each is optional; grade and comment are cleared when an answer has none'),
});

const eitherApp =
  'give accessToken (an app with static auth), or clientId, clientSecret and refreshToken (an app with OAuth); all of one and nothing of the other';

/** A HubSpot source in the configuration: one app in one HubSpot account. */
export const settings = fields.refine(
  ...oneKindOfCredentials([['accessToken'], ['clientId', 'clientSecret', 'refreshToken']], {
    ...{ none: eitherApp, mixed: eitherApp },
  }),
);

export type HubSpotSettings = z.output<typeof settings>;
