import { createHash } from 'node:crypto';
import type { PresentedRecord } from '../../../core/connector/contract.ts';
import { type Contact, contactFor } from '../../../core/contact.ts';
import { CloseloopError } from '../../../core/errors.ts';
import { FeedbackError, isAboutCampaign } from '../../../core/feedback/failure.ts';
import type { Campaign } from '../../../core/feedback/schemas.ts';
import { evaluateFirst, type Findings, isTrue } from '../../../core/mapping/expression.ts';
import { ExpressionSetAside } from '../../../core/mapping/expression-failure.ts';
import { applyMapping, checkMapping } from '../../../core/mapping/mapping.ts';
import type { PlaceHints } from '../../../core/schedule/recipient-place.ts';
import { campaignFor, languageOf } from '../../config/campaign-choice.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip, SkipReason } from '../../journey/reasons.ts';
import type { RecordHistory } from '../../journey/record-memory.ts';
import { refOf } from '../../journey/refs.ts';
import { nameInEarnest } from '../../redis/keys.ts';
import { type CampaignRule, inCampaign, type LoadedRule, type Never, needOf } from '../rules.ts';
import { askingTime, maxAgeProblems, placeOf, type TimingContext, tooOld, windowProblems } from './asking-time.ts';
import { furtherAddresses } from './known-as.ts';
import { neverByPerson, neverByRecord } from './never.ts';
import { testProblems } from './recipient.ts';
import type { Policy } from './source-policy.ts';

/** The parts of a source that a decision needs: its configuration, and the campaigns as the service has them (cached). */
export type DecisionContext = FitContext &
  TimingContext &
  Pick<Policy, 'rules' | 'never' | 'unfitAddress' | 'defaultCountry'> & {
    campaigns: { get(id: number): Promise<Campaign> };
  };

/** The parts of a source that say whether a rule fits its campaign. */
type FitContext = { name: string; storedAs: string } & Pick<Policy, 'marker' | 'timeZone' | 'policy' | 'holidays'>;

/** The facts that do not change after the record has closed, and the facts of the journey. Everything else is read when the decision is made. */
export interface Closing {
  /** The journey that the closing has, or would get. Chooses the sample, with `source`. */
  journeyId: string;
  /** The journey's `source`; left out: the name that the data is stored under. */
  source?: string | undefined;
  closedAt: Date;
  /** The planned time, if there is one. */
  dueAt?: Date | undefined;
  /** A person wants the customer asked however old the closing is. */
  backfilled?: boolean | undefined;
  /** A person wants the customer asked as soon as possible. */
  hurried?: boolean | undefined;
  /** The outcome of an earlier attempt to ask is not certain (`Journey.searched`): asking finds out the outcome before it checks the age. */
  searched?: object | undefined;
  /** The requests that the record's customer received. */
  history: RecordHistory;
}

/** Whether to ask about a closing, and if so in which campaign, whom, with which values and when. `trace` says why. */
export type Verdict =
  | ({ do: 'skip'; trace: string[]; rule?: LoadedRule; campaignId?: number | undefined } & Skip)
  | Ask;

/** The decision to ask a customer. */
export interface Ask {
  do: 'ask';
  trace: string[];
  rule: CampaignRule;
  campaign: Campaign;
  contact: Contact;
  /** The expression of the rule that found the contact. */
  contactFrom: string;
  /** The keys of further addresses of the same person. */
  others: string[];
  place: PlaceHints;
  values: NonNullable<Journey['values']>;
  /** The expression of each value. */
  sources: Record<string, string>;
  dueAt: Date;
  /** When the windows close again after `dueAt`; undefined: never. */
  until: Date | undefined;
  /** Why the customer is not asked sooner. */
  timing: string[];
}

/**
 * Decides about a closing of `record`: when the record closes, again when its customer is due, and for previews. The same
 * arguments give the same decision; nothing is changed.
 * @param now the earliest instant to ask
 * @param chosen called with the chosen rule before the campaign is read
 * @throws CloseloopError config for a rule that can't work with its campaign: the journey waits until a person has mended the rule
 */
export async function decide(
  closing: Closing,
  record: PresentedRecord,
  context: DecisionContext,
  now: Date,
  chosen: (rule: CampaignRule) => Promise<void> = async () => undefined,
): Promise<Verdict> {
  // A dry run has the same sample.
  const ref = refOf(nameInEarnest(closing.source ?? context.storedAs), closing.journeyId);
  const never = await neverByRecord(context.never, record.shape, closing.closedAt);
  if (never) return { do: 'skip', ...never, trace: [] };
  const choice = await chooseRule(context.rules, record.shape, context.never.expressions);
  if (!choice.rule) return { do: 'skip', ...choice.skip, trace: [] };
  const { rule: found, findings } = choice;
  const language = languageOf(record.locale);
  const inLanguage = campaignFor(found.campaign, language);
  const trace = [`rule "${found.name}", ${inWords(inLanguage)}`];
  const no = (reason: SkipReason, why: string): Verdict => {
    return { do: 'skip', reason, why, trace, rule: found, campaignId: inLanguage?.campaign };
  };

  const excluded = neverByPerson(context.never, findings, found.contact);
  if (excluded) return no(excluded.reason, excluded.why);
  if (!inLanguage) return no('language', `no campaign for the customer's language (${language ?? 'not known'})`);
  const rule = inCampaign(found, inLanguage.campaign);
  const already = askedAlready(rule, closing, context.name);
  if (already !== undefined) return no(already.reason, already.why);
  if (!inSample(rule.sample, ref)) return no('sample', `outside the sample of ${(rule.sample ?? 1) * 100} %`);

  await chosen(rule);
  const campaign = await campaignOf(rule, context);
  const old = isAgeMinded(closing) ? tooOld(closing, rule, campaign, now) : undefined;
  if (old) return no(old.reason, old.why);
  const mapped = mapFields(rule, findings, campaign, context);
  if (!mapped.ok) return no('fields', `custom fields: ${mapped.problems.join('; ')}`);
  trace.push(...mappingInWords(rule, mapped));
  const whom = contactBy(rule, findings, campaign, context);
  if (!whom.ok) return no('no-contact', whom.why);
  const { contact } = whom;
  trace.push(whom.why);

  const place = placeOf(record, contact);
  const { closedAt, hurried } = closing;
  const time = askingTime(rule, campaign, { closedAt, hurried, contact, place }, context, now);
  if (!time.ok) return no('no-time', time.why);
  trace.push(...time.why, plannedAt(time.at));
  const { values, sources } = mapped;
  const { contactFrom, others } = whom;
  const when = { dueAt: time.at, until: time.until, timing: time.why };
  return { do: 'ask', trace, rule, campaign, contact, contactFrom, others, place, values, sources, ...when };
}

/** The line of a trace that says when the customer is asked. */
export const plannedAt = (at: Date): string => `to be asked at ${at.toISOString()}`;

function mappingInWords({ mapping }: LoadedRule, { values, sources }: Pick<Ask, 'values' | 'sources'>): string[] {
  const empty = [...mapping].filter(([name]) => !(name in values));
  return [
    `custom fields: ${describe(sources)}`,
    ...empty.map(([name, { source }]) => `custom field "${name}" is left out: ${source} found nothing`),
  ];
}

/** The first contact that the rule finds and that the campaign reaches; `why`: for the trace. */
function contactBy(
  rule: LoadedRule,
  findings: Findings,
  { type }: Campaign,
  context: DecisionContext,
): ({ ok: true; why: string } & Pick<Ask, 'contact' | 'contactFrom' | 'others'>) | { ok: false; why: string } {
  const candidates = rule.contact.map((expression) => {
    const found = findings.of(expression);
    if (found.ok) return found.value;
    throw new CloseloopError(found.why, { kind: 'permanent' });
  });
  const choice = contactFor(candidates, type, context);
  const passedOver = choice.rejected.map(({ index, why }) => `${rule.contact[index]?.source}: ${why}`);
  if (!choice.ok) return { ok: false, why: `no usable contact: ${passedOver.join('; ')}` };
  const { contact, index } = choice;
  return {
    ok: true,
    contact,
    contactFrom: rule.contact[index]?.source ?? 'contact',
    others: furtherAddresses(candidates, rule, contact, context),
    why: `contact: ${[contact.kind, ...passedOver.map((why) => `not ${why}`)].join('; ')}`,
  };
}

/** Whether the age counts. A backfill asks about a closing of any age, but not long after the closing's planned time. */
function isAgeMinded({ backfilled, dueAt, searched }: Closing): boolean {
  return !searched && !(backfilled && dueAt === undefined);
}

function inWords(inLanguage: ReturnType<typeof campaignFor>): string {
  if (!inLanguage) return 'no campaign';
  const { campaign, why } = inLanguage;
  return `campaign ${campaign}${why === undefined ? '' : ` (${why})`}`;
}

type Choice = { rule: LoadedRule; findings: Findings } | { rule: undefined; skip: Skip };

/**
 * The first rule whose condition is true for the record, with the results of its expressions; no rule where a condition of `never` is
 * true. JSONata's own truth (`$boolean`) decides: 0, an empty text or list, and an expression that finds nothing are false. A condition
 * that can't be evaluated stops the search, as a later rule could be the wrong rule.
 * @throws ExpressionSetAside for an expression that was stopped, with the rules that have it
 */
export async function chooseRule(
  rules: readonly LoadedRule[],
  shape: object,
  never: Never['expressions'] = [],
): Promise<Choice> {
  const { verdicts, findings } = await evaluateFirst([...never, ...rules], shape).catch((error: unknown) => {
    throw error instanceof ExpressionSetAside ? error.in(placesOf(error.source, rules, never)) : error;
  });
  const passed: string[] = [];
  for (const [i, verdict] of verdicts.entries()) {
    const excluding = never[i];
    if (excluding !== undefined) {
      if (!verdict.ok) return failed(`a condition of never could not be evaluated: ${verdict.why}`);
      if (isTrue(verdict)) return { rule: undefined, skip: { reason: 'never', why: excluding.why } };
      continue;
    }
    const rule = rules[i - never.length];
    if (rule === undefined) break;
    if (!verdict.ok) return failed(`the condition of rule "${rule.name}" could not be evaluated: ${verdict.why}`);
    if (isTrue(verdict)) return { rule, findings };
    passed.push(`"${rule.name}"${verdict.value === undefined ? ' finds nothing in the record' : ''}`);
  }
  const why = `no rule's condition is true (${passed.join(', ') || 'there are no rules'})`;
  return { rule: undefined, skip: { reason: 'no-rule', why } };
}

function failed(why: string): Choice {
  return { rule: undefined, skip: { reason: 'condition-failed', why } };
}

/** Where the configuration has this expression, for an error. */
function placesOf(source: string, rules: readonly LoadedRule[], never: Never['expressions']): string {
  const holds = ({ when, then }: LoadedRule): boolean => [when, ...then].some((one) => one?.source === source);
  const places = rules.filter(holds).map(({ name }) => `rule "${name}"`);
  return [...(never.some(({ when }) => when.source === source) ? ['never'] : []), ...places].join(', ');
}

/** Whether this journey belongs to the rule's sample; the same journey always gets the same answer. */
export function inSample(share: number | undefined, journeyRef: string): boolean {
  if (share === undefined) return true;
  return createHash('sha256').update(journeyRef).digest().readUInt32BE(0) / 2 ** 32 < share;
}

/**
 * Why the customer counts as asked already, if so. A closing that is not later than the closing that was asked about is the same
 * closing under another name: settings of the source, or the vendor's stages, have changed.
 */
export function askedAlready(
  rule: LoadedRule,
  { journeyId, closedAt, history: { asked, askedClosedAt, wasTest } }: Closing,
  source: string,
): Skip | undefined {
  const no = (why: string): Skip => ({ reason: 'asked-already', why });
  if (asked === undefined || asked === journeyId) return undefined;
  const ref = refOf(source, asked);
  // Outside test mode a test counts for its own closing only.
  const counts = rule.test !== undefined || wasTest !== true;
  if (rule.again === 'never' && counts)
    return no(`this record's customer was asked already: journey ${ref} (again: never)`);
  if (askedClosedAt === undefined || closedAt > askedClosedAt) return undefined;
  return no(`this record's customer was asked already about this closing, or a later one: journey ${ref}`);
}

function describe(sources: Record<string, string>): string {
  const list = Object.entries(sources).map(([name, source]) => `${name} from ${source}`);
  return list.length > 0 ? list.join(', ') : 'none';
}

/**
 * The rule's campaign. Journeys that ask in a missing campaign wait until a person mends the rule or the campaign.
 * @throws CloseloopError config for a campaign that the service doesn't know, or doesn't let closeloop use
 */
export async function campaignOf(rule: CampaignRule, context: DecisionContext): Promise<Campaign> {
  try {
    return await context.campaigns.get(rule.campaign);
  } catch (error) {
    if (!(error instanceof FeedbackError && (error.status === 404 || error.status === 403))) throw error;
    const message = `source ${context.name}, rule "${rule.name}": the account has no campaign ${rule.campaign}, or it is a draft. ${error.addressFlaw ?? 'Mend the rule, or activate the campaign'}`;
    throw campaignFault(message, rule.campaign, error);
  }
}

/** An error that holds up only the journeys that ask in this campaign. */
export function campaignFault(message: string, campaign: number, cause: CloseloopError): CloseloopError {
  const { advice } = cause;
  const isDoubtful = advice.kind !== 'transient' && advice.doubtful === true;
  const only = needOf.campaign(campaign);
  return new CloseloopError(message, { kind: 'config', only, ...(isDoubtful && { doubtful: true }) }, { cause });
}

/** The rules that fit each campaign, as the campaign was last read: so a rule is checked once, and not for each closing. */
const faultless = new WeakMap<Campaign, WeakSet<LoadedRule>>();

/** Maps the values for the campaign as it is now. @throws CloseloopError config where the rule itself is wrong */
export function mapFields(rule: CampaignRule, findings: Findings, campaign: Campaign, context: FitContext) {
  const known = faultless.get(campaign) ?? new WeakSet();
  if (!known.has(rule)) {
    const fault = ruleFault(rule, campaign, context);
    if (fault) throw fault;
    faultless.set(campaign, known.add(rule));
  }
  return applyMapping(rule.mapping, findings, definitionsOf(campaign, context.marker), {
    timeZone: context.timeZone,
  });
}

/** Turns the service's error about an inactive campaign into an error that a person has to mend. */
export function asCampaignFault(error: unknown, campaign: number): unknown {
  if (!(error instanceof FeedbackError) || !isAboutCampaign(error)) return error;
  const why = `campaign ${campaign}: ${error.message} Activate the campaign, or let the rule ask in another one.`;
  return campaignFault(why, campaign, error);
}

/** The fault that a person has to mend before the rule can be used; only journeys of this rule wait. */
export function ruleFault(rule: CampaignRule, campaign: Campaign, context: FitContext): CloseloopError | undefined {
  const problems = rulesProblems(rule, campaign, context);
  if (problems.length === 0) return undefined;
  const message = `source ${context.name}, rule "${rule.name}": ${problems.join('; ')}. Mend the rule's fields, or the campaign's, then restart`;
  return new CloseloopError(message, { kind: 'config', only: needOf.rule(rule) });
}

/** The problems of a rule that can be found without a record. */
export function rulesProblems(rule: LoadedRule, campaign: Campaign, context: FitContext): string[] {
  return [
    ...checkMapping(rule.mapping, definitionsOf(campaign, context.marker)),
    ...windowProblems(rule, campaign, context),
    ...maxAgeProblems(rule, campaign),
    ...testProblems(rule, campaign),
    ...widgetProblems(campaign),
  ];
}

/** The service refuses requests in a widget's campaign (section 2 of its specification): people find the widget by themselves. */
function widgetProblems({ id, type }: Campaign): string[] {
  return type === 'widget' ? [`campaign ${id} is a widget's: nobody can be asked in it`] : [];
}

/** The campaign's custom fields without the marker, which closeloop fills: no rule has to map the marker, even where the campaign requires a value. */
function definitionsOf(campaign: Campaign, marker: string): Campaign['custom_fields'] {
  return campaign.custom_fields.filter((field) => field.name !== marker);
}
