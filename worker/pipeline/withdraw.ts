import { adviceOf, messageOf } from '../../core/errors.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { isCancelled } from '../../core/feedback/request-form.ts';
import type { Log } from '../../core/ports.ts';
import type { Journey } from '../journey/journey.ts';
import { unaskedStates } from '../journey/outcomes.ts';
import { markOf, refOf } from '../journey/refs.ts';
import { askedContactOf, ifStill } from '../journey/transitions.ts';
import type { Holds } from '../operations/holds.ts';
import type { Clock } from './clock.ts';
import { done, type JobResult, retryLater } from './jobs.ts';
import type { Queues } from './queues.ts';
import type { Journeys } from './source-store.ts';
import type { Vendor } from './vendor.ts';

/** The parts of a source that withdrawing needs. */
export interface WithdrawContext extends Pick<Journeys, 'store' | 'contacts' | 'caps'> {
  name: string;
  clock: Clock;
  log: Log;
  feedback: FeedbackClient;
  holds: Holds;
}

/**
 * Ends a journey whose record should no longer be asked about. A journey that has not asked is cancelled. A request that the service
 * has not sent yet is cancelled at the service. Otherwise the trace says that the withdrawal came too late.
 * @param options `isOut`: closeloop can't ask about the record now, but the record might come back with the same closing
 * @returns `asking`: the service may be processing the request; call again when its outcome is known
 */
export async function withdraw(
  journey: Journey,
  why: string,
  context: WithdrawContext,
  options = { isOut: false },
): Promise<'ended' | 'asking'> {
  const { store, log } = context;
  let reason = why;
  if (journey.state === 'asked' && journey.requestId !== undefined) {
    // The intent is stored first: the record may be closed again after the service has cancelled the request and before closeloop saves that.
    await store.update(journey.id, (now) =>
      now.state === 'asked' && now.requestId === journey.requestId && now.withdrawing === undefined
        ? { journey: { ...now, withdrawing: why }, trace: [] }
        : undefined,
    );
    const late = await cancelRequest(journey.requestId, context);
    if (late !== undefined) {
      const line = `${why}: too late, the service has sent the request (${late})`;
      const last = (await store.trace(journey.id)).at(-1);
      await store.update(journey.id, ({ withdrawing, ...now }) =>
        withdrawing === undefined ? undefined : { journey: now, trace: last?.text === line ? [] : [line] },
      );
      return 'ended';
    }
    reason = `${why}; the request had not been sent yet and was cancelled at the service`;
    // The customer was not asked after all: no throttle or cap must count the request. This is done before the journey is cancelled, as
    // after a kill in between all steps are repeated.
    const asked = askedContactOf(journey);
    if (asked) await context.contacts.noteWithdrawn(asked, markOf(journey));
    await context.caps.giveBack(markOf(journey));
  }
  const after = await store.update(
    journey.id,
    ifStill([...unaskedStates, ...(journey.state === 'asked' ? (['asked'] as const) : [])], {
      to: 'cancelled',
      at: context.clock.now(),
      why: reason,
      change: options.isOut ? { wasOut: true } : {},
      when: (now) => now.state !== 'asked' || now.requestId === journey.requestId,
    }),
  );
  if (after?.state === 'creating') return 'asking';
  // The journey has asked since the caller read it.
  if (after?.state === 'asked' && journey.state !== 'asked') return await withdraw(after, why, context, options);
  if (after?.state !== 'cancelled' || after.why !== reason) return 'ended';
  log.info({ journey: refOf(context.name, journey.id), why: reason }, 'cancelled');
  if (after.requestId === undefined) await giveBack(after, context);
  return 'ended';
}

/** The customer was not asked: frees the journey's cap slots, and deletes its contact's note, so that neither holds up another journey. */
export async function giveBack(journey: Journey, context: Pick<WithdrawContext, 'contacts' | 'caps'>): Promise<void> {
  await context.caps.giveBack(markOf(journey));
  const contact = askedContactOf(journey);
  if (contact) await context.contacts.forgetAsked(contact, markOf(journey));
}

/**
 * Queues the record to be planned if it is closed again by now. Its journey has just ended because the record was gone. An event that says that
 * the record is back may have come before that end, and so have changed nothing.
 * @param key the key of the event
 */
export async function queueIfBack(
  recordId: string,
  key: string,
  { read, queueEvent }: Pick<Vendor, 'read'> & Pick<Queues, 'queueEvent'>,
): Promise<void> {
  const status = await read(recordId, 'plan');
  if (status.is !== 'closed') return;
  const what = 'found closed again after its journey had ended';
  await queueEvent({ kind: 'closed', recordId, at: status.closedAt, key, what, receivedAt: new Date() });
}

/** Withdraws a journey as `withdraw` does, but logs a permanent refusal by the service instead of throwing it. */
export async function tryToWithdraw(
  journey: Journey,
  why: string,
  context: WithdrawContext,
): Promise<'ended' | 'asking'> {
  try {
    return await withdraw(journey, why, context);
  } catch (error) {
    // A person has to mend the form of the call; other work must not wait until then.
    if (adviceOf(error).kind !== 'permanent' && !isFormFault(error)) throw error;
    const fields = { journey: refOf(context.name, journey.id), why: messageOf(error) };
    context.log.warn(fields, 'its request could not be cancelled');
    return 'ended';
  }
}

/** Withdraws each journey. @returns `asking` when any withdrawal returns `asking` */
export async function withdrawAll(
  journeys: readonly Journey[],
  why: string,
  context: WithdrawContext,
  options = { isOut: false },
): Promise<'ended' | 'asking'> {
  const ends: string[] = [];
  for (const journey of journeys) ends.push(await withdraw(journey, why, context, options));
  return ends.includes('asking') ? 'asking' : 'ended';
}

/**
 * Withdraws the unasked journeys of a record that was merged into another, and queues the remaining record to be planned. Answers
 * to journeys that have asked go to the remaining record. @param at when the event reported the merge
 */
export async function merged(
  recordId: string,
  into: string,
  at: Date,
  context: WithdrawContext & Pick<Queues, 'queueEvent'>,
): Promise<JobResult> {
  const { store, clock } = context;
  const remaining = await store.records.remainingOf(recordId, into);
  const why = `its record was merged into ${remaining}`;
  for (const journey of await store.records.journeysOf(recordId)) {
    if (journey.state === 'creating') return retryLater;
    if (unaskedStates.includes(journey.state)) {
      // Queued before withdrawing: after a kill in between the journey still waits, and both steps are repeated.
      await queueRemaining(recordId, remaining, at, context);
      if ((await withdraw(journey, why, context)) === 'asking') return retryLater;
      continue;
    }
    await store.update(journey.id, (now) =>
      now.currentId === remaining
        ? undefined
        : { journey: { ...now, currentId: remaining, updatedAt: clock.now() }, trace: [`${why}: answers go there`] },
    );
  }
  await store.records.merge(recordId, remaining);
  return done;
}

/** Queues the record that another record was merged into to be planned, as no event of that record may come. */
export async function queueRemaining(
  recordId: string,
  remaining: string,
  at: Date,
  { queueEvent }: Pick<Queues, 'queueEvent'>,
): Promise<void> {
  await queueEvent({
    kind: 'closed',
    recordId: remaining,
    at,
    key: `merged:${recordId}:${remaining}`,
    what: `${recordId} was merged into it`,
    receivedAt: new Date(),
  });
}

/** Whether the refusal is about this request; 403: the campaign is no longer active. */
const refusals: readonly (number | undefined)[] = [400, 403, 404, 409, 410, 422];
/** The name that the service's client gives to the form of the cancel call. */
const cancelNeed = 'operation cancel';

function isFormFault(error: unknown): boolean {
  const advice = adviceOf(error);
  return advice.kind === 'config' && advice.only === cancelNeed;
}

/** Cancels the request at the service. @returns why it could not be cancelled */
async function cancelRequest(requestId: string, { feedback, holds }: WithdrawContext): Promise<string | undefined> {
  await holds.pass('plan', [cancelNeed]);
  try {
    await feedback.cancel(requestId);
    await holds.lift('plan', [cancelNeed]);
    return undefined;
  } catch (error) {
    if (!(error instanceof FeedbackError && refusals.includes(error.status)) || isFormFault(error)) throw error;
  }
  // The service refused: the request was sent already, or an earlier attempt has cancelled it and the response was lost.
  try {
    const { status } = await feedback.request(requestId);
    if (status === null) return 'its status is not shown';
    return isCancelled(status) ? undefined : `its status is "${status}"`;
  } catch (error) {
    if (error instanceof FeedbackError && refusals.includes(error.status))
      return 'the service does not show it any more';
    throw error;
  }
}
