import { transientAfter } from '../../../core/connector/retry-after.ts';
import { send } from '../../../core/connector/send.ts';
import { CloseloopError } from '../../../core/errors.ts';
import type { Log, Ports } from '../../../core/ports.ts';
import { type EmailSettings, sendEmail } from './email.ts';
import type { Receiver } from './message.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';
import { webhookRequest } from './webhook.ts';

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
  const found: Receiver[] = [];
  if (url !== undefined) {
    const deliver: Receiver['deliver'] = (message) =>
      post(url, webhookRequest(message, secrets, { now: ports.now(), page }), ports);
    found.push({ name: 'webhook', setting: 'alerts.url', mostAlerts: most, deliver });
  }
  if (slack !== undefined) {
    const deliver: Receiver['deliver'] = (message) =>
      post(slack, { body: JSON.stringify(slackBody(message, page)) }, ports);
    found.push({ name: 'slack', setting: 'alerts.slack', mostAlerts: mostInChat, deliver });
  }
  if (teams !== undefined) {
    const deliver: Receiver['deliver'] = (message) =>
      post(teams, { body: JSON.stringify(teamsBody(message, page)) }, ports);
    found.push({ name: 'teams', setting: 'alerts.teams', mostAlerts: mostInChat, deliver });
  }
  if (email !== undefined) {
    const deliver: Receiver['deliver'] = (message) => sendEmail(message, { ...email, page }, log);
    found.push({ name: 'email', setting: 'alerts.email', mostAlerts: most, deliver });
  }
  return found;
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
