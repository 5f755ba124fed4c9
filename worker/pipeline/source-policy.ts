import { isLoopback } from '../../core/address.ts';
import { resolveOperations } from '../../core/feedback/operations.ts';
import { compileExpression } from '../../core/mapping/expression.ts';
import type { Config, ConfiguredSource } from '../config/config.ts';
import { isDryRun } from '../redis/keys.ts';
import { loadAnswerRule } from './answer-rules.ts';
import type { Policy } from './context.ts';
import { loadNever, unfitAddress } from './policy/never.ts';
import { loadRule } from './rules.ts';

/** What the configuration says of the source, with its expressions compiled. */
export function policyOf(configured: ConfiguredSource, config: Config): Policy {
  const { policy, defaultCountry, contactLists: lists } = config;
  const { maxAge = policy.maxAge, test = policy.test } = configured.policy;
  // A rule can name another test contact, and can't leave test mode.
  const rules = configured.rules.map((rule) => loadRule({ maxAge, test, ...rule }));
  const ownDomains = policy.askAnyway?.includes('own-domains') ? [] : configured.ownDomains;
  const never = [...(configured.policy.never ?? []), ...(policy.never ?? [])];
  const contacts = rules.flatMap(({ contact }) => contact);
  const { parts } = configured.connector;
  return {
    rules,
    answerRules: configured.answers.map(loadAnswerRule),
    settleMs: configured.settleMs,
    never: loadNever(never, { ...configured, ownDomains, lists, defaultCountry }),
    unfitAddress: unfitAddress(policy, { isRehearsal: isLoopback(config.feedback.baseUrl) }),
    policy,
    holidays: config.holidays,
    customerContacts: contacts,
    customerPaths: parts.customer?.map(compileExpression) ?? contacts.filter(({ constant }) => !constant),
    keepMs: config.retention.journeys,
    timeZone: config.feedback.timeZone,
    defaultCountry,
    searchAfterMs: config.lookup.after,
    retryForMs: config.retry.for,
    callMs: config.feedback.timeoutMs,
    marker: config.marker,
    dryRun: isDryRun(configured.name),
    serviceAddsDelay: !resolveOperations(config.feedback.operations).create.body.scheduled,
  };
}
