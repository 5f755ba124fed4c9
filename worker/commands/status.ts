import { styleText } from 'node:util';
import { refOf, type SourceContext } from '../context.ts';
import { journeyStates } from '../journey/journey.ts';
import { pollState } from '../stages/poll.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** Each source at a glance: its journeys by state, what is stopped, what waits, and what its webhooks missed. */
export async function status(options: RuntimeOptions & { json: boolean }): Promise<number> {
  return await withSources({ ...options, looks: true }, async ({ lanes, runtime }) => {
    for (const { context, stages, pauses } of lanes()) {
      const [counts, paused, poll, erasures, waiting, parked] = await Promise.all([
        context.store.counts(),
        pauses.list(),
        pollState(runtime.redis, context.name),
        context.erasures.all(),
        stages.plan.queue.getJobCountByTypes('waiting', 'active', 'delayed'),
        lastParked(context),
      ]);
      const shown = {
        source: context.name,
        journeys: counts,
        paused,
        parked,
        notPlanned: waiting,
        poll,
        erasures: erasures.length,
        // Proof for whoever asks later. Without the key, in which a vendor may name the person.
        erased: erasures.map(({ key: _, ...proof }) => proof),
      };
      if (options.json) {
        process.stdout.write(`${JSON.stringify(shown)}\n`);
        continue;
      }
      const states = journeyStates.filter((state) => counts[state] > 0).map((state) => `${state} ${counts[state]}`);
      const lines = [
        styleText('bold', context.name),
        `  journeys    ${states.join(' · ') || 'none'}`,
        `  queue       ${waitingInQueue(waiting)}`,
        `  poll        ${pollLine(poll, context.source.poll !== undefined)}`,
        ...(erasures.length > 0 ? [`  erasures    ${erasures.length}`] : []),
        ...paused.map(({ stage, why, at }) =>
          styleText('red', `  paused      ${stage} since ${at.toISOString()}: ${why}`),
        ),
      ];
      for (const { journey, why } of parked) lines.push(styleText('red', `  parked      ${journey}: ${why}`));
      if (counts.parked > parked.length) {
        lines.push(`              all: closeloop journeys list --source ${context.name} --state parked`);
      }
      process.stdout.write(`${lines.join('\n')}\n`);
    }
    return 0;
  });
}

const mostParked = 5;

/** Journeys that wait for a person, last changed first, with what they wait for. */
async function lastParked({ name, store }: SourceContext): Promise<{ journey: string; why: string }[]> {
  const found: { journey: string; why: string }[] = [];
  for await (const { id, why = '' } of store.newest(['parked'])) {
    found.push({ journey: refOf(name, id), why });
    if (found.length === mostParked) break;
  }
  return found;
}

/** What was accepted and not planned yet. */
export function waitingInQueue(waiting: number): string {
  if (waiting === 0) return 'no delivery waits';
  return `${waiting === 1 ? '1 delivery waits' : `${waiting} deliveries wait`} in the queue for a running "closeloop start"`;
}

function pollLine(poll: Awaited<ReturnType<typeof pollState>>, canPoll: boolean): string {
  if (!canPoll) return 'this connector has none: what its webhooks miss stays missed';
  if (!poll?.doneAt) return 'not yet';
  return `last ${poll.doneAt.toISOString()} · closings that no webhook told of: ${poll.missed}`;
}
