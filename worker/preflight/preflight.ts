import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import { adviceOf, isConnectorBug, messageOf } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { Expression } from '../../core/mapping/expression.ts';
import { fixedTextAdvice } from '../../core/mapping/expression-advice.ts';
import type { Config } from '../config/config.ts';
import { deadRules } from '../pipeline/plan/check-rules.ts';
import { windowDoubts } from '../pipeline/policy/asking-time.ts';
import { campaignOf, type DecisionContext, rulesProblems } from '../pipeline/policy/decide.ts';
import { testMark, usualField } from '../pipeline/policy/recipient.ts';
import type { Policy } from '../pipeline/policy/source-policy.ts';
import { type CampaignRule, inEachCampaign, type LoadedRule } from '../pipeline/rules.ts';
import { surveyFindings } from './survey-questions.ts';

const dayMs = 86_400_000;

/** The members of a source that `check` and `setup` use. */
export type CheckedSource = DecisionContext &
  Pick<Policy, 'answerRules'> & { source: Source; feedback: FeedbackClient };

/** The part of the configuration that a connector's check needs. Campaigns that can't be read are left out. */
export async function aboutSource(context: CheckedSource, config: Config): Promise<PreflightContext> {
  const { name, rules, never } = context;
  const each = rules.flatMap(inEachCampaign);
  const campaigns = await Promise.all(each.map(({ rule }) => campaignOf(rule, context).catch(() => undefined)));
  const grades = new Set(campaigns.flatMap((campaign) => campaign?.grade_list ?? []));
  const delays = each.map(({ rule }, i) => rule.delay ?? (campaigns[i]?.send_delay ?? 0) * 60_000);
  return {
    ...(config.http.publicUrl === undefined ? {} : { hookUrl: `${config.http.publicUrl}/hooks/${name}` }),
    grades: [...grades].sort((a, b) => a - b),
    reads: [
      ...never.expressions.flatMap(({ when }) => when.reads.map((path) => ({ at: 'never', path }))),
      ...answerReads(context),
      ...rules.flatMap(expressionsOf).flatMap(({ at, expression }) => expression.reads.map((path) => ({ at, path }))),
    ],
    // A window can delay a request for up to a day.
    answersWithinMs: Math.max(0, ...delays) + dayMs + config.expireAfter,
  };
}

/** The members of the record that the expressions of answer rules read. */
function answerReads({ answerRules }: Pick<Policy, 'answerRules'>): PreflightContext['reads'] {
  return answerRules.flatMap(({ when, do: steps }, i) => {
    const texts = steps.flatMap(({ text }, n) =>
      text ? [{ at: `answers[${i}].do[${n}].note`, expression: text }] : [],
    );
    const all = [...(when ? [{ at: `answers[${i}].when`, expression: when }] : []), ...texts];
    return all.flatMap(({ at, expression }) =>
      expression.reads.filter(([root]) => root !== 'answer').map((path) => ({ at, path })),
    );
  });
}

/** Every expression of a rule, with its place in the source's section. */
function expressionsOf(rule: LoadedRule, index: number): { at: string; expression: Expression }[] {
  const at = `rules[${index}]`;
  return [
    ...(rule.when ? [{ at: `${at}.when`, expression: rule.when }] : []),
    ...rule.contact.map((expression, i) => ({ at: `${at}.contact[${i}]`, expression })),
    ...[...rule.mapping].map(([name, expression]) => ({ at: `${at}.fields.${name}`, expression })),
  ];
}

/** All findings: mismatches between the rules and the service, and the findings of the vendor's own check. */
export async function checkSource(context: CheckedSource, config: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  const checked: NamedCampaign[] = [];
  const each = context.rules.flatMap((one, i) =>
    inEachCampaign(one).map(({ rule, setting }) => ({ rule, at: `rules[${i}]`, setting: `rules[${i}].${setting}` })),
  );
  for (const { rule, at, setting } of each) {
    const { campaign, findings } = await checkRule(rule, { at, setting }, context);
    found.push(...findings);
    if (campaign) checked.push({ at: setting, campaign });
  }
  for (const { index, problem, remedy } of deadRules(context.rules, context.never.expressions)) {
    found.push(warningAt(`rules[${index}]`, problem, remedy));
  }
  found.push(...markerFindings(checked, context));
  found.push(...ungradedFindings(checked, context));
  if (context.source.bringsExternalGrades && checked.length === each.length)
    found.push(...gradesFindings(checked.map(({ campaign }) => campaign)));
  found.push(...(await attempt('writeBack.answers', () => surveyFindings(context))));
  const about = await aboutSource(context, config);
  const used = context.answerRules.flatMap((rule, i) =>
    rule.do.map(({ name: action, params }, n) => ({ at: `answers[${i}].do[${n}].${action}`, name: action, params })),
  );
  found.push(...(await attempt('answers', async () => (await context.source.checkActions?.(used)) ?? [])));
  const ofVendor = await attempt('the vendor', async () => (await context.source.check?.(about)) ?? []);
  found.push(...ofVendor.map((finding) => withFixedText(finding, context)));
  return merged(found);
}

/** A single name that no record has may be a text whose quotes were forgotten. */
function withFixedText(finding: Finding, { rules }: Pick<CheckedSource, 'rules'>): Finding {
  const { at, problem, remedy } = finding;
  for (const { expression } of rules.flatMap(expressionsOf).filter((one) => one.at === at)) {
    const names = expression.reads.flatMap(([name, ...rest]) => (rest.length === 0 && name ? [name] : []));
    const name = names.find((one) => problem.split(/[\s:,`]+/).includes(one));
    if (name !== undefined) return { ...finding, remedy: `${remedy}. ${fixedTextAdvice(expression.source, name)}` };
  }
  return finding;
}

/** A check that fails becomes a finding, so that it does not hide the other findings. */
export async function attempt(at: string, probe: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await probe();
  } catch (error) {
    const problem = messageOf(error);
    if (isConnectorBug(error)) return [errorAt(at, problem, 'correct the connector')];
    const isOurs = adviceOf(error).kind === 'config';
    return [errorAt(at, problem, isOurs ? 'see above' : 'try again; if it stays, look at that side')];
  }
}

/** A campaign, and the setting that names it. */
interface NamedCampaign {
  at: string;
  campaign: Campaign;
}

/** `campaign`: undefined if the campaign can't be read. */
async function checkRule(
  rule: CampaignRule,
  { at, setting }: { at: string; setting: string },
  context: CheckedSource,
): Promise<{ campaign?: Campaign; findings: Finding[] }> {
  let campaign: Campaign;
  try {
    campaign = await campaignOf(rule, context);
    // Reading a campaign doesn't tell whether it is active; listing its requests does.
    for await (const _ of context.feedback.requestPages({ campaign: campaign.id })) break;
  } catch (error) {
    return { findings: [serviceFinding(error, rule, setting)] };
  }
  const mend = `mend rule "${rule.name}", or campaign ${campaign.id} ("${campaign.name}") in the service`;
  const doubts = windowDoubts(rule, campaign, context);
  const findings = [
    ...rulesProblems(rule, campaign, context).map((problem) => errorAt(at, problem, mend)),
    ...doubts.map(({ problem, remedy }) => warningAt(`${at}.window`, problem, remedy)),
    ...contactFindings(rule, campaign, at),
    ...unmarkedTests(rule, campaign, setting),
  ];
  return { campaign, findings };
}

/** A named field that is missing is a fault of the rule (`testProblems`); the usual one may be left out. */
function unmarkedTests({ test }: CampaignRule, campaign: Campaign, at: string): Finding[] {
  if (test === undefined || test.field !== undefined || Object.keys(testMark(test, campaign)).length > 0) return [];
  const problem = `test mode holds, and campaign ${campaign.id} has no custom field "${usualField}" of type Text or Yes/No: in the service nothing tells a test request from others`;
  const remedy = `give the campaign such a field, not required, or name another with test.field`;
  return [warningAt(at, problem, remedy)];
}

/** The service sends nothing in an external campaign: the system that collects the grades passes them on. */
function ungradedFindings(checked: readonly NamedCampaign[], { source }: CheckedSource): Finding[] {
  if (source.bringsExternalGrades) return [];
  return checked.flatMap(({ at, campaign: { id, type } }): Finding[] => {
    if (type !== 'external') return [];
    const problem = `campaign ${id} is external: nothing is sent to anybody, and this source brings no grades`;
    const remedy =
      'turn on what passes grades on in the source, grade requests by "closeloop requests grade", or name another campaign';
    return [warningAt(at, problem, remedy)];
  });
}

function gradesFindings(campaigns: readonly Campaign[]): Finding[] {
  if (campaigns.some(({ type }) => type === 'external')) return [];
  const problem =
    'the source brings grades given elsewhere, and no rule names a campaign of type external: none is passed on';
  const remedy = 'name an external campaign in the rule that is meant, or turn these grades off in the source';
  return [warningAt('rules', problem, remedy)];
}

/** @param at the setting that names the campaign */
function serviceFinding(error: unknown, rule: CampaignRule, at: string): Finding {
  const problem = messageOf(error);
  const flaw = addressFlawOf(error);
  if (flaw !== undefined) return errorAt(at, `campaign ${rule.campaign} is not at the service's address`, flaw);
  const status = error instanceof FeedbackError ? error.status : undefined;
  if (status === 403) {
    const inactive = `campaign ${rule.campaign} is not active, or belongs to another account`;
    return errorAt(at, inactive, 'activate it in the service, or name another');
  }
  if (status === 401) return errorAt('feedback.apiKey', problem, 'create a key in the service (Settings, API keys)');
  if (adviceOf(error).kind === 'transient') {
    const remedy = 'see that the service is up and feedback.baseUrl right, then run check again';
    return errorAt('feedback', problem, remedy);
  }
  const remedy = 'name a campaign of this account that is not a draft; check feedback.baseUrl';
  return errorAt(at, problem, remedy);
}

/** The remedy covers the consequences of a failed call as well. */
function addressFlawOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return error instanceof FeedbackError ? error.addressFlaw : addressFlawOf(error.cause);
}

const words = { email: /mail/i, phone: /phone|mobile|tel|sms/i };

/** Judges by the names that the expressions read: a rule that reads e-mail addresses only can't feed an SMS campaign. */
function contactFindings(rule: LoadedRule, campaign: Campaign, at: string): Finding[] {
  const wanted = campaign.type === 'sms' ? 'phone' : campaign.type === 'email' ? 'email' : undefined;
  const other = wanted === 'phone' ? 'email' : 'phone';
  const names = rule.contact.flatMap(({ reads }) => reads.map((path) => path.at(-1) ?? ''));
  if (!wanted || names.length === 0 || !names.every((name) => words[other].test(name) && !words[wanted].test(name)))
    return [];
  const what =
    wanted === 'phone' ? 'text messages, and no contact is a phone number' : 'e-mail, and no contact is an address';
  const problem = `campaign ${campaign.id} sends ${what} (${rule.contact.map(({ source }) => source).join(', ')})`;
  const remedy = `add an expression for the ${wanted === 'phone' ? 'phone number' : 'e-mail address'}`;
  return [errorAt(`${at}.contact`, problem, remedy)];
}

/** Over all rules together: a field that one campaign lacks is usually missing in all campaigns of the rules. */
function markerFindings(checked: readonly NamedCampaign[], { marker }: CheckedSource): Finding[] {
  const fieldOf = ({ custom_fields }: Campaign) => custom_fields.find(({ name }) => name === marker);
  const without = checked.filter(({ campaign }) => fieldOf(campaign) === undefined);
  const unfit = checked.filter(({ campaign }) => ![undefined, 'Text'].includes(fieldOf(campaign)?.field_type));
  const remedy = `give the campaign a Text field named "${marker}", not required`;
  const finding = (some: typeof checked, problem: (which: string, isOne: boolean) => string): Finding[] => {
    const ids = [...new Set(some.map(({ campaign }) => campaign.id))];
    const which = `campaign${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`;
    const at = some.map((one) => one.at).join(', ');
    return ids.length === 0 ? [] : [warningAt(at, problem(which, ids.length === 1), remedy)];
  };
  return [
    ...finding(
      without,
      (which, isOne) =>
        `${which} ${isOne ? 'has' : 'have'} no custom field "${marker}": after a lost answer a request is only found by its contact and time`,
    ),
    ...finding(
      unfit,
      (which) => `the custom field "${marker}" of ${which} is not of type Text, so that it can't mark requests`,
    ),
  ];
}

/** Joins equal findings about several places into one finding with all places. */
function merged(found: readonly Finding[]): Finding[] {
  const groups = Map.groupBy(found, ({ level, problem, remedy }) => JSON.stringify([level, problem, remedy]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, at: [...new Set(group.map(({ at }) => at))].join(', ') }];
  });
}
