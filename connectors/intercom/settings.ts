import { z } from 'zod';
import {
  answerPlaces,
  noAnswerNeeds,
  numericId,
  secret,
  standinOrigin,
  webhookSecrets,
} from '../../core/connector/settings.ts';

const attribute = z.string().trim().min(1, 'is empty').max(190);

const writeBack = z
  .strictObject({
    /** Attributes by their names, of conversations and of ticket types alike; `setup` makes them where they are missing. */
    ...answerPlaces(attribute),
    /** Longer comments are cut; Intercom documents no limit. */
    commentLength: z.int().min(50).max(10_000).default(1_000),
    /** Adds an internal note with the whole answer: one more call per answer. */
    note: z.boolean().default(false),
    /** Writes `no-answer` into `status` when a journey expires. */
    noAnswer: z.boolean().default(false),
    /** Whose attributes take the answers about tickets: the ticket's, or the conversation's (one call less, and no ticket is reopened). */
    tickets: z.enum(['ticket', 'conversation']).default('ticket'),
  })
  .refine(...noAnswerNeeds(['status'], 'needs writeBack.status, which takes it'))
  .prefault({});

/** An Intercom source in the configuration: one workspace, through a private app in it. */
export const settings = z.strictObject({
  /** The workspace's id, as in the address of its Inbox: only its events are taken. */
  workspace: z.string().regex(/^[a-z0-9]{4,20}$/, 'the id of the workspace, like "k7p2m4xq"'),
  region: z.enum(['us', 'eu', 'au']).default('us'),
  accessToken: secret,
  /** The app's client secret (Developer Hub > Basic Information), which signs its webhooks; two while it is being replaced. */
  webhookSecrets: webhookSecrets(secret, "needs the app's client secret"),
  /** The URL of the app's webhooks in the Developer Hub. Set it when the list of `setup` is done there. */
  webhookUrl: z.url().optional(),
  /** A teammate for closeloop alone, as whom it writes. Closings and reopenings by this teammate are ignored. */
  adminId: numericId,
  /** The app's package code in the parts that it creates: such parts are closeloop's, whoever their author is. */
  appPackageCode: z.string().min(1).optional(),
  /** Tickets of these categories lead to questions. Empty: no ticket does, and the token needs no permission for tickets. */
  ticketCategories: z.array(z.enum(['Customer', 'Back-office', 'Tracker'])).default(['Customer']),
  /** A ticket can be resolved without being closed, and closed without being resolved. */
  ticketIsClosed: z.enum(['resolved', 'closed', 'either']).default('either'),
  closedByBots: z.enum(['ask', 'skip']).default('ask'),
  /** Contacts with any of these marks are not asked. */
  skipContacts: z.array(z.enum(['unsubscribed', 'bounced', 'spam'])).default(['unsubscribed', 'bounced', 'spam']),
  /** Intercom's own ratings become grades of the external campaign of the conversation's rule. */
  ratings: z.boolean().default(false),
  /** A contact who is archived is forgotten as well. */
  eraseArchived: z.boolean().default(false),
  /** Tests and stand-ins only. */
  baseUrl: standinOrigin,
  writeBack,
});
export type IntercomSettings = z.output<typeof settings>;
