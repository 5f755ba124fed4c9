import type { WriteBack } from '../../../core/connector/contract.ts';
import type { Log } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { step } from '../../journey/transitions.ts';
import { type LateAnswerContext, removeLateAnswer } from '../erasure-guard.ts';
import { done, type JobResult } from '../jobs.ts';
import {
  about,
  laterAnswer,
  leftTo,
  type RecordContext,
  type Sending,
  send,
  writeLaterAgain,
} from './latest-answer.ts';

/** Writes on the record that no answer came, where the source has a field for that. A refusal is only noted in the trace. */
export async function writeNoAnswer(
  journey: Journey,
  context: RecordContext & Sending & LateAnswerContext & { log: Log },
): Promise<JobResult> {
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
