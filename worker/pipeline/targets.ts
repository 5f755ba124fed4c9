import type { Config } from '../config/config.ts';
import { channelNames } from '../config/receivers.ts';
import type { Webhook } from '../config/webhooks.ts';
import type { Target } from '../journey/outgoing.ts';
import type { ReceiverSettings } from '../operations/alerts/receivers.ts';

type Settings = Pick<Config, 'alerts' | 'webhooks'>;

/** One way in which a receiver of `alerts` is told of answers; its settings are those of this way alone. */
export interface ReceiverTarget {
  is: 'receiver';
  target: Target;
  settings: ReceiverSettings;
}

export type AnyTarget = ReceiverTarget | { is: 'webhook'; target: Target; webhook: Webhook };

/** Everybody who is told of what happens to journeys, with how. */
export function anyTargetsOf({ alerts, webhooks }: Settings): AnyTarget[] {
  return [...webhooks.map(webhookTarget), ...receiverTargets(alerts)];
}

/** Everybody who is told of what happens to journeys. */
export const targetsOf = (config: Settings): Target[] => anyTargetsOf(config).map(({ target }) => target);

export function webhookTarget(webhook: Webhook): AnyTarget & { is: 'webhook' } {
  const { name, events } = webhook;
  return { is: 'webhook', target: { key: `webhook.${name}`, events, by: { action: 'send', name } }, webhook };
}

/** The receivers that `notify` may name: those of alerts themselves, by the names of their settings, and the named ones. */
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
