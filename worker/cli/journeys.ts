import { styleText } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import { type Found, type JourneyFilter, select } from './journey-filter.ts';
import { find } from './repair.ts';
import type { RuntimeOptions } from './runtime.ts';
import { waitingInQueue } from './status.ts';
import { type Sources, withSources } from './with-engine.ts';

type Options = RuntimeOptions & { json: boolean };

/** Journeys that fit the filter, last changed first. */
export async function listJourneys(options: Options & JourneyFilter & { limit: number }): Promise<number> {
  return await withSources({ ...options, looks: 'only' }, async (sources) => {
    const found: Found[] = [];
    for (const { context } of sources.pipelines(options.source)) {
      let left = options.limit;
      for await (const one of select(sources, { ...options, source: context.name })) {
        if (left-- <= 0) break;
        found.push(one);
      }
    }
    found.sort((a, b) => b.journey.updatedAt.getTime() - a.journey.updatedAt.getTime());
    await tellHeldUp(sources);
    if (found.length === 0 && !options.json) process.stderr.write('No journeys.\n');
    for (const { journey, context } of found.slice(0, options.limit)) {
      const { id, state, why, updatedAt, rule, campaign, requestId } = journey;
      const ref = refOf(context.name, id);
      const line = options.json
        ? JSON.stringify({ journey: ref, state, why, updatedAt, rule, campaign, requestId })
        : `${updatedAt.toISOString()}  ${state.padEnd(9)}  ${ref}${why ? `  ${why}` : ''}`;
      process.stdout.write(`${line}\n`);
    }
    return 0;
  });
}

/** Without contact and comment: what a support engineer needs to explain it, and may paste into a ticket. */
export async function showJourney(options: Options & { journey: string }): Promise<number> {
  return await withSources({ ...options, looks: 'only' }, async (sources) => {
    const { journey, context } = await find(sources, options.journey).catch(async (error: unknown) => {
      if (error instanceof CloseloopError) await tellHeldUp(sources);
      throw error;
    });
    const trace = await context.store.trace(journey.id);
    const {
      contact,
      personId: _,
      values: _1,
      answer,
      intent: _2,
      survey,
      given: _3,
      lookedFor: _4,
      ...shown
    } = journey;
    if (options.json) {
      const safe = {
        ...shown,
        contact: contact?.kind,
        answer: answer && { ...answer, comment: answer.comment !== null },
        survey: survey && Object.keys(survey.answers),
      };
      process.stdout.write(`${JSON.stringify({ ...safe, trace })}\n`);
      return 0;
    }
    const moved = journey.currentId === undefined ? '' : ` (now ${journey.currentId})`;
    const lines = [
      styleText('bold', `${options.journey}: ${journey.state}${journey.why ? ` (${journey.why})` : ''}`),
      `record ${journey.recordId}${moved} · rule ${journey.rule ?? '–'} · campaign ${journey.campaign ?? '–'} · request ${journey.requestId ?? '–'}`,
      ...trace.map(({ at, text }) => `  ${at.toISOString()}  ${text}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  });
}

/** Closings that were accepted and have no journey yet: why, on standard error, so that output stays for machines. */
async function tellHeldUp({ pipelines }: Sources): Promise<void> {
  for (const { context, pauses, stages } of pipelines()) {
    for (const { stage, why, at } of await pauses.list()) {
      process.stderr.write(`Source ${context.name}: stage ${stage} is paused since ${at.toISOString()}: ${why}\n`);
    }
    const waiting = await stages.plan.queue.getJobCountByTypes('waiting', 'active', 'delayed');
    if (waiting > 0) {
      process.stderr.write(`Source ${context.name}: ${waitingInQueue(waiting)}.\n`);
    }
  }
}
