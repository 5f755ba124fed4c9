import { z } from 'zod';
import { isSafeAddress } from '../../core/address.ts';
import { signingSecret } from '../../core/connector/settings.ts';

/* Receivers of alerts and of messages about answers. */

/** The names are parts of Redis keys and of commands. */
export const ReceiverName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,40}$/, 'must be a name of small letters, digits and "-", 41 at most');

const SafeUrl = z.string().refine((text) => isSafeAddress(text), 'must be an https address');

/** The server's URL may hold a user name and a password. */
export const MailServer = z
  .string()
  .refine((text) => /^smtps?:\/\/./.test(text) && URL.canParse(text), 'must be like smtp://name:password@host:587')
  .describe('smtps:// or smtp:// with name and password; to another machine only encrypted');

const Email = z.strictObject({
  server: MailServer,
  from: z.email().describe('The sender'),
  to: z.array(z.email()).min(1).describe('Who gets them'),
});

/** The ways to reach a receiver. */
export const channels = {
  url: SafeUrl.optional().describe('A receiver of your own: messages are signed as Standard Webhooks'),
  secrets: z.array(signingSecret).min(1).max(2).optional().describe('Of the receiver at url; two while rotating'),
  slack: SafeUrl.optional().describe('An incoming webhook of Slack'),
  teams: SafeUrl.optional().describe('A workflow of Microsoft Teams that posts what its webhook is sent'),
  email: Email.optional().describe('By e-mail, over your mail server'),
};

export type Channel = Exclude<keyof typeof channels, 'secrets'>;
export const channelNames: readonly Channel[] = ['url', 'slack', 'teams', 'email'];

type Channels = { readonly [name in keyof typeof channels]?: unknown };

/** The arguments of zod's `refine` for a section with `channels`. */
export const signsUrl: Parameters<z.ZodType<Channels>['refine']> = [
  ({ url, secrets }) => (url === undefined) === (secrets === undefined),
  { path: ['secrets'], message: 'url and secrets belong together: what is sent to url is signed' },
];
export const namesChannel: Parameters<z.ZodType<Channels>['refine']> = [
  (one) => channelNames.some((name) => one[name] !== undefined),
  { message: 'must name somebody who is told: url, slack, teams or email' },
];

/** Receivers that only `notify` of an answer rule uses. */
const Receiver = z
  .strictObject(channels)
  .refine(...signsUrl)
  .refine(...namesChannel);

export const NamedReceivers = z.record(
  ReceiverName.refine(
    (name) => !channelNames.some((one) => one === name),
    `url, slack, teams and email are those of alerts themselves: choose another name`,
  ),
  Receiver,
);
