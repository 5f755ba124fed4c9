import { z } from 'zod';
import {
  httpsUnlessPrivate,
  secret as plainSecret,
  receiver,
  signingSecret,
  webhookSecrets,
  yesOrNo,
} from '../../core/connector/settings.ts';
import { isStandardSecret } from '../../core/connector/standard-webhook.ts';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';

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
const finds = (what: string) => expression.optional().describe(what);

const signature = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z
        .literal('standard')
        .describe('Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`, or the same as `svix-…`'),
      secrets: secrets(standardSecret).describe('`whsec_…`, or a public key of the sender; two while rotating'),
    }),
    z.strictObject({
      kind: z
        .literal('hmac')
        .describe("An HMAC of the body in a header. Without `timestampHeader` only the event's id stops replays"),
      header: header.describe('Holds the digest'),
      algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256').describe('Of the digest'),
      encoding: z.enum(['hex', 'base64']).default('hex').describe('Of the digest in the header'),
      prefix: z.string().max(40).default('').describe('The text before the digest: `sha256=`'),
      secrets: secrets(plainSecret).describe('Two while rotating'),
      timestampHeader: header
        .optional()
        .describe(
          'Holds whole seconds since 1970. The signed text is then `<timestamp>.<body>`, and the tolerance is five minutes',
        ),
    }),
    z.strictObject({
      kind: z
        .literal('token')
        .describe('The same secret in every delivery. Weak: whoever has seen one delivery can send others'),
      header: header.describe('Holds the token'),
      secrets: secrets(plainSecret).describe(
        'The whole value of the header: `Bearer …`, `Basic …`, or the bare secret',
      ),
    }),
  ])
  .describe('How deliveries prove where they come from');

/** The assumed shape of the Feedback service's survey events, which its specification doesn't show (design.md). */
const survey = z.strictObject({
  when: expression
    .default('type = "survey.completed" and $not(data.answers = [])')
    .describe('A survey without any answer has nothing to write'),
  request: expression.default('data.appeal').describe('The feedback request, as the service numbers it'),
  answers: expression
    .default('$merge(data.answers.{$string(question): answer})')
    .describe('An object: question id → answer'),
});

const event = z
  .strictObject({
    id: finds(
      "The event's id, the same in each of its deliveries. Left out: the signed id of Standard Webhooks, else the body",
    ),
    at: expression
      .default('timestamp')
      .describe(
        'The time of the event: ISO 8601 with Z or an offset; without a value the time of receipt. The newest event counts',
      ),
    type: expression.default('type').describe("The event's name in traces"),
    record: finds("The record's id at the sender"),
    closed: finds('True: the record is closed, and the event holds the whole record'),
    changed: finds('True: the record is open again, cancelled, refunded or deleted: its journey ends'),
    closedAt: finds(
      'The time of the closing, which also names it. Left out: `at`, so that each event is a closing of its own',
    ),
    person: finds(
      "The sender's id of the customer, by which erasures find the record. 0 counts as none; give no value for other guests",
    ),
    contacts: finds(
      'All e-mail addresses and phone numbers of the customer, a string or a list: an erasure by one of them covers all. Left out: the contacts that rules use, and the values beside them in the same object',
    ),
    timeZone: finds("The customer's IANA time zone"),
    country: finds("Of the customer's address: ISO 3166 code or English name"),
    region: finds('Its state or province, by code or name'),
    locale: finds("The customer's language (BCP 47)"),
    shape: expression.default('$').describe('The record for rules and fields: an object'),
    graded: z
      .strictObject({ when: expression, grade: expression.optional(), comment: expression.optional() })
      .optional()
      .describe('A grade that was given at the sender, for an external campaign'),
    erase: z
      .strictObject({ when: expression, contacts: expression.optional() })
      .optional()
      .describe('A person is to be forgotten, found by `record`, `person` and these contacts'),
    survey: survey
      .optional()
      .describe('Survey events of the Feedback service, sent to this source; `{}` for their assumed form'),
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

const writeBack = z
  .strictObject({
    ...receiver,
    secrets: secrets(signingSecret).describe(
      'Signs what is sent (Standard Webhooks): `whsec_…`; two while rotating, and both sign',
    ),
    include: z
      .array(z.enum(['comment', 'answers']))
      .default(['comment', 'answers'])
      .describe('Personal data beside the grade'),
    noAnswer: yesOrNo('Sends `feedback.unanswered` when a journey expires'),
  })
  .refine(...httpsUnlessPrivate)
  .describe('Where answers are posted to, signed');

/** A webhook source in the configuration: any system that can send webhooks. */
export const settings = z
  .strictObject({
    signature,
    event,
    writeBack: writeBack.optional(),
    samples: z
      .array(z.record(z.string(), z.unknown()))
      .max(20)
      .default([])
      .describe("Bodies of the sender's events, on which `closeloop check` tries the expressions and the rules"),
  })
  .refine(({ signature, event }) => signature.kind !== 'token' || event.id !== undefined, {
    path: ['event', 'id'],
    error: 'is missing: with a token nothing else tells a repetition from a new event',
  });

export type WebhookSettings = z.output<typeof settings>;
