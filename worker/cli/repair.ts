import { CloseloopError, refusal } from '../../core/errors.ts';
import type { Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { askNow } from '../support/ask-now.ts';
import { type JourneyFilter, select } from '../support/journey-filter.ts';
import { cancel, findAnywhere, replay, resolve } from '../support/repair.ts';
import { inZone } from '../support/shown-time.ts';
import { print } from './output.ts';
import { progress } from './progress.ts';
import type { CommandOptions } from './runtime.ts';
import { Tally } from './tally.ts';
import { withSources } from './with-engine.ts';

/** Replays failed and skipped journeys: the one named, or all that fit the filter. Never asks twice. */
export async function replayJourneys(options: CommandOptions & JourneyFilter & { journey?: string }): Promise<number> {
  const { journey: ref, source, state, contact, record, since, until, error } = options;
  if (ref !== undefined && [source, state, contact, record, since, until, error].some((one) => one !== undefined)) {
    throw refusal('Name a journey, or say which ones by --source, --state and so on, not both.');
  }
  return await withSources({ ...options, reads: true }, async ({ engine, pipelines }) => {
    const contexts = ref === undefined ? pipelines(source).map(({ context }) => context) : [];
    const chosen =
      ref === undefined
        ? select(contexts, { ...options, state: state ?? 'failed' })
        : [await findAnywhere(engine, ref)];
    const shown = progress(process.stderr);
    const tally = new Tally('outcome');
    let count = 0;
    for await (const { journey, context } of chosen) {
      const outcome = await replay(journey, context);
      const name = refOf(context.name, journey.id);
      tally.add(outcome, name);
      shown.update(`Journeys: ${++count}, last ${name}`);
      if (ref !== undefined && outcome.startsWith('not ')) throw refusal(`${ref} is ${outcome}.`);
    }
    shown.end();
    print(options, { journeys: count, outcomes: tally.rows() }, tally.text('No journeys.'));
    return 0;
  });
}

type OneOptions = CommandOptions & { journey: string };
type Context = Awaited<ReturnType<typeof findAnywhere>>['context'];

/** Changes the journey with this reference, and prints the journey's new state. */
async function change(
  options: OneOptions,
  work: (journey: Journey, context: Context) => Promise<{ result: object; text: string }>,
): Promise<number> {
  return await withSources({ ...options, reads: true }, async ({ engine }) => {
    const { journey, context } = await findAnywhere(engine, options.journey);
    const { timeZone } = context;
    const { result, text } = await work(journey, context).catch((error: unknown) => {
      if (error instanceof CloseloopError) error.message = inZone(error.message, timeZone);
      throw error;
    });
    print({ ...options, timeZone }, { journey: options.journey, ...result }, `${options.journey} is ${text}.`);
    return 0;
  });
}

/** Ends journeys before they ask; a request that has not been sent yet is cancelled at the service. */
export async function cancelJourney(options: OneOptions & { why: string }): Promise<number> {
  return await change(options, async (journey, context) => {
    const state = await cancel(journey, options.why, context);
    return { result: { state }, text: state };
  });
}

/** Asks a waiting journey's customer as soon as it may be. */
export async function hurryJourney(options: OneOptions): Promise<number> {
  return await change(options, async (journey, context) => {
    const dueAt = await askNow(journey, context);
    return { result: { state: 'waiting', dueAt }, text: `to be asked at ${dueAt.toISOString()}` };
  });
}

/** Resolves a parked journey by what a person knows: whether its customer was asked, or that its grade is written. */
export async function resolveJourney(
  options: OneOptions & { asked?: string; notAsked: boolean; written: boolean },
): Promise<number> {
  const { asked, notAsked, written } = options;
  const given = [asked !== undefined, notAsked, written].filter(Boolean).length;
  if (given !== 1) throw refusal('Say exactly one of --asked <request>, --not-asked and --written.');
  return await change(options, async (journey, context) => {
    const settled = asked !== undefined ? { asked } : written ? 'written' : 'not-asked';
    const state = await resolve(journey, settled, context);
    return { result: { state }, text: state };
  });
}
