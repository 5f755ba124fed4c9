import type { CountryCode } from 'libphonenumber-js/max';
import { z } from 'zod';
import { isSafeAddress } from '../../core/address.ts';
import { FeedbackSettings } from '../../core/feedback/settings.ts';
import { isSupportedCountry } from '../../core/phone-numbers.ts';
import { days } from '../../core/schedule/days.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';
import { Dashboard } from './dashboard.ts';
import { Policy } from './policy.ts';
import { channels, NamedReceivers, namesChannel, signsUrl } from './receivers.ts';
import { Reports } from './reports.ts';
import { Period, TimeOfDay } from './values.ts';
import { Webhooks } from './webhooks.ts';

/** The URL may hold a password, so no error quotes the URL. */
const RedisUrl = z
  .string()
  .regex(/^rediss?:\/\/./, { error: 'must begin with redis:// or rediss://', abort: true })
  .refine(
    (url) => /^\/?\d*$/.test(URL.parse(url)?.pathname ?? 'none'),
    'is no address like redis://user:password@host:6379/2 (in a password # is written %23, and / %2F)',
  );

const Sentinel = z.strictObject({
  name: z.string().min(1).describe('Of the master, as the sentinels call it'),
  nodes: z.array(RedisUrl).min(1).describe('Some of the sentinels, as redis://host:26379'),
  username: z.string().min(1).optional().describe('At the Redis they watch'),
  password: z.string().min(1).optional().describe('At the Redis they watch'),
  db: z.int().min(0).optional().describe('The number of the database; left out: 0'),
  tls: z.boolean().optional().describe('Of the Redis they watch; of the sentinels: rediss://'),
});

/** One server by its address or unix socket, the master that sentinels name, or a Redis Cluster by some of its nodes. */
const Redis = z.union([
  RedisUrl.transform((url) => ({ url })),
  z.strictObject({ url: RedisUrl.describe('One server: redis://user:password@host:6379/2; rediss:// with TLS') }),
  z.strictObject({ path: z.string().min(1).describe('One server by its unix socket') }),
  z.strictObject({ sentinel: Sentinel.describe('The master that sentinels name') }),
  z.strictObject({ cluster: z.array(RedisUrl).min(1).describe('Some nodes of a Redis Cluster') }),
]);

const PublicUrl = z
  .string()
  .refine(
    (text) => isSafeAddress(text, 'path'),
    'must be an https address without ? and #, like https://closeloop.example.com',
  )
  .transform((url) => url.replace(/\/+$/, ''));

const Http = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all'),
  port: z.int().min(0).max(65_535).default(8080).describe('Port to listen on; 0 for any free one'),
  publicUrl: PublicUrl.optional().describe(
    'Address vendors call, without /hooks/…: signatures cover it. Left out: http://host:port',
  ),
});

const Admin = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all'),
  port: z.int().min(0).max(65_535).optional().describe('Left out: 8081, or any free port where that is taken'),
  tokens: z
    .array(z.string().min(16, 'must have 16 characters or more'))
    .min(1)
    .max(2)
    .optional()
    .describe(
      'Who asks for /metrics has to send one of these ("Authorization: Bearer …"); two while rotating. Left out: anybody may where host is a loopback address, and nobody elsewhere',
    ),
});

/** A key of 32 bytes in base64. */
const SecretsKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 random bytes in base64 (openssl rand -base64 32)')
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

const Digest = z.strictObject({
  day: z.enum(days).default('mon').describe('On which day'),
  at: TimeOfDay.default('09:00').describe('On the clock of feedback.timeZone'),
});

const Alerts = z
  .strictObject({
    ...channels,
    receivers: NamedReceivers.optional().describe(
      'Who is told of answers, by name: `notify` of answer rules. They get no alerts',
    ),
    again: Period.prefault('24h').describe('The same alert is not sent again within this time'),
    digest: z
      .union([z.literal(false), Digest])
      .prefault({})
      .describe('Once a week: asked, answered, given up, what waits for a person, by source. false: never'),
  })
  .refine(...signsUrl)
  .refine((alerts) => alerts.receivers !== undefined || namesChannel[0](alerts), namesChannel[1]);

/** Every section but `sources`, whose settings each connector defines. Durations come out in milliseconds. */
export const General = z.strictObject({
  feedback: FeedbackSettings.describe('The account of the Feedback Collection Service'),
  redis: Redis.optional().describe(
    'Redis, Valkey, Sentinel or Redis Cluster. Left out: REDIS_URL, else the embedded default',
  ),
  http: Http.prefault({}).describe('Where deliveries come in'),
  admin: Admin.prefault({}).describe('Where every process answers /healthz, /readyz and /metrics'),
  dashboard: z
    .union([z.literal(false), Dashboard])
    .prefault({})
    .describe('Where the page for people is: how things stand, and every journey. false: nowhere'),
  secretsKey: z
    .union([SecretsKey.transform((key) => [key]), z.array(SecretsKey).min(1).max(2)])
    .optional()
    .describe(
      'Seals what is kept in Redis about people, and secrets that change: 32 random bytes in base64; while you change it: [new, earlier]. The embedded default makes its own',
    ),
  policy: Policy.prefault({}).describe('Who is asked, when and how often, over all sources: docs/policy.md'),
  alerts: Alerts.optional().describe('Who is told when a person has to act; left out: only the log'),
  webhooks: Webhooks.default([]).describe('What happens is passed on to these receivers, signed: docs/webhooks-out.md'),
  reports: Reports.optional().describe('Mails about the results, weekly and monthly: docs/mail.md'),
  poll: z
    .strictObject({
      every: Period.prefault('10m').describe('How often a source is asked what changed'),
      headStart: Duration.prefault('2m').describe(
        'A closing that a poll finds earlier than this after it happened waits: its webhook may be on its way',
      ),
    })
    .prefault({})
    .describe('Finds what the webhooks missed'),
  collect: z
    .strictObject({
      every: Period.prefault('5m').describe('How often a campaign is asked whether grades changed'),
      fullEvery: Period.prefault('24h').describe('How often its whole export is read'),
    })
    .prefault({})
    .describe('How grades are collected'),
  lookup: z
    .strictObject({ after: Duration.prefault('30s') })
    .prefault({})
    .describe('After a create of unknown outcome'),
  retry: z
    .strictObject({ for: Period.prefault('7d') })
    .prefault({})
    .describe('What fails is tried again for so long, then given up; it can be replayed'),
  retention: z
    .strictObject({ journeys: Period.prefault('400d') })
    .prefault({})
    .describe('Settled journeys, and the personal data in them, are removed after a time'),
  expireAfter: Period.prefault('14d').describe('No answer for this long: the journey has expired'),
  defaultCountry: z
    .custom<CountryCode>((code) => typeof code === 'string' && isSupportedCountry(code), 'must be a country like EE')
    .meta({ type: 'string', description: 'Country of phone numbers that are written without + or 00' })
    .optional(),
  marker: z
    .string()
    .min(1)
    .default('closeloop')
    .describe("Custom field (Text) that holds the journey's reference, in campaigns that have one of this name"),
});
