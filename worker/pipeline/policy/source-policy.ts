import { isLoopback } from '../../../core/address.ts';
import { resolveOperations } from '../../../core/feedback/operations.ts';
import type { Expression } from '../../../core/mapping/expression.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';
import type { HolidayRules } from '../../../core/schedule/holidays.ts';
import type { Config, ConfiguredSource } from '../../config/config.ts';
import { isDryRun } from '../../redis/keys.ts';
import { type LoadedRule, loadRule } from '../rules.ts';
import { type LoadedAnswerRule, loadAnswerRule } from './answer-rules.ts';
import { loadNever } from './load-never.ts';
import { unfitAddress } from './never.ts';

/** The policy of a source. */
export type Policy = ReturnType<typeof policyOf>;

/** The source's settings in the configuration, with expressions compiled. */
export function policyOf(configured: ConfiguredSource, config: Config) {
  const { policy, defaultCountry, contactLists: lists } = config;
  const { maxAge = policy.maxAge, test = policy.test } = configured.policy;
  // A rule can name another test contact, and can't leave test mode.
  const rules: readonly LoadedRule[] = configured.rules.map((rule) => loadRule({ maxAge, test, ...rule }));
  const ownDomains = policy.askAnyway?.includes('own-domains') ? [] : configured.ownDomains;
  const never = [...(configured.policy.never ?? []), ...(policy.never ?? [])];
  const contacts: readonly Expression[] = rules.flatMap(({ contact }) => contact);
  const { parts } = configured.connector;
  const answerRules: readonly LoadedAnswerRule[] = configured.answers.map(loadAnswerRule);
  /** The holidays on which closeloop asks nobody. Left out: closeloop asks on every day. */
  const holidays: { holidays?: HolidayRules | undefined } = { holidays: config.holidays };
  return {
    rules,
    /** The rules about answers, with their actions. */
    answerRules,
    /** How long an answer has to stay unchanged before closeloop writes it back. */
    settleMs: configured.settleMs,
    /** Customers and records that no rule asks about. */
    never: loadNever(never, { ...configured, ownDomains, lists, defaultCountry }),
    /** Why a well-formed e-mail address reaches no customer, if so. */
    unfitAddress: unfitAddress(policy, { isRehearsal: isLoopback(config.feedback.baseUrl) }),
    /** The policy for all sources. */
    policy,
    ...holidays,
    /** The contact expressions of all rules, also of an absent source's: they find the contacts of a record's customer. */
    customerContacts: contacts,
    /** Where the connector's records hold the agent and the customer. */
    parts,
    /** Paths to the addresses of a record's customer. */
    customerPaths: parts.customer?.map(compileExpression) ?? contacts.filter(({ constant }) => !constant),
    /** How long a settled journey is kept; after that closeloop no longer knows the closing. */
    keepMs: config.retention.journeys,
    /** The Feedback account's zone. */
    timeZone: config.feedback.timeZone,
    /** Country of phone numbers that are written without + or 00. */
    defaultCountry,
    /** The wait before the search after a create of unknown outcome: the service may still be processing the call. */
    searchAfterMs: config.lookup.after,
    /** A job that fails for this long is given up. */
    retryForMs: config.retry.for,
    /** How long one call to the service may take, at most. Real time. */
    callMs: config.feedback.timeoutMs,
    /** Name of the custom field that holds the journey's reference, in campaigns that have it. */
    marker: config.marker,
    /** A dry run decides and stores everything, and sends nothing: `start --dry-run`. */
    dryRun: isDryRun(configured.name),
    /** The create operation can't carry a date, so the service adds the campaign's delay itself (design.md, rule 3). */
    serviceAddsDelay: !resolveOperations(config.feedback.operations).create.body.scheduled,
  };
}
