import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import type { Message } from './message.ts';

/** One message as Standard Webhooks, signed over these very bytes. */
export function webhookRequest(
  message: Message,
  secrets: readonly string[],
  at: Date,
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify({ type: `closeloop.${message.type}`, timestamp: message.at, data: dataOf(message) });
  return { body, headers: signStandardWebhook({ id: message.id, at, body }, secrets) };
}

function dataOf(message: Message): object {
  if (message.type === 'alert') return { alerts: message.alerts.map(({ group: _, ...alert }) => alert) };
  const { from, until, timeZone, sources } = message;
  return { from, until, timeZone, sources };
}
