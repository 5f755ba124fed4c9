import { z } from 'zod';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { FeedbackRequest } from '../../core/feedback/request-form.ts';
import type { Campaign } from '../../core/feedback/schemas.ts';
import type { Log } from '../../core/ports.ts';
import type { Clock } from '../clock.ts';
import { refOf, type SourceContext } from '../context.ts';
import type { Journey } from '../journey/journey.ts';
import type { RedisClient } from '../journey/store.ts';
import { mayFollow, step } from '../journey/transitions.ts';
import type { StageResult } from './stage.ts';

export const CollectJob = z.object({ campaign: z.number().int() });

const Seen = z.object({ stats: z.string(), fullAt: z.coerce.date() });

export interface CollectContext {
  redis: RedisClient;
  feedback: FeedbackClient;
  sources: readonly SourceContext[];
  clock: Clock;
  log: Log;
  /** A pass over the whole export even when the counts stand still: some changes leave them alone. */
  fullEveryMs: number;
}

/**
 * Finds new and changed grades of one campaign. One call tells whether anything changed; only then the export is read,
 * page by page. What was seen is stored after the pass, as it was before it: a change during the pass is met again.
 */
export async function collect(
  { campaign: id }: z.output<typeof CollectJob>,
  context: CollectContext,
): Promise<StageResult> {
  const { redis, feedback, clock, log } = context;
  const key = `{cl:collect}:campaign:${id}`;
  const stored = await redis.get(key);
  const seen = stored === null ? undefined : Seen.parse(JSON.parse(stored));
  const campaign = await current(id, context);
  if (!campaign) return { do: 'done' };
  const stats = fingerprint(campaign);
  const now = clock.now();
  const fullDue = !seen || now.getTime() - seen.fullAt.getTime() >= context.fullEveryMs;
  if (!fullDue && seen.stats === stats) return { do: 'done' };

  let answers = 0;
  for await (const page of feedback.requestPages({ campaign: id })) {
    answers += await takeAnswers(page.results, context);
  }
  await redis.set(key, JSON.stringify({ stats, fullAt: now }));
  log.info({ campaign: id, answers }, 'collected');
  return { do: 'done' };
}

/** A campaign that was switched off or removed must not stop the others: its grades wait until it is back. */
async function current(id: number, { feedback, log }: CollectContext): Promise<Campaign | undefined> {
  try {
    return await feedback.campaign(id);
  } catch (error) {
    if (!(error instanceof FeedbackError && (error.status === 403 || error.status === 404))) throw error;
    log.warn({ campaign: id, why: error.message }, 'no grades can be collected from this campaign');
    return undefined;
  }
}

/** What changes whenever a grade or comment comes (mostly: see `fullEveryMs`). */
function fingerprint({ stats }: Campaign): string {
  const counts = Object.entries(stats.grade_counts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([stats.appeals_graded, stats.appeals_commented, stats.average_grade, counts]);
}

async function takeAnswers(requests: readonly FeedbackRequest[], context: CollectContext): Promise<number> {
  const answered = requests.filter(({ grade, comment }) => grade !== null || (comment !== null && comment !== ''));
  let taken = 0;
  for (const source of context.sources) {
    const ids = await source.store.idsOfRequests(answered.map(({ id }) => id));
    const journeys = await Promise.all(
      answered.map(async (request, i) => {
        const journeyId = ids[i];
        return journeyId === undefined ? undefined : await takeAnswer(journeyId, request, source);
      }),
    );
    // Also for an answer that was known: the job may have been lost with the process that stored the answer.
    const due = journeys.flatMap((journey) =>
      journey?.state === 'answered' && journey.answer
        ? [{ journeyId: journey.id, version: journey.answer.version }]
        : [],
    );
    await source.queueWriteBack(due);
    taken += due.length;
  }
  return taken;
}

async function takeAnswer(id: string, request: FeedbackRequest, context: SourceContext): Promise<Journey | undefined> {
  const { grade } = request;
  const comment = request.comment === '' ? null : request.comment;
  return await context.store.update(id, (now) => {
    if (!mayFollow(now.state, 'answered')) return undefined;
    if (now.answer && now.answer.grade === grade && now.answer.comment === comment) return undefined;
    const version = (now.answer?.version ?? 0) + 1;
    const seenAt = context.clock.now();
    const what = version === 1 ? 'answered' : `answer changed (${version})`;
    context.log.info({ journey: refOf(context.name, id), answer: version }, what);
    return {
      journey: step(now, 'answered', seenAt, { answer: { grade, comment, seenAt, version } }),
      trace: [
        `${what}: ${grade === null ? 'no grade' : `grade ${grade}`}${comment === null ? '' : ', with a comment'}`,
      ],
    };
  });
}
