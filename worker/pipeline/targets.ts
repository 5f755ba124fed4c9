import type { Config } from '../config/config.ts';
import { channelNames } from '../config/receivers.ts';
import type { Webhook } from '../config/webhooks.ts';
import type { Target } from '../journey/outgoing.ts';
import type { ReceiverSettings } from '../operations/alerts/receivers.ts';

type Settings = Pick<Config, 'alerts' | 'webhooks'>;

/** One channel of a receiver of `alerts` for messages about answers, with the settings of this channel only. */
export interface ReceiverTarget {
  is: 'receiver';
  target: Target;
  settings: ReceiverSettings;
}

export type AnyTarget = ReceiverTarget | { is: 'webhook'; target: Target; webhook: Webhook };

/** Every target of events, with its settings. */
export function anyTargetsOf({ alerts, webhooks }: Settings): AnyTarget[] {
  return [...webhooks.map(webhookTarget), ...receiverTargets(alerts)];
}

/** Every target of events. */
export const targetsOf = (config: Settings): Target[] => anyTargetsOf(config).map(({ target }) => target);

export function webhookTarget(webhook: Webhook): AnyTarget & { is: 'webhook' } {
  const { name, events } = webhook;
  return { is: 'webhook', target: { key: `webhook.${name}`, events, by: { action: 'send', name } }, webhook };
}

/** The receivers that `notify` may name: the channels of `alerts` by the names of their settings, and the named receivers. */
function receiverTargets(alerts: Settings['alerts']): ReceiverTarget[] {
  if (alerts === undefined) return [];
  const own = channelNames.map((name) => [name, { [name]: alerts[name], secrets: alerts.secrets }] as const);
  return [...own, ...Object.entries(alerts.receivers ?? {})].flatMap(
    ([name, all]: readonly [string, ReceiverSettings]) =>
      channelNames.flatMap((channel): ReceiverTarget[] => {
        if (all[channel] === undefined) return [];
        const target: Target = { key: `notify.${name}.${channel}`, events: [], by: { action: 'notify', name } };
        return [{ is: 'receiver', target, settings: { [channel]: all[channel], secrets: all.secrets } }];
      }),
  );
}
