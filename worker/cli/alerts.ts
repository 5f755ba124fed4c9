import { styleText } from 'node:util';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/ports.ts';
import type { Message } from '../operations/alerts/message.ts';
import { receiversOf } from '../operations/alerts/receivers.ts';
import { type AlertSettings, alertSettings } from '../operations/alerts.ts';
import { createLog } from '../operations/log.ts';
import { livePorts } from './live-ports.ts';
import { type RuntimeOptions, readConfig } from './runtime.ts';

/** Sends a test alert to every receiver that "alerts" names. Returns 1 when a receiver does not take it, or none is named. */
export async function testAlerts(options: RuntimeOptions & { json: boolean }): Promise<number> {
  const alerts = alertSettings(await readConfig(options, { uses: 'alerts', sources: 'named' }));
  const log = createLog({ pretty: process.stderr.isTTY ?? false, level: 'warn', stream: process.stderr });
  const own = alerts ? receiversOf(alerts, livePorts, log) : [];
  const sent = await Promise.all(
    [...own.map((one) => ({ ...one, name: String(one.name) })), ...namedOf(alerts, log)].map(async (receiver) => {
      const { name, setting, deliver } = receiver;
      const taken = { receiver: name, setting, taken: true, why: undefined };
      return await deliver(sample(new Date())).then(
        () => taken,
        (error: unknown) => ({ ...taken, taken: false, why: messageOf(error) }),
      );
    }),
  );
  if (options.json) for (const one of sent) process.stdout.write(`${JSON.stringify(one)}\n`);
  else for (const one of sent) process.stdout.write(`${inWords(one)}\n`);
  if (sent.length === 0) process.stderr.write('Nobody is told: "alerts" in the configuration names no receiver.\n');
  return sent.length > 0 && sent.every(({ taken }) => taken) ? 0 : 1;
}

/** The receivers that answer rules may name in `notify`. */
function namedOf(alerts: AlertSettings | undefined, log: Log) {
  return Object.entries(alerts?.receivers ?? {}).flatMap(([name, settings]) =>
    receiversOf(settings, livePorts, log).map(({ name: channel, setting, deliver }) => ({
      name: `${name} (${channel})`,
      setting: setting.replace('alerts.', `alerts.receivers.${name}.`),
      deliver,
    })),
  );
}

function inWords({
  receiver,
  setting,
  taken,
  why,
}: {
  receiver: string;
  setting: string;
  taken: boolean;
  why?: string | undefined;
}) {
  if (taken) return `${styleText('green', '✓')} ${receiver} took it`;
  return `${styleText('red', '✗')} ${receiver}: ${why}\n  → check ${setting}`;
}

function sample(at: Date): Message {
  const group = 'test';
  const [first, id] = [at.toISOString(), `alert_test_${at.getTime()}`];
  const why = 'this is a test: somebody ran "closeloop alerts test"';
  const alert = { group, kind: 'to-do' as const, source: 'closeloop', why, remedy: 'nothing has to be done' };
  return { type: 'alert', id, at: first, alerts: [{ ...alert, first, count: 1, journeys: ['support/41960.1'] }] };
}
