import { sumOf } from '../journey/hourly-counts.ts';
import type { SourceFigures } from '../operations/alerts/message.ts';
import { stoppedOf } from './outage-watch.ts';
import type { SourcePipeline } from './source-pipeline.ts';

/** What became of each source's closings in these days, and what waits for a person now. */
export async function figuresOf(
  pipelines: ReadonlyMap<string, SourcePipeline>,
  week: { from: Date; until: Date },
): Promise<SourceFigures[]> {
  return await Promise.all([...pipelines.values()].map((pipeline) => figuresOfSource(pipeline, week)));
}

async function figuresOfSource(pipeline: SourcePipeline, week: { from: Date; until: Date }): Promise<SourceFigures> {
  const { name, store } = pipeline.context;
  const { asked, answered, responses } = sumOf(await store.queries.countsBetween(week));
  const { parked } = await store.queries.counts();
  const stopped = (await stoppedOf(pipeline)).map(({ stage, why }) => `${stage}: ${why}`);
  return {
    source: name,
    asked,
    answered,
    rate: asked === 0 ? null : responses / asked,
    givenUp: await store.queries.countIn('failed', week),
    parked,
    stopped,
  };
}
