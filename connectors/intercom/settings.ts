import { z } from 'zod';
import { deskWriteBack } from '../../core/connector/desk/settings.ts';
import { numericId, secret, standinOrigin, webhookSecrets } from '../../core/connector/settings.ts';

const attribute = z.string().trim().min(1, 'is empty').max(190);

const writeBack = deskWriteBack(attribute, {
  takes: 'the name of an attribute, of conversations and of ticket types alike; `setup` makes it where it is missing',
  note: 'Adds an internal note with the whole answer: one more call per answer',
  commentLength: { most: 10_000, initial: 1_000 },
});
const tickets = z
  .enum(['ticket', 'conversation'])
  .default('ticket')
  .describe(
    "Whose attributes take the answers about tickets: the ticket's, or the conversation's (one call less, and no ticket is reopened)",
  );

/** An Intercom source in the configuration: one workspace, through a private app in it. */
export const settings = z.strictObject({
  workspace: z
    .string()
    .regex(/^[a-z0-9]{4,20}$/, 'the id of the workspace, like "k7p2m4xq"')
    .describe("The workspace's id, as in the address of its Inbox: only its events are taken"),
  region: z.enum(['us', 'eu', 'au']).default('us').describe('Where Intercom hosts the workspace'),
  accessToken: secret.describe('Of the private app (Developer Hub > Authentication)'),
  webhookSecrets: webhookSecrets(secret, "needs the app's client secret").describe(
    "The app's client secret (Developer Hub > Basic Information), which signs its webhooks; two while it is being replaced",
  ),
  webhookUrl: z
    .url()
    .optional()
    .describe("The URL of the app's webhooks in the Developer Hub. Set it when the list of `setup` is done there"),
  adminId: numericId.describe(
    'A teammate for closeloop alone, as whom it writes. Closings and reopenings by this teammate are ignored',
  ),
  appPackageCode: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The app's package code in the parts that it creates: such parts are closeloop's, whoever their author is",
    ),
  ticketCategories: z
    .array(z.enum(['Customer', 'Back-office', 'Tracker']))
    .default(['Customer'])
    .describe(
      'Tickets of these categories lead to questions. Empty: no ticket does, and the token needs no permission for tickets',
    ),
  ticketIsClosed: z
    .enum(['resolved', 'closed', 'either'])
    .default('either')
    .describe('A ticket can be resolved without being closed, and closed without being resolved'),
  closedByBots: z
    .enum(['ask', 'skip'])
    .default('ask')
    .describe('What a conversation that a bot or a workflow closed leads to'),
  skipContacts: z
    .array(z.enum(['unsubscribed', 'bounced', 'spam']))
    .default(['unsubscribed', 'bounced', 'spam'])
    .describe('Contacts with any of these marks are not asked'),
  ratings: z
    .boolean()
    .default(false)
    .describe("Intercom's own ratings become grades of the external campaign of the conversation's rule"),
  eraseArchived: z.boolean().default(false).describe('A contact who is archived is forgotten as well'),
  baseUrl: standinOrigin,
  writeBack: writeBack
    .unwrap()
    .safeExtend({ tickets })
    .prefault({})
    .describe('Where the answer goes; each is optional'),
});
export type IntercomSettings = z.output<typeof settings>;
