import type { WriteBack, WriteResult } from '../../../core/connector/contract.ts';
import type { Log } from '../../../core/ports.ts';
import type { Answer, Journey } from '../../journey/journey.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { type Decision, ifStill, step } from '../../journey/transitions.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import { erasureSince, type LateAnswerContext, removeLateAnswer } from '../erasure-guard.ts';
import { done, type JobResult, type WriteBackJob } from '../jobs.ts';
import { type ActingContext, isActedOn, queueActs } from '../queue-acts.ts';
import {
  about,
  checkLateWrite,
  isAsItWas,
  laterAnswer,
  leftTo,
  type RecordContext,
  type Sending,
  send,
  writeLaterAgain,
} from './latest-answer.ts';
import { writeNoAnswer } from './no-answer.ts';
import { again, leaveTo, replay, reportParked, saveRefused } from './not-written.ts';

/** The parts of a source that writing back needs. */
export interface WriteBackContext extends RecordContext, Sending, LateAnswerContext, ActingContext {
  log: Log;
  alert: AlertOfSource;
  settleMs: number;
  /** How long an action that was begun may be under way. Real time. */
  searchAfterMs: number;
  /** Saves the written answer, and does the actions that it leads to. Left out: the acting stage does the actions. */
  saveAndAct?(journey: Journey, written: (now: Journey) => Decision): Promise<Journey | undefined>;
}

/** The wait until the sweep has marked the journey as expired. Real time. */
const expiringMs = 1_000;
/** The time between two checks of a write whether the actions on its record have ended. Real time. */
const actingMs = 1_000;

/**
 * Puts the newest answer on the record. The job holds only the journey's id, and reads the answer now, so that a
 * later grade replaces an earlier grade and never the other way round.
 */
export async function writeBack(
  { journeyId, noAnswer, lateWrite }: WriteBackJob,
  context: WriteBackContext,
): Promise<JobResult> {
  const journey = await context.store.get(journeyId);
  // closeloop does not write the answer to a test on a record.
  if (journey === undefined || journey.test) return done;
  // A worker may have written the answer after the erasure had removed the other answers, and was killed; or the vendor carried out a write late.
  if (journey.erasedAt)
    return noAnswer && journey.state !== 'expired' ? done : await removeLateAnswer(journey, context);
  if (lateWrite) return await checkLateWrite(journey, context);
  if (noAnswer && journey.state === 'asked') return { do: 'wait', delayMs: expiringMs };
  if (journey.state === 'expired') return await writeNoAnswer(journey, context);
  const { answer } = journey;
  // The erasure ends the journey, and removes answers that were written before.
  if (!answer || (await erasureSince(journey, context)) !== undefined) return done;
  try {
    return journey.state === 'answered' ? await writeAnswer(journey, answer, context) : done;
  } finally {
    // Actions are queued after the write, as they wait for it. A job that was killed before this line is repeated, and finds the answer written.
    await queueActs(journey, context);
  }
}

async function writeAnswer(journey: Journey, answer: Answer, context: WriteBackContext): Promise<JobResult> {
  const settlesInMs = context.clock.until(new Date(answer.seenAt.getTime() + context.settleMs));
  if (settlesInMs > 0) return { do: 'wait', delayMs: settlesInMs };
  if (isActedOn(journey, context.searchAfterMs, context.ports.now())) return { do: 'wait', delayMs: actingMs };

  const later = await laterAnswer(journey, context);
  if (later) {
    // An earlier attempt may have timed out, and the vendor may have carried it out since.
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
  // The later answer is queued before this journey is saved as written: in the other order, after a kill no job would write the later answer again.
  const overtaking = await writeLaterAgain(journey, context);
  return await saveWritten(journey, answer, overtaking ? overtaken(result, overtaking, context) : result, context);
}

type Written = Extract<WriteResult, { ok: true }>;

/** What a record lacks of an answer is no fault where another job has written a later answer meanwhile: the record shows that answer. */
function overtaken(
  { findings, remarks = [], ...result }: Written,
  later: Journey,
  { name }: WriteBackContext,
): Written {
  return { ...result, findings: [], remarks: findings.length > 0 ? [...remarks, leftTo(later, name)] : remarks };
}

/** Saves a successful write, unless a newer answer came meanwhile. An answer that the vendor took only in part parks the journey. */
async function saveWritten(
  journey: Journey,
  answer: Answer,
  result: Written,
  context: WriteBackContext,
): Promise<JobResult> {
  const { name, store, clock, log, saveAndAct = store.update.bind(store) } = context;
  const after = await saveAndAct(journey, afterWriting(journey, answer, result, clock.now()));
  if (after?.erasedAt) return await removeLateAnswer(journey, context);
  if (after?.state === 'parked') {
    const why = `a record does not hold its answer: ${inOne(result)}`;
    await reportParked(journey, notAllOf(result), { why, remedy: replay }, context);
  } else {
    const said = result.unwritten === undefined ? 'written' : 'not written';
    const why = result.unwritten === undefined ? {} : { why: result.unwritten };
    log.info({ journey: refOf(name, journey.id), version: answer.version, ...why }, said);
  }
  return after?.state === 'answered' ? again : done;
}

/** The journey after a successful write. Pure. */
function afterWriting(before: Journey, answer: Answer, result: Written, at: Date): (now: Journey) => Decision {
  const { findings, remarks = [], where = 'the record', unwritten: why } = result;
  const trace = [...remarks, ...findings.map((finding) => `not taken: ${finding}`)];
  const version = { writtenVersion: answer.version };
  return (now) => {
    if (now.state !== 'answered' && now.state !== 'written') return undefined;
    // A newer answer came, or another worker wrote a newer answer, during this write: the record may now show the older answer. Or the
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

function notAllOf(result: Written): string {
  return `the record does not hold all of the answer: ${inOne(result)}`;
}

/** Some findings end with a full stop, and some do not. */
const inOne = ({ findings }: Written): string => findings.join('; ').replaceAll('.; ', '; ');

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
  // Perhaps no attempt has queued the actions.
  if (after) await queueActs(after, context);
}
