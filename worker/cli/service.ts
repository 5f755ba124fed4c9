import { type Contact, contactKey } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import type { Config } from '../config/config.ts';
import { livePorts } from './live-ports.ts';
import { printFields } from './output.ts';
import { type CommandOptions, type RuntimeOptions, readConfig } from './runtime.ts';

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

/** Prints what the service tells, or what was done there. */
export async function printFrom(
  options: CommandOptions,
  work: (account: ServiceAccount) => Promise<object>,
): Promise<number> {
  const account = await openAccount(options);
  printFields({ ...options, timeZone: account.timeZone }, await work(account));
  return 0;
}
