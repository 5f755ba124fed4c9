import type { JourneyState } from '../journey/journey.ts';
import type { SourceFigures } from '../operations/alerts/message.ts';
import { stoppedOf } from './outage-watch.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** Where a journey may be whose customer was asked. */
const askedStates: readonly JourneyState[] = ['asked', 'answered', 'written', 'expired', 'parked', 'failed'];
const pageSize = 500;

/** What became of each source's closings in these days, and what waits for a person now. */
export async function figuresOf(
  pipelines: ReadonlyMap<string, SourcePipeline>,
  week: { from: Date; until: Date },
): Promise<SourceFigures[]> {
  const all: SourceFigures[] = [];
  // One after the other: nobody waits for it, and each may be long.
  for (const pipeline of pipelines.values()) all.push(await figuresOfSource(pipeline, week));
  return all;
}

async function figuresOfSource(pipeline: SourcePipeline, { from, until }: { from: Date; until: Date }) {
  const { name, store } = pipeline.context;
  const isIn = (at: Date | undefined) => at !== undefined && at >= from && at < until;
  let [asked, answered, answeredOfAsked, givenUp] = [0, 0, 0, 0];
  for (const state of askedStates) {
    // Nothing that happened to a journey is later than its last change.
    for await (const ids of store.queries.pagesIn(state, new Date(), pageSize, from)) {
      for (const journey of await store.queries.those(ids)) {
        if (isIn(journey.askedAt)) asked += 1;
        if (isIn(journey.askedAt) && journey.answer) answeredOfAsked += 1;
        if (isIn(journey.answer?.seenAt)) answered += 1;
        if (state === 'failed' && isIn(journey.updatedAt)) givenUp += 1;
      }
    }
  }
  const { parked } = await store.queries.counts();
  const stopped = (await stoppedOf(pipeline)).map(({ stage, why }) => `${stage}: ${why}`);
  return {
    source: name,
    asked,
    answered,
    rate: asked === 0 ? null : answeredOfAsked / asked,
    givenUp,
    parked,
    stopped,
  };
}
