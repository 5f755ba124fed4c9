import { transientAfter } from '../../../core/connector/retry-after.ts';
import { send } from '../../../core/connector/send.ts';
import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { Log, Ports } from '../../../core/ports.ts';
import { sendMail } from '../mail.ts';
import type { AnswerMessage, Message, Receiver } from './message.ts';
import { introductionOf, linkOf, type Section, sectionsOf, titleOf } from './words.ts';

export interface EmailSettings {
  /** smtp:// or smtps://, with name and password. */
  server: string;
  from: string;
  to: readonly string[];
  page?: string | undefined;
}

/** @throws CloseloopError */
export async function sendEmail(
  message: Message | AnswerMessage,
  { server, from, to, page }: EmailSettings,
  log: Log,
): Promise<void> {
  const { id } = message;
  await sendMail({ id, from, to, subject: titleOf(message), text: textOf(message, page) }, server, log);
}

function textOf(message: Message | AnswerMessage, page: string | undefined): string {
  const introduction = introductionOf(message);
  const sections = sectionsOf(message, page).map(({ heading, lines, links }) =>
    [heading, ...[...lines, ...links.map(({ url }) => url)].map((line) => `  ${line}`)].join('\n'),
  );
  return `${[...(introduction === undefined ? [] : [introduction]), ...sections].join('\n\n')}\n`;
}

/** A header has 150 characters at most, a section 3,000, a message 50 blocks and some 10,000 characters. */
const longestHeader = 150;
const longestSection = 3_000;

/**
 * The body for an incoming webhook. The text of an alert is plain text: there Slack reads no markup, no `<!channel>` and no emoji.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks" and "Block Kit".
 */
export function slackBody(message: Message | AnswerMessage, page?: string): object {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  const introduction = introductionOf(message);
  const title = titleOf(message);
  return {
    // Notifications show this text, and no blocks. Slack reads markup in it.
    text: escaped(title),
    blocks: [
      { type: 'header', text: plain(title.slice(0, longestHeader)) },
      ...(introduction === undefined ? [] : [{ type: 'context', elements: [plain(introduction)] }]),
      ...sectionsOf(message, page).flatMap(({ heading, lines, links }) => [
        { type: 'divider' },
        { type: 'section', text: plain([heading, ...lines].join('\n').slice(0, longestSection)) },
        ...(links.length === 0 ? [] : [{ type: 'context', elements: links.map(linked) }]),
      ]),
    ],
  };
}

/** Only markup makes a link. */
function linked({ label, url }: Section['links'][number]): object {
  return { type: 'mrkdwn', text: `<${escaped(url)}|${label}>`, verbatim: true };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * The body for a workflow ("Post to a channel when a webhook request is received"), which takes a message with one Adaptive Card of
 * 28 KB at most. Text runs hold text as it is; text blocks would read Markdown in it.
 * Source: learn.microsoft.com, "Create incoming webhooks with Workflows"; adaptivecards.io, version 1.4.
 */
export function teamsBody(message: Message | AnswerMessage, page?: string): object {
  const run = (text: string, style: object = {}) => ({ type: 'TextRun', text, ...style });
  const block = (inlines: object[], style: object = {}) => ({ type: 'RichTextBlock', inlines, ...style });
  const introduction = introductionOf(message);
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            block([run(titleOf(message), { size: 'Large', weight: 'Bolder' })]),
            ...(introduction === undefined ? [] : [block([run(introduction, { isSubtle: true })])]),
            ...sectionsOf(message, page).flatMap(({ heading, lines, links }) => [
              block([run(heading, { weight: 'Bolder' })], { separator: true, spacing: 'Medium' }),
              ...lines.map((line) => block([run(line)], { spacing: 'Small' })),
              ...links.map(({ label, url }) => block([run(label, { selectAction: { type: 'Action.OpenUrl', url } })])),
            ]),
          ],
        },
      },
    ],
  };
}

/** One message as Standard Webhooks, signed over these very bytes. */
export function webhookRequest(
  message: Message | AnswerMessage,
  secrets: readonly string[],
  { now: at, page }: { now: Date; page: string | undefined },
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify({
    type: `closeloop.${message.type}`,
    timestamp: message.at,
    data: dataOf(message, page),
  });
  return { body, headers: signStandardWebhook({ id: message.id, at, body }, secrets) };
}

function dataOf(message: Message | AnswerMessage, page: string | undefined): object {
  if (message.type === 'answer') {
    const { type: _, id: _1, at: _2, timeZone: _3, ...answer } = message;
    return answer;
  }
  if (message.type === 'alert') {
    const alerts = message.alerts.map(({ group: _, ...alert }) => ({
      ...alert,
      ...(page !== undefined && { link: linkOf(alert, page) }),
    }));
    return { alerts };
  }
  const { from, until, timeZone, sources } = message;
  return { from, until, timeZone, sources };
}

export interface ReceiverSettings {
  url?: string | undefined;
  secrets?: readonly string[] | undefined;
  slack?: string | undefined;
  teams?: string | undefined;
  email?: EmailSettings | undefined;
  /** The public address of the page, which alerts link to. */
  page?: string | undefined;
}

type ReceiverPorts = Pick<Ports, 'fetch' | 'now'>;

const timeoutMs = 20_000;
/** A chat takes some 10,000 characters; programs and mails take more. */
const mostInChat = 10;
const most = 100;

/** The receivers that the settings name. */
export function receiversOf(settings: ReceiverSettings, ports: ReceiverPorts, log: Log): Receiver[] {
  const { url, secrets = [], slack, teams, email, page } = settings;
  const to = (name: Receiver['name'], mostAlerts: number, deliver: Receiver['deliver']): Receiver => {
    return { name, setting: `alerts.${name === 'webhook' ? 'url' : name}`, mostAlerts, deliver };
  };
  const chat = (name: 'slack' | 'teams', at: string, bodyOf: typeof slackBody) =>
    to(name, mostInChat, (message) => post(at, { body: JSON.stringify(bodyOf(message, page)) }, ports));
  return [
    url !== undefined &&
      to('webhook', most, (message) => post(url, webhookRequest(message, secrets, { now: ports.now(), page }), ports)),
    slack !== undefined && chat('slack', slack, slackBody),
    teams !== undefined && chat('teams', teams, teamsBody),
    email !== undefined && to('email', most, (message) => sendEmail(message, { ...email, page }, log)),
  ].filter((one) => one !== false);
}

/** One attempt. The address is a secret and appears in no error message. */
async function post(
  url: string,
  { body, headers = {} }: { body: string; headers?: Record<string, string> },
  { fetch, now }: ReceiverPorts,
): Promise<void> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const response = await send(fetch, url, init, { timeoutMs, head: 1 });
  if (response.ok) return;
  throw new CloseloopError(`it answered ${response.status}`, transientAfter(response.headers, now()));
}
