import type { WriteResult } from '../../../core/connector/contract.ts';
import { CloseloopError, messageOf } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports.ts';
import { redacted } from '../../../core/redaction.ts';
import type { Answer, Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import { done, type JobResult } from '../jobs.ts';
import { isAsItWas, leftTo, type RecordContext } from './latest-answer.ts';

/** The parts of a source that are needed to save that an answer was not written. */
interface NotWrittenContext extends RecordContext {
  log: Log;
  alert: AlertOfSource;
}

/** The job's result where the answer to write has changed meanwhile. */
export const again: JobResult = { do: 'wait', delayMs: 0 };

/** Ends the writing of an answer because the record shows a later answer. */
export async function leaveTo(
  later: Journey,
  journey: Journey,
  answer: Answer,
  { name, store, clock }: RecordContext,
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

type Refused = Extract<WriteResult, { ok: false }>;

/** Parks a journey whose record refuses the answer, for a person to mend; throws any other error for the queue. */
export async function saveRefused(journey: Journey, result: Refused, context: NotWrittenContext): Promise<JobResult> {
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
function refusalOf(result: Refused): { reason: string; alert: { why: string; remedy: string } } {
  if (result.why !== 'error') {
    const remedy = `${result.why === 'closed' ? 'choose a fallback in writeBack, or ' : ''}put them there by hand and "closeloop journeys resolve … --written"; where the record takes one again, ${replayed}`;
    const why = 'grades that can not be put on their records are kept here';
    return { reason: result.message, alert: { why, remedy } };
  }
  const { error } = result;
  if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
  const reason = messageOf(error);
  return { reason, alert: { why: `a record refuses its answer: ${reason}`, remedy: replay } };
}

const replayed = '"closeloop journeys replay --state parked" writes what is parked again';
export const replay = `mend that, then ${replayed}`;

export async function reportParked(
  { id }: Journey,
  reason: string,
  { why, remedy }: { why: string; remedy: string },
  { name, log, alert }: NotWrittenContext,
): Promise<void> {
  log.warn({ journey: refOf(name, id), why: reason }, 'parked');
  await alert('parked', why, remedy, [refOf(name, id)]);
}
