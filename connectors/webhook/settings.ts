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

/** An HTTP header, in lower case as in deliveries. */
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
      /** An HMAC of the body in a header. Without `timestampHeader` only the event's id stops replays. */
      kind: z.literal('hmac'),
      header,
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
      encoding: z.enum(['hex', 'base64']).default('hex'),
      /** The text before the digest: `sha256=`. */
      prefix: z.string().max(40).default(''),
      secrets: secrets(plainSecret),
      /** Holds whole seconds since 1970. The signed text is then `<timestamp>.<body>`, and the tolerance is five minutes. */
      timestampHeader: header.optional(),
    }),
    z.strictObject({
      /** The same secret in every delivery. Weak: whoever has seen one delivery can send others. */
      kind: z.literal('token'),
      header,
      /** The whole value of the header: `Bearer …`, `Basic …`, or the bare secret. */
      secrets: secrets(plainSecret),
    }),
  ])
  .describe('How deliveries prove where they come from');

/** The assumed shape of the Feedback service's survey events, which its specification doesn't show (design.md). */
const survey = z.strictObject({
  /** A survey without any answer has nothing to write. */
  when: expression.default('type = "survey.completed" and $not(data.answers = [])'),
  /** The feedback request, as the service numbers it. */
  request: expression.default('data.appeal'),
  /** An object: question id → answer. */
  answers: expression.default('$merge(data.answers.{$string(question): answer})'),
});

const event = z
  .strictObject({
    /** The event's id, the same in each of its deliveries. Left out: the signed id of Standard Webhooks, else the body. */
    id: expression.optional(),
    /** The time of the event: ISO 8601 with Z or an offset; without a value the time of receipt. The newest event counts. */
    at: expression.default('timestamp'),
    /** The event's name in traces. */
    type: expression.default('type'),
    /** The record's id at the sender. */
    record: expression.optional(),
    /** True: the record is closed, and the event holds the whole record. */
    closed: expression.optional(),
    /** True: the record is open again, cancelled, refunded or deleted: its journey ends. */
    changed: expression.optional(),
    /** The time of the closing, which also names it. Left out: `at`, so that each event is a closing of its own. */
    closedAt: expression.optional(),
    /** The sender's id of the customer, by which erasures find the record. 0 counts as none; give no value for other guests. */
    person: expression.optional(),
    /**
     * All e-mail addresses and phone numbers of the customer, a string or a list: an erasure by one of them covers all.
     * Left out: the contacts that rules use, and the values beside them in the same object.
     */
    contacts: expression.optional(),
    /** The customer's IANA zone and language (BCP 47). */
    timeZone: expression.optional(),
    locale: expression.optional(),
    /** The record for rules and fields: an object. */
    shape: expression.default('$'),
    /** A grade that was given at the sender, for an external campaign. */
    graded: z
      .strictObject({ when: expression, grade: expression.optional(), comment: expression.optional() })
      .optional(),
    /** A person is to be forgotten, found by `record`, `person` and these contacts. */
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

/** A URL without name and password (which fetch refuses) and without a fragment. */
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
    /** Allows private addresses (10.…, 192.168.…, this machine, cloud metadata), and http. */
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
    /** Bodies of the sender's events, on which `closeloop check` tries the expressions and the rules. */
    samples: z.array(z.record(z.string(), z.unknown())).max(20).default([]),
  })
  .refine(({ signature, event }) => signature.kind !== 'token' || event.id !== undefined, {
    path: ['event', 'id'],
    error: 'is missing: with a token nothing else tells a repetition from a new event',
  });

export type WebhookSettings = z.output<typeof settings>;
