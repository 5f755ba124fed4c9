import { refusal } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import { askNow } from '../support/ask-now.ts';
import { type JourneyFilter, select } from '../support/journey-filter.ts';
import { cancel, findAnywhere, replay, resolve } from '../support/repair.ts';
import { inZone } from '../support/shown-time.ts';
import { progress } from './progress.ts';
import type { RuntimeOptions } from './runtime.ts';
import { lineOf, Tally } from './tally.ts';
import { type Sources, withSources } from './with-engine.ts';

type Options = RuntimeOptions & { json: boolean };

/** Replays failed and skipped journeys: the one named, or all that fit the filter. Never asks twice. */
export async function replayJourneys(options: Options & JourneyFilter & { journey?: string }): Promise<number> {
  const { journey: ref, source, state, contact, record, since, until, error } = options;
  if (ref !== undefined && [source, state, contact, record, since, until, error].some((one) => one !== undefined)) {
    throw refusal('Name a journey, or say which ones by --source, --state and so on, not both.');
  }
  return await withSources({ ...options, reads: true }, async (sources) => {
    const chosen =
      ref === undefined
        ? select(contextsOf(sources, source), { ...options, state: state ?? 'failed' })
        : [findAnywhere(sources.engine, ref)];
    const shown = progress(process.stderr);
    const tally = new Tally<{ outcome: string }>();
    let count = 0;
    for await (const { journey, context } of each(chosen)) {
      const outcome = await replay(journey, context);
      const name = refOf(context.name, journey.id);
      tally.add({ outcome }, name);
      shown.update(`Journeys: ${++count}, last ${name}`);
      if (ref !== undefined && outcome.startsWith('not ')) throw refusal(`${ref} is ${outcome}.`);
    }
    shown.end();
    const rows = tally.rows();
    print(
      options,
      { journeys: count, outcomes: rows.map(({ ids, ...row }) => ({ ...row, journeys: ids })) },
      rows.map((row) => lineOf(row.outcome, row)).join('\n') || 'No journeys.',
    );
    return 0;
  });
}

const contextsOf = ({ pipelines }: Sources, name?: string) => pipelines(name).map(({ context }) => context);

/** Ends journeys before they ask; a request that has not been sent yet is cancelled at the service. */
export async function cancelJourney(options: Options & { journey: string; why: string }): Promise<number> {
  return await withSources({ ...options, reads: true }, async (sources) => {
    const { journey, context } = await findAnywhere(sources.engine, options.journey);
    const after = await cancel(journey, options.why, context);
    print(options, { journey: options.journey, state: after }, `${options.journey} is cancelled.`);
    return 0;
  });
}

/** Asks a waiting journey's customer as soon as it may be. */
export async function hurryJourney(options: Options & { journey: string }): Promise<number> {
  return await withSources({ ...options, reads: true }, async (sources) => {
    const { journey, context } = await findAnywhere(sources.engine, options.journey);
    const dueAt = await askNow(journey, context);
    const line = `${options.journey} is to be asked at ${dueAt.toISOString()}.`;
    print(options, { journey: options.journey, state: 'waiting', dueAt }, inZone(line, context.timeZone));
    return 0;
  });
}

/** Resolves a parked journey by what a person knows: whether its customer was asked, or that its grade is written. */
export async function resolveJourney(
  options: Options & { journey: string; asked?: string; notAsked: boolean; written: boolean },
): Promise<number> {
  const given = [options.asked !== undefined, options.notAsked, options.written].filter(Boolean).length;
  if (given !== 1) throw refusal('Say exactly one of --asked <request>, --not-asked and --written.');
  return await withSources({ ...options, reads: true }, async (sources) => {
    const { journey, context } = await findAnywhere(sources.engine, options.journey);
    const { asked, written } = options;
    const settled = asked !== undefined ? { asked } : written ? 'written' : 'not-asked';
    const after = await resolve(journey, settled, context);
    print(options, { journey: options.journey, state: after }, `${options.journey} is ${after}.`);
    return 0;
  });
}

async function* each<T>(found: AsyncIterable<T> | Promise<T>[]): AsyncGenerator<T> {
  for await (const one of found) yield one;
}

function print({ json }: { json: boolean }, shown: object, line: string): void {
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : `${line}\n`);
}
