import type { PresentedRecord } from '../../../core/connector/contract.ts';
import { contactKey } from '../../../core/contact.ts';
import type { Log } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import type { Skip } from '../../journey/reasons.ts';
import type { RecordHistory } from '../../journey/record-memory.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { Holds } from '../../operations/holds.ts';
import {
  type AskDecision,
  decideAbout,
  type JourneyDecisionContext,
  linkPerson,
  noteWaiting,
  personIn,
  plannedBy,
  skippedBy,
} from '../decision.ts';
import type { RecordJob } from '../jobs.ts';
import type { Ask } from '../policy/decide.ts';
import type { Policy } from '../policy/source-policy.ts';
import { type CampaignRule, needsOf } from '../rules.ts';
import type { ClosedReading } from '../vendor.ts';

/** The part of the context that only a job that plans and asks has. */
export interface AsksAtOnce {
  /**
   * Whether the job itself asks about this journey, whose customer is due. Left out: the job only plans.
   * @param decision given for a journey that is not stored yet: asking uses this decision
   */
  takeDue?: (journey: Journey, decision: AskDecision | undefined) => Promise<boolean>;
}

/** The parts of a source that planning a journey needs. */
export type PlanJourneyContext = JourneyDecisionContext &
  Pick<Policy, 'dryRun'> &
  AsksAtOnce & { log: Log; holds: Holds };

/** A journey about which closeloop has decided. */
export interface PlannedJourney {
  journey: Journey;
  /** Given where the journey's customer is due and the journey is not stored yet: the job that asks stores it. */
  unstored?: AskDecision;
}

/**
 * Decides about a received journey, or the draft of a journey, and saves the decision. A draft whose customer is due stays a draft, as the job
 * that asks stores it. Undefined: there is no such journey, as with `JourneyStore.update`.
 * @param known the requests to the record's customer so far; left out: they are read from Redis
 */
export async function planJourney(
  journey: Journey,
  reading: ClosedReading,
  context: PlanJourneyContext,
  known?: RecordHistory,
): Promise<PlannedJourney | undefined> {
  const { store } = context;
  const { record } = reading;
  const history = known ?? (await store.records.historyOf(journey.recordId));
  const pass = (rule: CampaignRule) => context.holds.pass('plan', needsOf(rule));
  const verdict = await decideAbout(journey, record, { history, pass }, context);
  if (verdict.do === 'skip') {
    const skipped = await skipJourney(journey, verdict, verdict.trace, context, skippedBy(verdict, record, context));
    return skipped && { journey: skipped };
  }
  return await saveDecision(journey, { verdict, reading, isFenced: true }, context);
}

async function saveDecision(
  journey: Journey,
  decision: AskDecision,
  context: PlanJourneyContext,
): Promise<PlannedJourney | undefined> {
  const { clock, store, log } = context;
  const { verdict, reading } = decision;
  const { rule, campaign, contact, dueAt } = verdict;
  const change = plannedBy(verdict, reading.record, context);
  await linkPerson(change, context);
  if (context.contacts.comparesWaiting) {
    if (!(await store.keep(journey, []))) return undefined;
    await noteWaiting(journey, verdict, context);
  }
  const waits = ifStill('received', {
    to: 'waiting',
    at: clock.now(),
    change,
    trace: verdict.trace,
    ...(searchedAnother(journey, contact) && { without: ['searched'] }),
  });
  const isDue = context.takeDue !== undefined && dueAt <= clock.now() && !context.dryRun;
  const held = isDue ? store.drafts.hold(journey, waits) : undefined;
  const after = held ?? (await store.update(journey, waits));
  await context.holds.lift('plan', needsOf(rule));
  if (held) return { journey: held, unstored: decision };
  if (after?.state === 'waiting')
    log.info({ journey: refOf(context.name, journey.id), rule: rule.name, campaign: campaign.id, dueAt }, 'waiting');
  return after && { journey: after };
}

/** A search for another contact's request says nothing about this contact, and must not outlive that person's erasure. */
function searchedAnother({ searched }: Journey, contact: Ask['contact']): boolean {
  return searched !== undefined && searched.contact !== contactKey(contact);
}

/** Skips a closing before any rule is evaluated. @param record undefined where the record can't be read */
export async function skipUndecided(
  journey: Journey,
  skip: Skip,
  record: PresentedRecord | undefined,
  context: PlanJourneyContext,
): Promise<void> {
  const person = record ? personIn(record, undefined, context) : {};
  await skipJourney(journey, skip, [], context, person);
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
  if (skipped?.state === 'skipped')
    context.log.info({ journey: refOf(context.name, journey.id), reason, why }, 'skipped');
  return skipped;
}

/** The parts of a source that making the journey of a closing needs. */
export interface ReceivingContext extends Pick<PlanJourneyContext, 'store' | 'name' | 'log' | 'clock'> {
  /** Reports a closing that the poll found, and no webhook had reported. */
  missed(ref: string, at: Date): Promise<void>;
}

export interface ClosingAt {
  recordId: string;
  closing: string;
  closedAt: Date;
}

/** Finds the journey of this closing, or creates it. */
export async function getOrCreateJourney(event: RecordJob, at: ClosingAt, context: ReceivingContext): Promise<Journey> {
  return (await context.store.getOrCreate(newClosing(event, at, context), [receivedLine(event, context)])).journey;
}

export function newClosing(event: RecordJob, at: ClosingAt, context: ReceivingContext) {
  const { key: eventKey, receivedAt, via } = event;
  const onStored = (journey: Journey) => noteReceived(event, journey, context);
  return { ...at, eventKey, receivedAt, backfilled: via === 'backfill', onStored };
}

/** By this much the clock of a vendor may be ahead, or its zone be mistaken. */
const mostAheadMs = 86_400_000;

/** Tells of a closing that is dated in the future, mostly by a slip: it waits for that day, which nobody would notice. */
export function aheadLine(closedAt: Date, now: Date): string | undefined {
  if (closedAt.getTime() - now.getTime() <= mostAheadMs) return undefined;
  return `it is dated ${closedAt.toISOString()}, which is yet to come: it waits for that day, unless a person has it asked now`;
}

export function receivedLine(
  { receivedAt, what, at, via }: RecordJob,
  { clock }: Pick<ReceivingContext, 'clock'>,
): string {
  const found =
    via === 'poll' ? ', found by the poll: no webhook had reported it' : via === 'backfill' ? ', backfill' : '';
  return `received ${clock.at(receivedAt).toISOString()}: ${what}, at ${at.toISOString()}${found}`;
}

async function noteReceived(event: RecordJob, { id }: Journey, { name, log, missed }: ReceivingContext): Promise<void> {
  const ref = refOf(name, id);
  log.info({ journey: ref, event: event.what }, 'received');
  if (event.via === 'poll') await missed(ref, event.at);
}

export function isOutside(closedAt: Date, { notBefore, notAfter }: RecordJob): boolean {
  return (notBefore !== undefined && closedAt < notBefore) || (notAfter !== undefined && closedAt > notAfter);
}
