import type { Finding } from '../../core/connector/contract.ts';
import { checkReceiver } from '../../core/connector/reach.ts';
import { ReceiverNames } from '../config/answer-rule.ts';
import type { Config } from '../config/config.ts';

/** Checks, without sending events, that webhooks can get events: the address is allowed and answers, and there is something to send. */
export async function webhookFindings({ webhooks, sources }: Pick<Config, 'webhooks' | 'sources'>): Promise<Finding[]> {
  const steps = sources.flatMap(({ answers }) => answers.flatMap((rule) => rule.do));
  const sent = new Set(steps.flatMap(({ name, params }) => (name === 'send' ? ReceiverNames.parse(params) : [])));
  const all = webhooks.map(async ({ name, url, allowPrivate, events }, i): Promise<Finding[]> => {
    const at = `webhooks[${i}]`;
    const isIdle = events.length === 0 && !sent.has(name);
    return [
      ...(await checkReceiver({ url, allowPrivate }, { url: `${at}.url`, allowPrivate: `${at}.allowPrivate` })),
      ...(isIdle ? [{ ...idle, at }] : []),
    ];
  });
  return (await Promise.all(all)).flat();
}

const idle = {
  level: 'warning',
  problem: 'is told of nothing: it has no events, and no answer rule sends to it',
  remedy: 'name events, or let an answer rule send to it',
} as const;
