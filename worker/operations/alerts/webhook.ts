import { signStandardWebhook } from '../../../core/connector/standard-webhook.ts';
import type { AnswerMessage, Message } from './message.ts';
import { linkOf } from './words.ts';

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
