import { type Contact, contactKey } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import type { Config } from '../config/config.ts';
import { inZone } from '../support/shown-time.ts';
import { livePorts } from './live-ports.ts';
import { type RuntimeOptions, readConfig } from './runtime.ts';

export interface ServiceAccount extends Pick<Config, 'defaultCountry'> {
  service: FeedbackClient;
  /** The account's. */
  timeZone: string;
  operations: Config['feedback']['operations'];
  /** When text messages go out. */
  sms: Config['policy']['sms'];
  /** The only contact that may be asked while test mode is on for every source. */
  test: Config['policy']['test'];
}

/** Opens the Feedback service alone, for commands that need no Redis, with the settings of its account. */
export async function openAccount(options: RuntimeOptions): Promise<ServiceAccount> {
  const { feedback, defaultCountry, policy } = await readConfig(options, { uses: 'service', sources: 'named' });
  return {
    service: createFeedbackClient(feedback, livePorts),
    timeZone: feedback.timeZone,
    operations: feedback.operations,
    defaultCountry,
    sms: policy.sms,
    test: policy.test,
  };
}

/** @throws CloseloopError config for anybody but the test contact, while test mode holds for everything */
export function refuseCustomer({ value }: Contact, test: Config['policy']['test']): void {
  if (test === undefined) return;
  const keys = [test.email, test.phone, test.identifier].flatMap((one) =>
    one === undefined ? [] : [contactKey({ kind: 'identifier', value: one })],
  );
  if (keys.includes(contactKey({ kind: 'identifier', value }))) return;
  throw refusal('Test mode holds for everything (policy.test): only the test contact can be asked.');
}

/** One JSON object a line for machines; for people, its fields one below the other, on the clock of the account. */
export function print(record: object, { json, timeZone }: { json: boolean; timeZone: string }): void {
  const plain: Record<string, unknown> = { ...record };
  const text = (value: unknown): string =>
    value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : JSON.stringify(value);
  const width = Math.max(0, ...Object.keys(plain).map((name) => name.length));
  const lines = Object.entries(plain).map(([name, value]) => `${name.padEnd(width)}  ${text(value ?? null)}`);
  process.stdout.write(json ? `${JSON.stringify(record)}\n` : `${inZone(lines.join('\n'), timeZone)}\n\n`);
}
