import type { PresentedRecord } from '../../core/connector/contract.ts';
import { contactKey } from '../../core/contact.ts';
import { ExpressionSetAside } from '../../core/mapping/expression-failure.ts';
import { languageOf } from '../config/campaign-choice.ts';
import type { Journey } from '../journey/journey.ts';
import type { RecordHistory } from '../journey/record-memory.ts';
import { markOf } from '../journey/refs.ts';
import type { Clock } from './clock.ts';
import { type Ask, type DecisionContext, decide, type Verdict } from './policy/decide.ts';
import { customerAddresses, linksOf, type StoredSource } from './policy/known-as.ts';
import type { Policy } from './policy/source-policy.ts';
import type { CampaignRule } from './rules.ts';
import type { Journeys } from './source-store.ts';
import type { ClosedReading } from './vendor.ts';

// Planning and asking share this file: both decide about a journey, by a reading of its record and by the present configuration.

/** The parts of a source that deciding about a journey needs. */
export type JourneyDecisionContext = DecisionContext &
  StoredSource &
  Pick<Policy, 'customerPaths'> &
  Pick<Journeys, 'store' | 'contacts'> & { clock: Clock };

/** A decision to ask, and the reading of the record on which it is based. */
export interface AskDecision {
  verdict: Ask;
  reading: ClosedReading;
  /**
   * The journey is not stored yet, and can be stored only while the requests to the record's customer are the same as at the decision
   * (`Drafts.make`).
   */
  isFenced: boolean;
}

/**
 * Decides about a journey by a reading of its record. If closeloop can't decide now, it stores the journey and throws the error, so that the closing
 * is not lost, whatever its job waits for.
 * @param pass throws where the chosen rule, or its campaign, is held until a person has mended it
 */
export async function decideAbout(
  journey: Journey,
  record: PresentedRecord,
  { history, pass }: { history: RecordHistory; pass: (rule: CampaignRule) => Promise<void> },
  context: JourneyDecisionContext,
): Promise<Verdict> {
  const { id: journeyId, source, closedAt, dueAt, backfilled, hurried, searched } = journey;
  const closing = { journeyId, source, closedAt, dueAt, backfilled, hurried, searched, history };
  return await decide(closing, record, context, context.clock.now(), pass).catch(async (error: unknown) => {
    const why = error instanceof ExpressionSetAside ? `waits: ${error.message}` : undefined;
    // The trace of a journey that is retried every few minutes gives the reason only once.
    const isNews = why !== undefined && (await context.store.trace(journey)).at(-1)?.text !== why;
    await context.store.keep(journey, isNews ? [why] : []);
    throw error;
  });
}

/** The fields of the journey that a decision to ask sets; undefined where the decision leaves them open. */
export function plannedBy(verdict: Ask, record: PresentedRecord, context: JourneyDecisionContext) {
  const { rule, campaign, contact, place, values, dueAt } = verdict;
  const grades = campaign.grade_list;
  return {
    rule: rule.name,
    campaign: campaign.id,
    campaignName: campaign.name,
    maxGrade: grades.length > 0 ? Math.max(...grades) : undefined,
    place,
    locale: languageOf(record.locale),
    ...personIn(record, verdict, context),
    contact,
    values,
    dueAt,
  };
}

/** The fields of the journey that a decision not to ask sets. */
export function skippedBy(
  verdict: Extract<Verdict, { do: 'skip' }>,
  record: PresentedRecord,
  context: JourneyDecisionContext,
) {
  const { rule, campaignId } = verdict;
  return {
    ...(rule && { rule: rule.name }),
    ...(campaignId !== undefined && { campaign: campaignId }),
    ...personIn(record, undefined, context),
  };
}

/** The vendor's id and the addresses of the record's customer, beside the contact. */
export function personIn(
  { personId, shape }: PresentedRecord,
  verdict: Ask | undefined,
  context: JourneyDecisionContext,
): Pick<Journey, 'personId' | 'alsoKnownAs'> {
  const own = verdict && contactKey(verdict.contact);
  const found = [...(verdict?.others ?? []), ...customerAddresses(shape, context)];
  const others = [...new Set(found)].filter((key) => key !== own);
  return {
    personId,
    alsoKnownAs: others.length > 0 ? others.map((key) => context.contacts.addressOf(key)) : undefined,
  };
}

/** Links the addresses of the person to be asked, for throttles. */
export async function linkPerson(
  { contact, personId, alsoKnownAs }: Pick<Journey, 'personId' | 'alsoKnownAs'> & Pick<Ask, 'contact'>,
  context: JourneyDecisionContext,
): Promise<void> {
  await context.contacts.link(contactKey(contact), linksOf({ personId, alsoKnownAs }, context));
}

/**
 * Notes that the closing waits, for throttles with `prefer: latest`. The note is stored before the journey waits: a kill in between leaves a note of
 * a closing that does not wait, so every reader of a note checks the journey.
 */
export async function noteWaiting(
  journey: Journey,
  { rule, campaign, contact, dueAt }: Ask,
  { contacts }: JourneyDecisionContext,
): Promise<void> {
  const { closedAt } = journey;
  const closing = { journey: markOf(journey), campaign: campaign.id, closedAt, dueAt, isTest: rule.test !== undefined };
  await contacts.waits.note(contactKey(contact), closing);
}
