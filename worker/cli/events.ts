import { refusal } from '../../core/errors.ts';
import type { GivenUp } from '../pipeline/job-queue.ts';
import type { PlanJob } from '../pipeline/jobs.ts';
import { print, say } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import { type Sources, withSources } from './with-engine.ts';

type Options = CommandOptions & { source?: string };

/** Lists events that were given up and have no journey that shows it: changes of records, grades and survey answers. */
export async function listEvents(options: Options): Promise<number> {
  return await withSources({ ...options, reads: true }, async (sources) => {
    const all = await givenUpIn(sources, options.source);
    const { timeZone } = sources.runtime.config.feedback;
    if (all.length === 0 && !options.json) say('No event was given up.');
    for (const { source, event } of all) {
      const { id, at, why, data } = event;
      // Without grade, comment and answers, so that a support engineer may paste this into a ticket.
      const shown = { source, event: id, at, kind: data.kind, about: aboutOf(data), what: data.what, why };
      const line = `${at.toISOString()}  ${source}  ${data.kind.padEnd(7)}  ${shown.about}  ${data.what}: ${why}`;
      print({ ...options, timeZone }, shown, [line, `  ${id}`]);
    }
    return 0;
  });
}

/** Queues one of these events again, or all. */
export async function replayEvents(options: Options & { event?: string }): Promise<number> {
  return await withSources({ ...options, reads: true }, async (sources) => {
    const all = await givenUpIn(sources, options.source);
    const chosen = all.filter(({ event }) => options.event === undefined || event.id === options.event);
    if (options.event !== undefined && chosen.length === 0) {
      throw refusal(`There is no event "${options.event}" that was given up: "closeloop events list" shows them.`);
    }
    for (const { source, event } of chosen) await sources.pipeline(source).jobs.plan.replay(event.id);
    const what = chosen.length === 1 ? '1 event is' : `${chosen.length} events are`;
    print(options, { replayed: chosen.length }, `${what} taken up again.`);
    return 0;
  });
}

async function givenUpIn(
  { pipelines }: Sources,
  name?: string,
): Promise<{ source: string; event: GivenUp<PlanJob> }[]> {
  const found = await Promise.all(
    pipelines(name).map(async ({ context, jobs }) =>
      (await jobs.plan.givenUp()).map((event) => ({ source: context.name, event })),
    ),
  );
  return found.flat();
}

function aboutOf(data: PlanJob): string {
  if ('recordId' in data) return `record ${data.recordId}`;
  return 'requestId' in data ? `request ${data.requestId}` : 'the source';
}
