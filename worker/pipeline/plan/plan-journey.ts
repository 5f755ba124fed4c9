import type { PresentedRecord } from '../../../core/connector/contract.ts';
import { contactKey } from '../../../core/contact.ts';
import { ExpressionSetAside } from '../../../core/mapping/expression.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { Journeys, Named, Operations } from '../context.ts';
import { erasedMeanwhile } from '../erase/erasure-race.ts';
import { type DecisionContext, decide, needsOf } from './decide.ts';
import { vendorsPerson } from './known-as.ts';

/** What planning a journey takes of a source. */
export type PlanJourneyContext = DecisionContext &
  Pick<Named, 'account'> &
  Pick<Journeys, 'store' | 'erasures' | 'contacts'> &
  Pick<Operations, 'log' | 'holds'>;

/** Decides about a received journey and saves the decision; erases the journey where its person was erased meanwhile. */
export async function planJourney(
  journey: Journey,
  record: PresentedRecord,
  context: PlanJourneyContext,
): Promise<Journey> {
  const after = await decided(journey, record, context);
  return (await erasedMeanwhile(after, context)) ?? after;
}

async function decided(journey: Journey, record: PresentedRecord, context: PlanJourneyContext): Promise<Journey> {
  const { clock, store, log } = context;
  const { id: journeyId, recordId, closedAt, dueAt: plannedFor, backfilled } = journey;
  const pass = (rule: Parameters<typeof needsOf>[0]) => context.holds.pass('plan', needsOf(rule));
  const history = await store.records.historyOf(recordId);
  const verdict = await decide(
    { journeyId, closedAt, dueAt: plannedFor, backfilled, history },
    record,
    context,
    pass,
  ).catch(async (error: unknown) => {
    if (error instanceof ExpressionSetAside) await store.note(journeyId, `waits: ${error.message}`);
    throw error;
  });
  if (verdict.do === 'skip') {
    const { rule } = verdict;
    const chosen = {
      ...(rule ? { rule: rule.name, campaign: rule.campaign } : {}),
      ...(record.personId === undefined ? {} : { personId: record.personId }),
    };
    return await skipJourney(journey, verdict, verdict.trace, context, chosen);
  }
  const { rule, campaign, contact, others, place, values, dueAt, trace } = verdict;
  const alsoKnownAs = addressesOf(others, record, context);
  const grades = campaign.grade_list;
  const change = {
    rule: rule.name,
    campaign: campaign.id,
    campaignName: campaign.name,
    ...(grades.length > 0 ? { maxGrade: Math.max(...grades) } : {}),
    place,
    ...(record.personId === undefined ? {} : { personId: record.personId }),
    contact,
    ...(alsoKnownAs.length > 0 && { alsoKnownAs }),
    values,
    dueAt,
  };
  await context.contacts.link(contactKey(contact), alsoKnownAs);
  const { lookedFor } = journey;
  // A search for another contact's request says nothing about this contact, and must not outlive that person's erasure.
  const isOther = lookedFor !== undefined && lookedFor.contact !== contactKey(contact);
  const after = await store.update(
    journey,
    ifStill('received', {
      to: 'waiting',
      at: clock.now(),
      change,
      trace,
      ...(isOther && { without: ['lookedFor'] }),
    }),
  );
  await context.holds.lift('plan', needsOf(rule));
  log.info({ journey: refOf(context.name, journeyId), rule: rule.name, campaign: campaign.id, dueAt }, 'waiting');
  return after ?? journey;
}

/** By what else throttles know the person; none where there is no throttle. */
function addressesOf(others: readonly string[], { personId }: PresentedRecord, context: PlanJourneyContext): string[] {
  const { contacts } = context;
  const keys = [...others, ...(personId === undefined ? [] : [vendorsPerson(context, personId)])];
  return contacts.isLinking ? keys.map((key) => contacts.addressOf(key)) : [];
}

/** @param chosen the rule, campaign and person, as far as they are known */
export async function skipJourney(
  journey: Journey,
  { reason, why }: Skip,
  trace: string[],
  context: PlanJourneyContext,
  chosen: Partial<Journey> = {},
): Promise<Journey> {
  const skipped = await context.store.update(
    journey.id,
    ifStill('received', {
      to: 'skipped',
      at: context.clock.now(),
      why,
      reason,
      change: chosen,
      trace: [...trace, `skipped: ${why}`],
    }),
  );
  context.log.info({ journey: refOf(context.name, journey.id), reason, why }, 'skipped');
  return skipped ?? journey;
}
