import type { Log } from '../../../core/ports.ts';
import { refOf } from '../../journey/refs.ts';
import type { JourneyStore } from '../../journey/store.ts';
import { mayFollow, step } from '../../journey/transitions.ts';
import type { Clock } from '../clock.ts';
import { done, type JobResult, type SurveyJob } from '../jobs.ts';
import type { Queues } from '../queues.ts';

/** The longest wait for the journey of the answers: longer than closeloop takes to find out whether a request was created. Real time. */
const patienceMs = 86_400_000;
const retryMs = 10_000;

export interface SurveyContext {
  name: string;
  log: Log;
  sources(): Promise<
    (Pick<Queues, 'queueWriteBack'> & { name: string; log: Log; store: JourneyStore; clock: Clock })[]
  >;
}

/**
 * Saves a survey's answers in the journey of their feedback request, in any of the sources. The answers are written back with the
 * grade. The newest version wins.
 */
export async function takeSurvey(event: SurveyJob, context: SurveyContext): Promise<JobResult> {
  for (const of of await context.sources()) {
    const [id] = await of.store.requests.journeyIdsOf([event.requestId]);
    if (id === undefined) continue;
    const { at, answers } = event;
    const after = await of.store.update(id, (now) => {
      const isNews = !now.survey || now.survey.at < at;
      const to = now.test ? 'tested' : 'answered';
      if (!isNews || !mayFollow(now.state, to)) return undefined;
      const seenAt = of.clock.now();
      const { grade, comment } = now.answer ?? { grade: null, comment: null };
      const answer = { grade, comment, seenAt, version: (now.answer?.version ?? 0) + 1 };
      return {
        journey: step(now, to, seenAt, { answer, survey: { at, answers } }),
        trace: [
          `${now.test ? 'TEST, written nowhere: ' : ''}answered: ${Object.keys(answers).length} questions of a survey`,
        ],
      };
    });
    if (after?.state === 'answered') await of.queueWriteBack([id]);
    const isTaken = after?.survey?.at.getTime() === at.getTime();
    const fields = { journey: refOf(of.name, id), state: after?.state };
    if (isTaken) of.log.info(fields, 'survey answered');
    else of.log.warn(fields, 'answers to a survey are left out: newer ones are there, or the journey is over');
    return done;
  }
  // The request may belong to a journey in `creating`.
  if (Date.now() - event.receivedAt.getTime() < patienceMs && (await isAnyAsking(context))) {
    return { do: 'wait', delayMs: retryMs };
  }
  context.log.warn({ source: context.name, request: event.requestId }, 'a survey of a request that is not ours');
  return done;
}

async function isAnyAsking(context: SurveyContext): Promise<boolean> {
  const sources = await context.sources();
  const asking = sources.map(({ store }) => store.lists.idsIn('creating', { limit: 1 }));
  return (await Promise.all(asking)).some((ids) => ids.length > 0);
}
