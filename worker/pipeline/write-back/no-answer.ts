import type { Journey } from '../../journey/journey.ts';
import { markOf, refOf } from '../../journey/refs.ts';
import { step } from '../../journey/transitions.ts';
import { removeLateAnswer } from '../erase/written-answers.ts';
import { done, type JobResult } from '../jobs.ts';
import { about, type IsLater, laterAnswer, leftTo, type WriteBackContext, writeLaterAgain } from './record-answers.ts';

/** That nobody answered, where the source wants to know. What can't be written is told and left: nothing is lost by it. */
export async function writeNoAnswer(journey: Journey, context: WriteBackContext): Promise<JobResult> {
  const { store, source, log } = context;
  if (!source.writesNoAnswer || journey.noAnswerWritten || journey.erasedAt) return done;
  // That an earlier closing got no answer says nothing where a later one has.
  const isLater: IsLater = ({ isNewer }) => isNewer;
  const later = await laterAnswer(journey, context, isLater);
  if (later) {
    const why = leftTo(later, context.name);
    await store.update(journey.id, (now) =>
      now.state === 'expired' && !now.noAnswerWritten
        ? { journey: { ...now, noAnswerWritten: true }, trace: [why] }
        : undefined,
    );
    return done;
  }
  const result = await context.write({
    ...about(journey),
    outcome: 'no-answer',
    marker: `${markOf(journey)}.none`,
    grade: null,
    comment: null,
    answeredAt: journey.updatedAt,
  });
  if (!result.ok && result.why === 'error') throw result.error;
  if (result.ok) await writeLaterAgain(journey, context, isLater);
  const told = result.ok
    ? [
        ...(result.remarks ?? []),
        ...result.findings.map((finding) => `not taken: ${finding}`),
        '"no answer" is written on the record',
      ]
    : [`"no answer" can't be put on the record: ${result.message}`];
  const after = await store.update(journey.id, (now) => {
    // The answer came, and may have been written, while this was on its way: the record may show the older now.
    if (now.state === 'written' && now.answer)
      return { journey: step(now, 'answered', context.clock.now()), trace: told };
    if (now.state !== 'expired' || now.noAnswerWritten || now.erasedAt) return undefined;
    return { journey: { ...now, noAnswerWritten: true }, trace: told };
  });
  if (after?.erasedAt) await removeLateAnswer(journey, context);
  if (after?.state === 'answered') await context.queueWriteBack([journey.id]);
  log.info({ journey: refOf(context.name, journey.id) }, 'no answer');
  return done;
}
