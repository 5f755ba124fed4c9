import type { DashboardOptions } from './options.ts';

type Source = ReturnType<DashboardOptions['engine']>['pipelines'] extends ReadonlyMap<string, infer One> ? One : never;

/** The first source, by which the Feedback service is asked; `problem`: why it is not asked now, as far as that is known before. */
export async function serviceThere({
  engine,
}: Pick<DashboardOptions, 'engine'>): Promise<{ first?: Source['context']; problem?: string }> {
  const { pipelines, service } = engine();
  const [first] = pipelines.values();
  if (first === undefined) return { problem: 'no source is configured' };
  const down = await service.down({ now: true });
  return { first: first.context, ...(down && { problem: down.why }) };
}
