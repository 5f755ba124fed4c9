import type { Message } from '../operations/alerts/message.ts';
import { type ReceiverSettings, receiversOf } from '../operations/alerts/receivers.ts';
import { alertSettings } from '../operations/alerts.ts';
import { livePorts } from './live-ports.ts';
import { tryEach } from './output.ts';
import { type CommandOptions, commandLog, readConfig } from './runtime.ts';

/** Sends a test alert to every receiver that "alerts" names. Returns 1 when a receiver does not take it, or none is named. */
export async function testAlerts(options: CommandOptions): Promise<number> {
  const alerts = alertSettings(await readConfig(options, { uses: 'alerts', sources: 'named' }));
  /** The receivers of alerts, and those that answer rules may name in `notify`. */
  const named: [name: string | undefined, ReceiverSettings][] = [
    [undefined, alerts ?? {}],
    ...Object.entries(alerts?.receivers ?? {}),
  ];
  const all = named.flatMap(([of, settings]) =>
    receiversOf(settings, livePorts, commandLog()).map(({ name: channel, setting: at, deliver }) => {
      const name = of === undefined ? channel : `${of} (${channel})`;
      const setting = of === undefined ? at : at.replace('alerts.', `alerts.receivers.${of}.`);
      return { name, setting, tried: { receiver: name, setting }, send: () => deliver(sample(new Date())) };
    }),
  );
  return await tryEach(options, all, 'Nobody is told: "alerts" in the configuration names no receiver.');
}

function sample(at: Date): Message {
  const group = 'test';
  const [first, id] = [at.toISOString(), `alert_test_${at.getTime()}`];
  const why = 'this is a test: somebody ran "closeloop alerts test"';
  const alert = { group, kind: 'to-do' as const, source: 'closeloop', why, remedy: 'nothing has to be done' };
  return { type: 'alert', id, at: first, alerts: [{ ...alert, first, count: 1, journeys: ['support/41960.1'] }] };
}
