import { styleText } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';
import type { JourneyCall } from '../journey/calls.ts';
import { type Journey, journeyStates } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { type Pauses, pausedInWords } from '../operations/pauses.ts';
import type { RedisClient } from '../redis/client.ts';
import { queuedJobs } from '../redis/queued-jobs.ts';
import { endInWords } from '../support/call-words.ts';
import type { Standing } from '../support/explain.ts';
import {
  type FoundJourney,
  findJourney,
  fitting,
  instantsOf,
  type JourneyFilter,
  type Searched,
  select,
} from '../support/journey-filter.ts';
import { journeyPage } from '../support/journey-pages.ts';
import { inZone } from '../support/shown-time.ts';
import type { SurveyAnswer } from '../support/survey-answers.ts';
import { print, say } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import { waitingInQueue } from './status.ts';
import { withStored } from './with-stored.ts';

type ListOptions = CommandOptions & JourneyFilter & { limit: number };
/** A source, with the pauses that may delay its closings. */
type Waiting = Searched & { pauses: Pauses };

/** Journeys that fit the filter, last changed first. */
export async function listJourneys(options: ListOptions): Promise<number> {
  if (options.record === undefined) {
    return await withStored(options, ({ sources, runtime }) => list(sources(options.source), runtime.redis, options));
  }
  // Only its connector knows what people call a record.
  const { withRecordNames } = await import('./with-records.ts');
  return await withRecordNames(options, ({ sources, runtime }) =>
    list(sources(options.source), runtime.redis, options),
  );
}

async function list(sources: readonly Waiting[], redis: RedisClient, options: ListOptions): Promise<number> {
  const { found, readBackTo } = await lastChanged(sources, options, options.limit);
  await printHeldUp(sources, redis);
  if (found.length === 0 && !options.json) say('No journeys.');
  for (const { journey, context } of found) {
    const { id, state, test, why, reason, updatedAt, rule, campaign, requestId } = journey;
    const ref = refOf(context.name, id);
    print(
      { ...options, timeZone: context.timeZone },
      { journey: ref, state, test: test && true, why, reason, updatedAt, rule, campaign, requestId },
      `${updatedAt.toISOString()}  ${state.padEnd(9)}  ${ref}${test ? '  TEST' : ''}${why ? `  ${why}` : ''}`,
    );
  }
  const [first] = sources;
  if (readBackTo && first) {
    const further = `Those changed before ${readBackTo.toISOString()} were not looked at: add --until ${readBackTo.toISOString()}`;
    say(inZone(further, first.timeZone));
  }
  return 0;
}

/** Prints a journey and its trace, without contact and comment: the output may be pasted into a ticket. @param options `answers`: with what the customer answered */
export async function showJourney(options: CommandOptions & { journey: string; answers?: boolean }): Promise<number> {
  return await withStored(options, async (stored) => {
    const { redis } = stored.runtime;
    const { journey, context } = await findJourney(options.journey, stored.anySource).catch(async (error: unknown) => {
      if (error instanceof CloseloopError) await printHeldUp(stored.sources(), redis);
      throw error;
    });
    const trace = await context.store.trace(journey);
    const calls = await context.store.queries.callsOf(journey);
    const answered = options.answers ? await answersIn(journey, options) : undefined;
    const {
      contact,
      test,
      personId: _,
      values: _1,
      answer,
      intent: _2,
      survey,
      given: _3,
      searched: _4,
      followUp,
      ...shown
    } = journey;
    const safe = {
      ...shown,
      source: context.name,
      contact: contact?.kind,
      test: test && true,
      answer: answer && { ...answer, comment: answer.comment !== null },
      survey: survey && Object.keys(survey.answers),
      followUp: followUp && { ...followUp, outcome: followUp.outcome !== undefined },
    };
    const moved = journey.currentId === undefined ? '' : ` (now ${journey.currentId})`;
    const lines = [
      styleText(
        'bold',
        `${options.journey}: ${journey.state}${test ? ', TEST' : ''}${journey.why ? ` (${journey.why})` : ''}`,
      ),
      `record ${journey.recordId}${moved} · rule ${journey.rule ?? '–'} · campaign ${journey.campaign ?? '–'} · request ${journey.requestId ?? '–'}`,
      ...trace.map(({ at, text }) => `  ${at.toISOString()}  ${text}`),
      ...(calls.length > 0 ? ['calls', ...calls.map(callLine)] : []),
      ...(answered ? answerLines(answered) : []),
    ];
    print({ ...options, timeZone: context.timeZone }, { ...safe, ...answered, trace, calls }, lines);
    return 0;
  });
}

function callLine(call: JourneyCall): string {
  const { at, to, operation, ms, tries } = call;
  const again = tries === 1 ? '' : `, ${tries} tries`;
  return `  ${at.toISOString()}  ${to}  ${operation}: ${endInWords(call)}, ${ms} ms${again}`;
}

interface Answered {
  answer: Journey['answer'];
  survey: SurveyAnswer[];
}

async function answersIn(journey: Journey, options: CommandOptions): Promise<Answered> {
  const { answer, survey } = journey;
  if (survey === undefined) return { answer, survey: [] };
  const [{ SurveyAnswers }, { openAccount }] = await Promise.all([
    import('../support/survey-answers.ts'),
    import('./service.ts'),
  ]);
  const { service } = await openAccount(options);
  const surveys = new SurveyAnswers(() => new Date());
  return { answer, survey: await surveys.answersOf(journey, service) };
}

function answerLines({ answer, survey }: Answered): string[] {
  const { grade, comment } = answer ?? { grade: null, comment: null };
  return [
    ...(grade === null ? [] : [`grade ${grade}`]),
    ...(comment === null ? [] : [`comment ${comment}`]),
    ...survey.flatMap(({ id, question = `Question ${id}`, answer: given }) => [question, `  ${given}`]),
  ];
}

/** Closings that were accepted and have no journey yet: why, on standard error, so that output stays for machines. */
export async function printHeldUp(sources: readonly Waiting[], redis: RedisClient): Promise<void> {
  for (const { name, storedAs, pauses, timeZone } of sources) {
    printStanding({
      source: name,
      timeZone,
      paused: await pauses.list(),
      notPlanned: await queuedJobs(redis, storedAs, 'plan'),
    });
  }
}

export function printStanding({ source, timeZone, paused, notPlanned }: Omit<Standing, 'held'>): void {
  for (const pause of paused) {
    say(inZone(`Source ${source}: ${pausedInWords(pause)}`, timeZone));
  }
  if (notPlanned > 0) say(`Source ${source}: ${waitingInQueue(notPlanned)}.`);
}

/** Journeys that are looked at for a list, beside those that fit. */
const most = 250;

interface LastChanged<In> {
  found: FoundJourney<In>[];
  /** Set if the search did not reach the end: it left out journeys that changed (waiting: are due) before this instant. Whole seconds, as people see times. */
  readBackTo?: Date;
}

/** The last changed journeys of all these sources that fit, however many there are. */
export async function lastChanged<In extends Searched>(
  sources: readonly In[],
  filter: JourneyFilter,
  limit: number,
): Promise<LastChanged<In>> {
  const newest = (found: FoundJourney<In>[]) =>
    found.sort((a, b) => b.journey.updatedAt.getTime() - a.journey.updatedAt.getTime()).slice(0, limit);
  const [first] = sources;
  if (first === undefined) return { found: [] };
  if (filter.record !== undefined || filter.contact !== undefined)
    return { found: newest(await Array.fromAsync(select(sources, filter))) };
  const period = await instantsOf(filter, first);
  const fits = fitting(filter, first, period);
  const states = filter.state === undefined ? journeyStates : [filter.state];
  // When those that wait are due says nothing about when they were changed.
  const lists = [
    { lists: states.filter((state) => state !== 'waiting'), since: period.since },
    { lists: states.filter((state) => state === 'waiting') },
  ];
  const pages = await Promise.all(
    lists.map((list) => journeyPage(sources, { ...list, fits, until: period.until, size: limit, most: limit + most })),
  );
  const cutAt = pages.flatMap(({ isCut, next }) => (isCut && next ? [next.at] : []));
  return {
    found: newest(pages.flatMap(({ found }) => found)),
    ...(cutAt.length > 0 && { readBackTo: new Date((Math.floor(Math.max(...cutAt) / 1_000) + 1) * 1_000) }),
  };
}
