import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import type { Message } from './message.ts';
import { linkOf } from './words.ts';

/** One message as Standard Webhooks, signed over these very bytes. */
export function webhookRequest(
  message: Message,
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

function dataOf(message: Message, page: string | undefined): object {
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
