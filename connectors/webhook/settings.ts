import { z } from 'zod';
import { secret as plainSecret, webhookSecrets } from '../../core/connector/settings.ts';
import { isStandardSecret } from '../../core/connector/standard-webhook.ts';
import { ExpressionSource } from '../../core/mapping/expression-source.ts';

const standardSecret = z
  .string()
  .refine(
    isStandardSecret,
    "must be whsec_ and the base64 of 24 to 64 random bytes, or a sender's public key (whpk_…)",
  );

const secrets = <S extends z.ZodType>(secret: S) => webhookSecrets(secret, 'needs a secret');

/** An HTTP header, in small letters as the intake hands them on. */
const header = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/, 'the name of a header')
  .transform((name) => name.toLowerCase());

const expression = ExpressionSource.meta({ description: "JSONata over the event's body" });

const signature = z
  .discriminatedUnion('kind', [
    z.strictObject({
      /** Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`, or the same as `svix-…`. */
      kind: z.literal('standard'),
      secrets: secrets(standardSecret),
    }),
    z.strictObject({
      /** An HMAC of the body in a header. Without `timestampHeader` nothing but the event's id keeps a repetition away. */
      kind: z.literal('hmac'),
      header,
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
      encoding: z.enum(['hex', 'base64']).default('hex'),
      /** What stands before the digest: `sha256=`. */
      prefix: z.string().max(40).default(''),
      secrets: secrets(plainSecret),
      /** Holds whole seconds since 1970. Signed is then `<timestamp>.<body>`, and five minutes from here is too far. */
      timestampHeader: header.optional(),
    }),
    z.strictObject({
      /** The same secret in every delivery. Weak: who has seen one delivery can send any other. */
      kind: z.literal('token'),
      header,
      /** The whole value of the header: `Bearer …`, `Basic …`, or the bare secret. */
      secrets: secrets(plainSecret),
    }),
  ])
  .describe('How deliveries prove where they come from');

/** What is assumed of the Feedback service's survey events, whose shape its specification doesn't show (design.md). */
const survey = z.strictObject({
  /** One in which every question was left out has nothing to write. */
  when: expression.default('type = "survey.completed" and $not(data.answers = [])'),
  /** The feedback request, as the service numbers it. */
  request: expression.default('data.appeal'),
  /** An object: question id → answer. */
  answers: expression.default('$merge(data.answers.{$string(question): answer})'),
});

const event = z
  .strictObject({
    /** Names the event, the same at each of its deliveries. Left out: the id that Standard Webhooks sign, else the body itself. */
    id: expression.optional(),
    /** When it happened: ISO 8601 with Z or an offset. Where it finds nothing: when it came. The newest telling counts. */
    at: expression.default('timestamp'),
    /** What the trace calls it. */
    type: expression.default('type'),
    /** The record's id at the sender. */
    record: expression.optional(),
    /** True: the record is closed, and the event holds all there is to know of it. */
    closed: expression.optional(),
    /** True: the record is open again, cancelled, refunded, deleted: nobody is asked about it any more. */
    changed: expression.optional(),
    /** When the record closed, which also names this closing. Left out: `at`, so that each such event is one. */
    closedAt: expression.optional(),
    /** The person who would be asked, as the sender names them: finds what to erase. 0 is nobody; find nothing for other guests. */
    person: expression.optional(),
    /**
     * All their e-mail addresses and phone numbers, a text or a list: who is to be forgotten by one of them is forgotten by all.
     * Left out: what rules ask by finds them, and what stands beside it in the same object.
     */
    contacts: expression.optional(),
    /** Their IANA zone, and language (BCP 47). */
    timeZone: expression.optional(),
    locale: expression.optional(),
    /** What rules and fields see of the record: an object. */
    shape: expression.default('$'),
    /** A grade that was given at the sender, for an external campaign. */
    graded: z
      .strictObject({ when: expression, grade: expression.optional(), comment: expression.optional() })
      .optional(),
    /** A person is to be forgotten: found by `record`, `person` and these contacts. */
    erase: z.strictObject({ when: expression, contacts: expression.optional() }).optional(),
    survey: survey.optional(),
  })
  .refine(({ closed, graded, erase, survey }) => [closed, graded, erase, survey].some((one) => one !== undefined), {
    path: ['closed'],
    error: 'is missing: no event would start anything (closed, graded, survey or erase)',
  })
  .refine(({ record, closed, changed, graded }) => record !== undefined || !(closed ?? changed ?? graded), {
    path: ['record'],
    error: 'is missing: it finds the id of the record',
  })
  .describe('What an event means');

/** Nothing in it but an address; no name and password, which fetch refuses. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return ['https:', 'http:'].includes(protocol) && username + password + hash === '';
}

const writeBack = z
  .strictObject({
    url: z.string().refine(isPlainUrl, 'https://host/path, without a name, a password or a #'),
    /** Signs what is sent (Standard Webhooks): `whsec_…`; two while rotating, and both sign. */
    secrets: secrets(
      z
        .string()
        .refine(
          (text) => isStandardSecret(text) && !text.startsWith('whpk_'),
          'must be whsec_ and the base64 of 24 to 64 random bytes',
        ),
    ),
    /** Addresses inside a network (10.…, 192.168.…, this machine, cloud metadata) are refused without it. Allows http, too. */
    allowPrivate: z.boolean().default(false),
    /** Personal data beside the grade. */
    include: z.array(z.enum(['comment', 'answers'])).default(['comment', 'answers']),
    /** Sends `feedback.unanswered` when a journey expires. */
    noAnswer: z.boolean().default(false),
  })
  .refine(({ url, allowPrivate }) => allowPrivate || !url.startsWith('http:'), {
    path: ['url'],
    error: 'must be https; http needs allowPrivate',
  })
  .describe('Where answers are posted to, signed');

/** Any system that can send a webhook. */
export const settings = z
  .strictObject({
    signature,
    event,
    writeBack: writeBack.optional(),
    /** Bodies of events as the sender writes them: `closeloop check` tries the expressions and the rules on them. */
    samples: z.array(z.record(z.string(), z.unknown())).max(20).default([]),
  })
  .refine(({ signature, event }) => signature.kind !== 'token' || event.id !== undefined, {
    path: ['event', 'id'],
    error: 'is missing: with a token nothing else tells a repetition from a new event',
  });

export type WebhookSettings = z.output<typeof settings>;
