import type { WriteBack, WriteResult } from '../../../core/connector/contract.ts';
import { CloseloopError, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import { redacted } from '../../../core/redaction.ts';
import type { Answer, Journey } from '../../journey/journey.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { type Decision, ifStill, step } from '../../journey/transitions.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import { erasureSince, type LateAnswerContext, removeLateAnswer } from '../erasure-guard.ts';
import { done, type JobResult, type WriteBackJob } from '../jobs.ts';
import { type ActingContext, isActedOn, queueActs } from '../queue-acts.ts';
import { checkLateWrite, type Sending, send } from './late-write.ts';
import { about, laterAnswer, leftTo, type RecordContext, writeLaterAgain } from './later-answer.ts';

/** What writing back takes of a source. */
export interface WriteBackContext extends RecordContext, Sending, LateAnswerContext, ActingContext {
  log: Log;
  alert: AlertOfSource;
  settleMs: number;
  /** How long whoever began an action may be at it. Real time. */
  searchAfterMs: number;
  /** Saves the written answer, and does what it leads to. Left out: the acting stage does that. */
  saveAndAct?(journey: Journey, written: (now: Journey) => Decision): Promise<Journey | undefined>;
}

/** The wait until the sweep has marked the journey as expired. Real time. */
const expiringMs = 1_000;
/** A write looks so often whether the actions on its record are over. Real time. */
const actingMs = 1_000;
/** The answer to write has changed meanwhile. */
const again: JobResult = { do: 'wait', delayMs: 0 };

/**
 * Puts the newest answer on the record. The job holds only the journey's id: what is written is read now, so that a
 * later grade replaces an earlier one and never the other way round.
 */
export async function writeBack(
  { journeyId, noAnswer, lateWrite }: WriteBackJob,
  context: WriteBackContext,
): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  // What came of a test is written nowhere.
  if (journey === undefined || journey.test) return done;
  // A killed worker may have written the answer after the erasure had removed the others, or the vendor carried out a write late.
  if (journey.erasedAt)
    return noAnswer && journey.state !== 'expired' ? done : await removeLateAnswer(journey, context);
  if (lateWrite) return await checkLateWrite(journey, context);
  if (noAnswer && journey.state === 'asked') return { do: 'wait', delayMs: expiringMs };
  if (journey.state === 'expired') return await writeNoAnswer(journey, context);
  const { answer } = journey;
  // The erasure ends the journey, and takes off what was written before.
  if (!answer || (await erasureSince(journey, context)) !== undefined) return done;
  try {
    return journey.state === 'answered' ? await writeAnswer(journey, answer, context) : done;
  } finally {
    // Afterwards, as actions wait for the write. A job that was killed before it came to that is repeated, and finds the answer written.
    await queueActs(journey, context);
  }
}

async function writeAnswer(journey: Journey, answer: Answer, context: WriteBackContext): Promise<JobResult> {
  const settlesInMs = context.clock.until(new Date(answer.seenAt.getTime() + context.settleMs));
  if (settlesInMs > 0) return { do: 'wait', delayMs: settlesInMs };
  if (isActedOn(journey, context.searchAfterMs, context.ports.now())) return { do: 'wait', delayMs: actingMs };

  const later = await laterAnswer(journey, context);
  if (later) {
    // An earlier attempt may have timed out, and its work have been done since.
    await writeLaterAgain(journey, context);
    return await leaveTo(later, journey, answer, context);
  }

  const item: WriteBack = {
    ...about(journey),
    status: 'answered',
    marker: `${markOf(journey)}.v${answer.version}`,
    grade: answer.grade,
    comment: answer.comment,
    answeredAt: answer.seenAt,
    ...(journey.survey === undefined ? {} : { answers: journey.survey.answers }),
  };
  const result = await send(journey.id, item, context);
  if (!result.ok) return await saveRefused(journey, result, context);
  // Before this journey is saved as written: after a kill in between no job would write the later answer again.
  await writeLaterAgain(journey, context);
  return await saveWritten(journey, answer, result, context);
}

type Result<Ok extends boolean> = Extract<WriteResult, { ok: Ok }>;

async function leaveTo(
  later: Journey,
  journey: Journey,
  answer: Answer,
  { name, store, clock }: WriteBackContext,
): Promise<JobResult> {
  const after = await store.update(
    journey,
    ifStill('answered', {
      to: 'written',
      at: clock.now(),
      change: { writtenVersion: answer.version },
      why: leftTo(later, name),
      trace: [`not written: ${leftTo(later, name)}`],
      when: (now) => now.answer?.version === answer.version,
    }),
  );
  return after?.state === 'answered' ? again : done;
}

/** Saves a successful write, unless a newer answer came meanwhile. An answer that the vendor took only in part parks the journey. */
async function saveWritten(
  journey: Journey,
  answer: Answer,
  result: Result<true>,
  context: WriteBackContext,
): Promise<JobResult> {
  const { name, store, clock, log, saveAndAct = store.update.bind(store) } = context;
  const after = await saveAndAct(journey, afterWriting(journey, answer, result, clock.now()));
  if (after?.erasedAt) return await removeLateAnswer(journey, context);
  if (after?.state === 'parked') {
    const why = `a record does not hold its answer: ${result.findings.join(' ')}`;
    await reportParked(journey, notAllOf(result), { why, remedy: replay }, context);
  } else {
    const said = result.unwritten === undefined ? 'written' : 'not written';
    const why = result.unwritten === undefined ? {} : { why: result.unwritten };
    log.info({ journey: refOf(name, journey.id), version: answer.version, ...why }, said);
  }
  return after?.state === 'answered' ? again : done;
}

/** The journey after a successful write. Pure. */
function afterWriting(before: Journey, answer: Answer, result: Result<true>, at: Date): (now: Journey) => Decision {
  const { findings, remarks = [], where = 'the record', unwritten: why } = result;
  const trace = [...remarks, ...findings.map((finding) => `not taken: ${finding}`)];
  const version = { writtenVersion: answer.version };
  return (now) => {
    if (now.state !== 'answered' && now.state !== 'written') return undefined;
    // A newer answer came, or was written by another worker, during this write: the record may now show the older answer. Or the
    // record was merged meanwhile, or another closing's answer was written at the same time.
    if (now.answer?.version !== answer.version || (now.state === 'answered' && !isAsItWas(now, before))) {
      return { journey: step(now, 'answered', at, version), trace };
    }
    if (now.state === 'written') return undefined;
    if (findings.length > 0) {
      const why = notAllOf(result);
      return { journey: step(now, 'parked', at, { ...version, why }), trace: [...trace, `parked: ${why}`] };
    }
    const line = why === undefined ? `written on ${where} (answer ${answer.version})` : `not written: ${why}`;
    const change = { ...version, ...(why !== undefined && { why }) };
    return { journey: step(now, 'written', at, change), trace: [...trace, line] };
  };
}

function notAllOf({ findings }: Result<true>): string {
  return `the record does not hold all of the answer: ${findings.join(' ')}`;
}

/** Parks a journey whose record refuses the answer, for a person to mend; throws any other error for the queue. */
async function saveRefused(journey: Journey, result: Result<false>, context: WriteBackContext): Promise<JobResult> {
  const { store, clock } = context;
  const now = await store.get(journey.id);
  // The answer, or the record, has changed since.
  if (now?.state === 'answered' && !isAsItWas(now, journey)) return again;
  const { reason, alert } = refusalOf(result);
  const why = `the grade can't be put on the record and is kept here: ${redacted(reason)}`;
  const after = await store.update(
    journey.id,
    ifStill('answered', {
      to: 'parked',
      at: clock.now(),
      why,
      // Parts of the answer may be on the record: an erasure has to remove them.
      change: ({ answer }) => (answer ? { writtenVersion: answer.version } : {}),
      when: (one) => isAsItWas(one, journey),
    }),
  );
  if (after?.state === 'answered') return again;
  await reportParked(journey, why, alert, context);
  return done;
}

/** @throws an error that may be temporary, or that stops the source */
function refusalOf(result: Result<false>): { reason: string; alert: { why: string; remedy: string } } {
  if (result.why !== 'error') {
    const remedy =
      'put them there by hand and "closeloop journeys resolve … --written", or choose a fallback in writeBack';
    const why = 'grades that can not be put on their records are kept here';
    return { reason: result.message, alert: { why, remedy } };
  }
  const { error } = result;
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  const reason = messageOf(error);
  return { reason, alert: { why: `a record refuses its answer: ${reason}`, remedy: replay } };
}

const replay = 'mend that, then "closeloop journeys replay --state parked" writes what is parked again';

async function reportParked(
  { id }: Journey,
  reason: string,
  { why, remedy }: { why: string; remedy: string },
  { name, log, alert }: WriteBackContext,
): Promise<void> {
  log.warn({ journey: refOf(name, id), why: reason }, 'parked');
  await alert('parked', why, remedy, [refOf(name, id)]);
}

/** Whether the journey is unchanged since it was read: no other answer, no merge, no write over its answer. */
function isAsItWas(now: Journey, before: Journey): boolean {
  return now.answer?.version === before.answer?.version && now.updatedAt.getTime() === before.updatedAt.getTime();
}

/** Writes on the record that no answer came, where the source has a place for that. A refusal is only noted in the trace. */
async function writeNoAnswer(journey: Journey, context: WriteBackContext): Promise<JobResult> {
  const { store, source, log } = context;
  if (!source.writesNoAnswer || journey.noAnswerWritten) return done;
  const later = await laterAnswer(journey, context);
  if (later) {
    const why = `not written: ${leftTo(later, context.name)}`;
    await store.update(journey, (now) =>
      now.state === 'expired' && !now.noAnswerWritten
        ? { journey: { ...now, noAnswerWritten: true }, trace: [why] }
        : undefined,
    );
    return done;
  }
  const item: WriteBack = {
    ...about(journey),
    status: 'no-answer',
    marker: `${markOf(journey)}.none`,
    grade: null,
    comment: null,
    answeredAt: journey.updatedAt,
  };
  const result = await send(journey.id, item, context);
  if (!result.ok && result.why === 'error') throw result.error;
  if (result.ok) await writeLaterAgain(journey, context);
  const trace = result.ok
    ? [
        ...(result.remarks ?? []),
        ...result.findings.map((finding) => `not taken: ${finding}`),
        '"no answer" is written on the record',
      ]
    : [`"no answer" can't be put on the record: ${result.message}`];
  const after = await store.update(journey.id, (now) => {
    // The answer came, and may have been written, during this write: the record may now show "no answer".
    if ((now.state === 'written' || now.state === 'answered') && now.answer)
      return { journey: step(now, 'answered', context.clock.now()), trace };
    if (now.state !== 'expired' || now.noAnswerWritten) return undefined;
    return { journey: { ...now, noAnswerWritten: true }, trace };
  });
  if (after?.erasedAt) return await removeLateAnswer(journey, context);
  if (after?.state === 'answered') await context.queueWriteBack([journey.id]);
  log.info({ journey: refOf(context.name, journey.id) }, 'no answer');
  return done;
}

export async function giveUpWriteBack(
  { journeyId, lateWrite }: WriteBackJob,
  why: string,
  context: WriteBackContext,
): Promise<void> {
  if (lateWrite) return;
  const after = await context.store.update(journeyId, (now) => {
    if (now.state === 'expired') return { journey: now, trace: [`"no answer" is not on the record: ${why}`] };
    return ifStill('answered', { to: 'failed', at: context.clock.now(), why })(now);
  });
  // No attempt may have come to that.
  if (after) await queueActs(after, context);
}
