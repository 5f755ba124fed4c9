import { type CampaignType, type Contact, contactKey } from '../../core/contact.ts';
import { refusal } from '../../core/errors.ts';
import { createFeedbackClient, type FeedbackClient } from '../../core/feedback/client.ts';
import { canFilterBy, resolveOperations } from '../../core/feedback/operations.ts';
import type { RequestQuery } from '../../core/feedback/request-form.ts';
import type { Metric } from '../../core/feedback/schemas.ts';
import type { Config } from '../config/config.ts';
import { dayOn } from '../support/instant.ts';
import { daysIn } from '../support/shown-time.ts';
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

/** Prints the service's data, or what a command has done at the service. */
export async function printFrom(
  options: CommandOptions,
  work: (account: ServiceAccount) => Promise<object>,
): Promise<number> {
  const account = await openAccount(options);
  printFields({ ...options, timeZone: account.timeZone }, await work(account));
  return 0;
}

/** How the command line narrows what is read of the service. Days as people write them. */
export interface ServiceFilter {
  campaign?: number;
  /** Scheduled on or after this day. */
  since?: string;
  /** And up to and including this day. */
  until?: string;
  /** Only requests whose grade changed on or after this day. */
  changedSince?: string;
  type?: CampaignType[];
  metric?: Metric[];
}

/** The filter with each day as YYYY-MM-DD of the account's calendar. @throws CloseloopError config for a text that is no day */
export function readFilter({ campaign, ...filter }: ServiceFilter, timeZone: string) {
  const day = (text: string | undefined, option: string) =>
    text === undefined ? undefined : dayOn(text, option, timeZone);
  const [since, until] = [day(filter.since, '--since'), day(filter.until, '--until')];
  if (since !== undefined && until !== undefined && since > until) {
    throw refusal(`--since ${since} is after --until ${until}.`);
  }
  return { campaign, since, until, changedSince: day(filter.changedSince, '--changed-since') };
}

/**
 * How requests are narrowed: by the service where the configuration names its parameters (`feedback.operations.list.filters`), and
 * always here by the day that a request is scheduled on. Requests do not tell when their grade changed.
 * @throws CloseloopError config for `--changed-since` without a parameter for it
 */
export function requestFilter(
  filter: ServiceFilter,
  { timeZone, operations }: Pick<ServiceAccount, 'timeZone' | 'operations'>,
): { query: RequestQuery; fits: (request: { scheduled: Date | string | null }) => boolean } {
  const { campaign, since, until, changedSince } = readFilter(filter, timeZone);
  if (changedSince !== undefined && !canFilterBy(resolveOperations(operations), '{changedSince}')) {
    throw refusal(
      '--changed-since: the specification shows no such filter of the list of feedback requests. Where the service has one, name it: feedback.operations.list.filters: { changed_since: "{changedSince}" }.',
    );
  }
  const dayOf = daysIn(timeZone);
  return {
    query: { campaign, dateFrom: since, dateTo: until, changedSince },
    fits: ({ scheduled }) => {
      if (since === undefined && until === undefined) return true;
      const day = scheduled === null ? undefined : dayOf(new Date(scheduled));
      return day !== undefined && day >= (since ?? day) && day <= (until ?? day);
    },
  };
}
