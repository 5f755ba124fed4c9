import { styleText } from 'node:util';
import { Queue } from 'bullmq';
import type { Connector } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import { refOf } from '../context.ts';
import { type JourneyState, journeyStates } from '../journey/journey.ts';
import { JourneyStore, tagOf } from '../journey/store.ts';
import { Pauses } from '../pauses.ts';
import { openToRead, type Runtime } from './runtime.ts';

interface Where {
  config: string;
  data: string;
  json: boolean;
  connectors: readonly Connector[];
}

export async function listJourneys(
  options: Where & { source?: string; state?: JourneyState; limit: number },
): Promise<number> {
  const runtime = await openToRead(options);
  try {
    const names = runtime.config.sources.map(({ name }) => name);
    if (options.source !== undefined && !names.includes(options.source)) {
      throw new CloseloopError(`There is no source "${options.source}"; there are: ${names.join(', ')}.`, {
        kind: 'config',
      });
    }
    const states = options.state ? [options.state] : journeyStates;
    const rows = [];
    for (const name of options.source ? [options.source] : names) {
      const store = new JourneyStore(runtime.redis, name, { now: () => new Date() });
      for (const { id, at } of await store.latestIds(states, options.limit)) rows.push({ store, id, at });
    }
    rows.sort((a, b) => b.at - a.at);
    await tellHeldUp(runtime);
    if (rows.length === 0 && !options.json) process.stderr.write('No journeys.\n');
    for (const { store, id } of rows.slice(0, options.limit)) {
      const journey = await store.get(id);
      if (!journey) continue;
      const { state, why, updatedAt, rule, campaign, requestId } = journey;
      const ref = refOf(store.source, id);
      const line = options.json
        ? JSON.stringify({ journey: ref, state, why, updatedAt, rule, campaign, requestId })
        : `${updatedAt.toISOString()}  ${state.padEnd(9)}  ${ref}${why ? `  ${why}` : ''}`;
      process.stdout.write(`${line}\n`);
    }
    return 0;
  } finally {
    await runtime.close();
  }
}

/** Without contact and comment: what a support engineer needs to explain it, and may paste into a ticket. */
export async function showJourney(options: Where & { journey: string }): Promise<number> {
  const slash = options.journey.indexOf('/');
  const [source, id] = [options.journey.slice(0, slash), options.journey.slice(slash + 1)];
  const runtime = await openToRead(options);
  try {
    const known = slash > 0 && runtime.config.sources.some(({ name }) => name === source);
    const store = new JourneyStore(runtime.redis, source, { now: () => new Date() });
    const journey = known ? await store.get(id) : undefined;
    if (!journey) {
      await tellHeldUp(runtime);
      const message = `There is no journey "${options.journey}". It is written <source>/<record>.<number>; "journeys list" shows them.`;
      throw new CloseloopError(message, { kind: 'permanent' });
    }
    const trace = await store.trace(id);
    const { contact, values: _, answer, intent: __, ...shown } = journey;
    const safe = {
      ...shown,
      contact: contact?.kind,
      answer: answer && { ...answer, comment: answer.comment !== null },
    };
    if (options.json) {
      process.stdout.write(`${JSON.stringify({ ...safe, trace })}\n`);
      return 0;
    }
    const lines = [
      styleText('bold', `${options.journey}: ${journey.state}${journey.why ? ` (${journey.why})` : ''}`),
      `record ${journey.recordId} · rule ${journey.rule ?? '–'} · campaign ${journey.campaign ?? '–'} · request ${journey.requestId ?? '–'}`,
      ...trace.map(({ at, text }) => `  ${at.toISOString()}  ${text}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  } finally {
    await runtime.close();
  }
}

/** Closings that were accepted and have no journey yet: why, on standard error, so that output stays for machines. */
async function tellHeldUp({ redis, config, handle }: Runtime): Promise<void> {
  for (const { name } of config.sources) {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    for (const { stage, why, at } of await new Pauses(redis, tagOf(name), name, log).list()) {
      process.stderr.write(`Source ${name}: stage ${stage} is paused since ${at.toISOString()}: ${why}\n`);
    }
    const plan = new Queue('plan', { prefix: tagOf(name), connection: handle.bull() });
    plan.on('error', () => undefined);
    const waiting = await plan.getJobCountByTypes('waiting', 'active', 'delayed');
    if (waiting > 0) process.stderr.write(`Source ${name}: ${waiting} deliveries are accepted and not planned yet.\n`);
    await plan.close();
  }
}
