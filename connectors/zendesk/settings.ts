import { z } from 'zod';
import { takesAnswers } from '../../core/connector/answer.ts';
import {
  answerPlaces,
  noAnswerNeeds,
  numericId,
  oneKindOfCredentials,
  secret,
  standinOrigin,
  webhookSecrets,
} from '../../core/connector/settings.ts';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';

/** The secret of "Test webhook" before a webhook exists. The secret is public, so it proves nothing. */
const publicTestSecret = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==';
const notPublic = "is Zendesk's public test secret: take the webhook's own (Admin Center > Webhooks > Reveal secret)";

/** A ticket field: its id, or its exact title as agents see it. */
const fieldRef = z.union([numericId, z.string().trim().min(1, 'is empty').max(255)]);

/** The key of a user field or of a custom object or its field (Admin Center shows it as "Field key"). */
const key = z.string().regex(/^[A-Za-z][\w-]{0,99}$/, 'a key, like "last_grade"');
const grade = z.string().regex(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/, 'a grade, like "9" or "4.5"');
const text = z.string().min(1);
const flag = z.boolean().default(false);

/** The fields for the parts of an answer, each optional. */
const keys = {
  grade: key.optional().describe('Takes the grade'),
  comment: key.optional().describe('Takes the comment'),
  answeredAt: key.optional().describe('Takes the time of the answer'),
};
const statuses = { answered: text.describe('That an answer came'), noAnswer: text.describe('That none came') };
const customObject = {
  object: key.describe('The key of the object'),
  ...keys,
  ticket: key.optional().describe('Takes the id of the ticket'),
};
const atLeastOne = (value: object): boolean => Object.values(value).some((one) => one !== undefined);

const takes = {
  grade: 'a ticket field by its id or title: integer, decimal, text, dropdown, multi-select or checkbox',
  comment: 'a ticket field: text or multi-line',
  answeredAt: 'a ticket field: date (the day, UTC) or text (ISO 8601, UTC)',
  status: 'a ticket field: text or dropdown; what it says is in `statusValues`',
  answers: 'ticket fields; lists fit into text and multi-select fields',
};
const says = {
  gradeValues:
    "Grade → the option's tag for a dropdown, 'true' or 'false' for a checkbox. A grade that isn't listed becomes its own digits in a dropdown; a checkbox is then ticked by any grade above 0",
  statusValues:
    'Left out: "answered" and "no answer" in a text field, the tags `fb_answered` and `fb_no_answer` in a dropdown',
  note: 'Adds an internal note with the answer. Never public: a public comment is mailed to the customer',
  tags: 'Adds the tags `fb_answered` and `fb_grade_<n>`; `fb_no_answer` with `noAnswer`',
  userFields:
    "Keys of user fields for the requester's newest answer, made by `setup` where missing. Needs the scope `users:write`",
  whenClosed:
    'The places for an answer whose ticket is closed, in order; if none takes the answer, closeloop keeps it and parks the journey. ' +
    '`edit`: the ticket itself, without a note; needs "Modify closed ticket" (Admin Center > Objects and rules > Tickets > ' +
    'Settings) and an admin as the integration user, and changes what reports say of the past. ' +
    "`userFields`: the requester's fields above. `customObject`: a record of the object below",
  customObject:
    'One record per ticket, with `ticket-<id>` as its external id. Needs the scope `write`. The object and its fields: by their keys, and made by `setup` where they are missing',
  subdomain: '`acme` of acme.zendesk.com, also where customers see another address',
  clientId:
    'An OAuth client of kind "Confidential" that belongs to a service user (Admin Center > APIs > OAuth clients)',
  email: 'Legacy: Zendesk creates no API tokens any more and refuses all of them from 2027-04-30',
  toleranceSeconds: "The tolerance for the time in a delivery's signature, in both directions",
  integrationUserId:
    "The user that the OAuth client or token acts as: marks closeloop's own changes in the log. Other software may act as the same user",
  csat: 'Zendesk\'s own satisfaction ratings become grades of the external campaign of the ticket\'s rule; `{}` for the usual. The webhook has to be subscribed to "CSAT received" (`setup` does it)',
};

const writeBack = z
  .strictObject({
    ...answerPlaces(fieldRef, takes),
    gradeValues: z.record(grade, text).default({}).describe(says.gradeValues),
    statusValues: z.strictObject(statuses).optional().describe(says.statusValues),
    note: flag.describe(says.note),
    tags: flag.describe(says.tags),
    userFields: z.strictObject(keys).refine(atLeastOne, 'names no field').optional().describe(says.userFields),
    noAnswer: flag.describe('Writes to `status` and `tags` also that no answer came'),
    whenClosed: z
      .array(z.enum(['edit', 'userFields', 'customObject']))
      .refine((steps) => new Set(steps).size === steps.length, 'names one twice')
      .default([])
      .describe(says.whenClosed),
    customObject: z
      .strictObject(customObject)
      .refine(({ object, ...fields }) => atLeastOne(fields), 'names no field')
      .optional()
      .describe(says.customObject),
  })
  .refine(({ whenClosed, userFields }) => userFields !== undefined || !whenClosed.includes('userFields'), {
    path: ['userFields'],
    error: 'is missing: whenClosed names it',
  })
  .refine(({ whenClosed, customObject }) => (customObject !== undefined) === whenClosed.includes('customObject'), {
    path: ['customObject'],
    error: 'belongs to whenClosed: [customObject], and needs it',
  })
  .refine(...noAnswerNeeds(['status', 'tags'], 'has nowhere to go: name a `status` field, or set `tags`'))
  .prefault({})
  .describe('Where the answer goes; each is optional');

const expression = ExpressionSource.meta({ description: 'JSONata over the delivery' });

/**
 * Settings of Zendesk's ratings. Zendesk documents the name of the event but not its content: the places of score and comment are assumptions,
 * and configurable. A score of the newer CSAT is a number, and is the grade itself.
 */
export const csatSettings = z.strictObject({
  good: z.number().default(5).describe('The grade, in the external campaign, of the classic score "good"'),
  bad: z.number().default(1).describe('The grade of the classic score "bad"'),
  score: expression.default(
    '[event.satisfaction_score.score, event.satisfaction_score, event.current.score, event.current][$type($) in ["string", "number"]][0]',
  ),
  comment: expression.default(
    '[event.satisfaction_score.comment, event.current.comment, event.comment][$type($) = "string"][0]',
  ),
});

const hookSecret = secret.refine((text) => text !== publicTestSecret, notPublic);
const credentials = {
  none: 'is missing: give clientId and clientSecret of an OAuth client',
  mixed:
    'give clientId and clientSecret, or (legacy) email and apiToken; both parts of one pair and nothing of the other',
};

/** A Zendesk source in the configuration: one Zendesk Support account. */
export const settings = z
  .strictObject({
    subdomain: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'only the first part of the address, like "acme" of acme.zendesk.com')
      .describe(says.subdomain),
    clientId: secret.optional().describe(says.clientId),
    clientSecret: secret.optional().describe('With clientId'),
    scope: secret.optional().describe('What the token may do; one string. Left out: what `writeBack` needs'),
    email: z.email().optional().describe(says.email),
    apiToken: secret.optional().describe('With email'),
    webhookSecrets: webhookSecrets(hookSecret, 'needs the signing secret of the webhook').describe(
      "The webhook's signing secret; two while it is being rotated",
    ),
    toleranceSeconds: z.int().min(60).default(900).describe(says.toleranceSeconds),
    accountId: numericId.optional().describe("The account's number. Given, other accounts' events are left out"),
    integrationUserId: numericId.optional().describe(says.integrationUserId),
    csat: csatSettings.optional().describe(says.csat),
    ...{ baseUrl: standinOrigin, writeBack },
  })
  .refine(
    ...oneKindOfCredentials(
      [
        ['clientId', 'clientSecret'],
        ['email', 'apiToken'],
      ],
      credentials,
    ),
  );

export type ZendeskSettings = z.output<typeof settings>;

/** The API's address, built from the checked subdomain, and never from anything in a delivery or a response. */
export function addressOf({ subdomain, baseUrl }: Pick<ZendeskSettings, 'subdomain' | 'baseUrl'>): string {
  return baseUrl ?? `https://${subdomain}.zendesk.com`;
}

/** Whether a place in Zendesk takes answers: the ticket, the requester or a custom object. */
export function writesAnswers({ writeBack }: Pick<ZendeskSettings, 'writeBack'>): boolean {
  return takesAnswers(writeBack) || writeBack.userFields !== undefined || writeBack.customObject !== undefined;
}

/** The smallest scope that a token needs. Custom objects have no scope of their own. */
export function scopeOf({ scope, writeBack }: Pick<ZendeskSettings, 'scope' | 'writeBack'>): string {
  if (scope !== undefined) return scope;
  if (writeBack.customObject !== undefined) return 'read write';
  return writeBack.userFields === undefined ? 'read tickets:write' : 'read tickets:write users:write';
}
