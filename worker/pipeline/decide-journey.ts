import type { PresentedRecord } from '../../core/connector/contract.ts';
import { contactKey } from '../../core/contact.ts';
import { ExpressionSetAside } from '../../core/mapping/expression.ts';
import { languageOf } from '../config/campaign-choice.ts';
import type { Journey } from '../journey/journey.ts';
import type { Skip } from '../journey/reasons.ts';
import type { RecordHistory } from '../journey/record-memory.ts';
import { markOf, refOf } from '../journey/refs.ts';
import { ifStill } from '../journey/transitions.ts';
import type { Journeys, Named, Operations, Policy } from './context.ts';
import { erasedMeanwhile } from './erase/erasure-race.ts';
import { needsOf } from './needs.ts';
import { type DecisionContext, decide, type Verdict } from './policy/decide.ts';
import { customerAddresses, linksOf } from './policy/known-as.ts';

/** Of a job that plans and asks. */
export interface AsksAtOnce {
  /** Whether the job itself asks about this journey, whose customer is due, and which may be a draft. Left out: it only plans. */
  takeDue?: (journey: Journey) => Promise<boolean>;
}

/** What planning a journey takes of a source. */
export type PlanJourneyContext = DecisionContext &
  Pick<Named, 'account'> &
  Pick<Policy, 'customerPaths' | 'dryRun'> &
  Pick<Journeys, 'store' | 'erasures' | 'contacts'> &
  Pick<Operations, 'log' | 'holds'> &
  AsksAtOnce;

/**
 * Decides about a received journey, or a draft of one, and saves the decision; erases the journey where its person was erased
 * meanwhile. A draft whose customer is due stays a draft, as the job that asks stores it. Undefined: there is no such journey, as with
 * `JourneyStore.update`.
 * @param known what the record's customer was asked; left out: that is read
 */
export async function planJourney(
  journey: Journey,
  record: PresentedRecord,
  context: PlanJourneyContext,
  known?: RecordHistory,
): Promise<Journey | undefined> {
  const history = known ?? (await context.store.records.historyOf(journey.recordId));
  const after = await decided(journey, record, history, context);
  if (!after || context.store.drafts.has(after)) return after;
  return (await erasedMeanwhile(after, context)) ?? after;
}

/** Stores a journey that was left a draft. @returns false where that can't be, as for `JourneyStore.update`: its event is to be planned again */
export async function storeHeld(journey: Journey, context: PlanJourneyContext): Promise<boolean> {
  if (!context.store.drafts.has(journey)) return true;
  if (!(await context.store.keep(journey, []))) return false;
  await erasedMeanwhile(journey, context);
  return true;
}

async function decided(
  journey: Journey,
  record: PresentedRecord,
  history: RecordHistory,
  context: PlanJourneyContext,
): Promise<Journey | undefined> {
  const { clock, store, log } = context;
  const { id: journeyId, closedAt, dueAt: plannedFor, backfilled, hurried } = journey;
  const pass = (rule: Parameters<typeof needsOf>[0]) => context.holds.pass('plan', needsOf(rule));
  const verdict = await decide(
    { journeyId, closedAt, dueAt: plannedFor, backfilled, hurried, history },
    record,
    context,
    pass,
  ).catch(async (error: unknown) => {
    // The closing has a journey, whatever its job waits for.
    await store.keep(journey, error instanceof ExpressionSetAside ? [`waits: ${error.message}`] : []);
    throw error;
  });
  const person = personIn(record, verdict, context);
  if (verdict.do === 'skip') {
    const { rule, campaignId } = verdict;
    const chosen = {
      ...(rule ? { rule: rule.name } : {}),
      ...(campaignId === undefined ? {} : { campaign: campaignId }),
      ...person,
    };
    return await skipJourney(journey, verdict, verdict.trace, context, chosen);
  }
  const { rule, campaign, contact, place, values, dueAt, trace } = verdict;
  const locale = languageOf(record.locale);
  const grades = campaign.grade_list;
  const change = {
    rule: rule.name,
    campaign: campaign.id,
    campaignName: campaign.name,
    ...(grades.length > 0 ? { maxGrade: Math.max(...grades) } : {}),
    place,
    ...(locale !== undefined && { locale }),
    ...person,
    contact,
    values,
    dueAt,
  };
  await context.contacts.link(contactKey(contact), linksOf(person, context));
  // Noted before the journey waits: a kill in between leaves a note of a closing that does not wait; whoever finds the note looks at the journey.
  if (!rule.test && context.contacts.comparesWaiting) {
    if (!(await store.keep(journey, []))) return undefined;
    const waiting = { journey: markOf(journey), campaign: campaign.id, closedAt, dueAt };
    await context.contacts.noteWaiting(contactKey(contact), waiting);
  }
  const { searched } = journey;
  // A search for another contact's request says nothing about this contact, and must not outlive that person's erasure.
  const isOther = searched !== undefined && searched.contact !== contactKey(contact);
  const waits = ifStill('received', {
    to: 'waiting',
    at: clock.now(),
    change,
    trace,
    ...(isOther && { without: ['searched'] }),
  });
  const isDue = context.takeDue !== undefined && dueAt <= clock.now() && !context.dryRun;
  const held = isDue ? store.drafts.hold(journey, waits) : undefined;
  const after = held ?? (await store.update(journey, waits));
  await context.holds.lift('plan', needsOf(rule));
  if (!held && after?.state === 'waiting')
    log.info({ journey: refOf(context.name, journeyId), rule: rule.name, campaign: campaign.id, dueAt }, 'waiting');
  return after;
}

/** What the record's customer is known by, beside the contact. */
function personIn(
  { personId, shape }: PresentedRecord,
  verdict: Verdict | undefined,
  context: PlanJourneyContext,
): Pick<Journey, 'personId' | 'alsoKnownAs'> {
  const own = verdict?.do === 'ask' ? contactKey(verdict.contact) : undefined;
  const found = [...(verdict?.do === 'ask' ? verdict.others : []), ...customerAddresses(shape, context)];
  const others = [...new Set(found)].filter((key) => key !== own);
  return {
    ...(personId !== undefined && { personId }),
    ...(others.length > 0 && { alsoKnownAs: others.map((key) => context.contacts.addressOf(key)) }),
  };
}

/** Skips a closing before any rule is looked at. @param record undefined where the record can't be read */
export async function skipUndecided(
  journey: Journey,
  skip: Skip,
  record: PresentedRecord | undefined,
  context: PlanJourneyContext,
): Promise<void> {
  const person = record ? personIn(record, undefined, context) : {};
  const skipped = await skipJourney(journey, skip, [], context, person);
  if (skipped) await erasedMeanwhile(skipped, context);
}

/** @param chosen the rule, the campaign and the person, as far as these are known */
async function skipJourney(
  journey: Journey,
  { reason, why }: Skip,
  trace: string[],
  context: PlanJourneyContext,
  chosen: Partial<Journey> = {},
): Promise<Journey | undefined> {
  const skipped = await context.store.update(
    journey,
    ifStill('received', {
      to: 'skipped',
      at: context.clock.now(),
      why,
      reason,
      change: chosen,
      trace: [...trace, `skipped: ${why}`],
    }),
  );
  if (skipped) context.log.info({ journey: refOf(context.name, journey.id), reason, why }, 'skipped');
  return skipped;
}
