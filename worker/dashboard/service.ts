import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { DashboardOptions } from './options.ts';

/** The first source, whose client calls the Feedback service; or the known reason why the service can't be called now. */
export type There =
  | { first: { feedback: FeedbackClient }; problem?: undefined }
  | { first?: undefined; problem: string };

export async function serviceThere({ engine }: Pick<DashboardOptions, 'engine'>): Promise<There> {
  const { pipelines, service } = engine();
  const [first] = pipelines.values();
  if (first === undefined) return { problem: 'no source is configured' };
  const down = await service.down({ now: true });
  return down ? { problem: down.why } : { first: first.context };
}
